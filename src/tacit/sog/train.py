"""A run of Student of Games in memory: cycles of self-play, solving queries, and training (Oscarsson et al., Figure 1)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tacit.errors import DivergedError, TacitError
from tacit.evaluation import evaluate
from tacit.games import AnyGame
from tacit.kernels import make_passes
from tacit.learning.examples import PolicyExamples, ValueExamples, joined_examples
from tacit.learning.learner import NetworkLearner, policy_learner, value_learner
from tacit.learning.networks import make_policy_net, make_value_net
from tacit.learning.rates import cosine_decay
from tacit.learning.returns import typical_return
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.forward import forward_pass
from tacit.nets.value_net import PolicyNet
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.sog.config import ALL_POLICIES, NO_POLICIES, QueryConfig, SogConfig
from tacit.sog.queries import QueryBuffer, QuerySource, RandomSituations, solve_queries
from tacit.sog.selfplay import SoundSelfPlay
from tacit.sog.sizes import fit_sizes
from tacit.training.system import Metrics, Spilling, Trainer, generator_state
from tacit.tree.search_space import game_space

LEAST_GAMES = 64
"""The fewest games that a worker plays together, if the run has as many: smaller batches take longer for each search."""


@dataclass(frozen=True)
class SogProgress(Metrics):
    """A line of `metrics.jsonl`: the progress of a run after a cycle.

    Attributes:
      epoch: Finished cycles.
      seconds: Time spent on self-play, solving and training, over all sessions.
      examples: Queries solved.
      loss: The mean training loss of the cycle.
      examples_per_second: Queries solved per second in this cycle.
      validation_loss: The loss on the cycle's new examples before the network learnt from them (the paper's Figure 3).
      policy_change: The mean square difference between the root's policy and that after the previous cycle (Figure 4).
      exploitability: The exact exploitability of continual re-solving, if it was evaluated.
      policy_loss: The policy network's mean training loss of the cycle, if there is one.
    """

    epoch: int
    seconds: float
    examples: int
    loss: float
    examples_per_second: float
    validation_loss: float | None = None
    policy_change: float | None = None
    exploitability: float | None = None
    policy_loss: float | None = None


class SogTrainer(Trainer[QueryConfig, SogProgress]):
    """Sources of queries, the solver, and the networks that learn from solved ones.

    Attributes:
      values: The value network with its replay buffer.
      policies: The policy network with its replay buffer, if there is one.
      search: The search of agents and of the solver.
      source: Where queries come from.
      buffer: The queries waiting for the solver.
    """

    lots_at_once = 1  # a cycle has few lots; those under way when it ends use the previous cycle's weights

    def __init__(self, game: AnyGame, config: QueryConfig, device: str = "cpu") -> None:
        super().__init__(game, config)
        self.device = device
        self.space = game_space(game, config.depth_in(game))
        if not len(self.space.tables.leaf_class):
            raise TacitError(f"searches of depth {self.space.depth} see {game} to its end: choose a smaller depth, or solve it")
        torch.manual_seed(config.seed)
        net = make_value_net(self.space, config, typical_return(self.space)).to(device)
        self._forward = forward_pass(net)
        self.values = value_learner(net, self.space, config, device)
        self.search = BatchSearch(self.space, self._forward, config.search_in(game), device)
        self.config = config = fit_sizes(config, self.search)
        self._numpy = np.random.default_rng(config.seed)
        self._torch = torch.Generator(device=device).manual_seed(config.seed)
        self.policies: NetworkLearner[PolicyNet, PolicyExamples] | None = None
        self.source: QuerySource
        if isinstance(config, SogConfig):
            learns = config.policies != NO_POLICIES
            self.source = SoundSelfPlay(
                self.search, config.games, config.mix, config.queries_per_search, self._numpy, config.inner_queries, learns
            )
            if learns:
                decisions = self.search.decisions
                policy = make_policy_net(self.space, config, decisions.num_actions).to(device)
                self.policies = policy_learner(policy, decisions, config, device)
        else:
            self.source = RandomSituations(self.search, config.games, self._numpy)
        self.buffer = QueryBuffer(self.space.tables.num_private_states, device)
        self._policy = self._root_policy()

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> SogProgress:
        """Returns the progress after one cycle, which ends early if the run's time is up."""
        start = clock()
        ends = math.inf if self.finish_by is None else start + self.finish_by - self.seconds
        examples, policies = self._take_cycle(lambda: clock() < ends)
        self._begin_cycle()
        validation, rate, policy_loss = self.values.loss(examples), self._learning_rate(), None
        loss = self.values.learn(examples, rate, self._torch)
        if self.policies is not None and policies:
            policy_loss = self.policies.learn(joined_examples(policies), rate, self._torch)
        self._forward.refresh()
        self.example_source.publish()
        policy = self._root_policy()
        change = float((policy - self._policy).square().sum() / self._root_legal.sum())
        self._policy = policy
        self.epoch += 1
        took = clock() - start
        self.seconds += took
        if not math.isfinite(loss):
            raise DivergedError(f"the loss became {loss}: lower learning_rate")
        speed = len(examples.public_class) / took
        return SogProgress(self.epoch, self.seconds, self.examples, loss, speed, validation, change, policy_loss=policy_loss)

    def generate(self) -> dict[str, Tensor]:
        """Returns a lot of solved queries; self-play asks new ones while too few are waiting."""
        count, recursive, learns = _lot_size(self.config), 0.0, False
        if isinstance(self.config, SogConfig):
            recursive, learns = self.config.recursive_queries, self.config.policies == ALL_POLICIES
        policies: list[PolicyExamples] = []
        while len(self.buffer) < count:
            asked = self.source.advance()
            self.buffer.add(asked.queries)
            policies += asked.policies
        examples, more = solve_queries(self.search, self.buffer.take(count), recursive, self._numpy, learns)
        self.buffer.add(more.queries)
        policies += more.policies
        lot = {"solved": torch.tensor([count]), **prefixed("values", vars(examples))}
        return lot | prefixed("policies", vars(joined_examples(policies))) if policies else lot

    def reseed(self, *numbers: int) -> None:
        self._numpy.bit_generator.state = np.random.default_rng(numbers).bit_generator.state

    def follow(self, weights: dict[str, Tensor], epoch: int) -> None:
        super().follow(weights, epoch)
        self._begin_cycle()

    def worker_settings(self, workers: int) -> QueryConfig:
        """Returns settings with which all workers together play as many games and keep as many queries as the run alone."""
        config = self.config
        games = max(min(config.games, LEAST_GAMES), config.games // workers)
        return replace(config, games=games, cycle_queries=max(games, config.cycle_queries // workers))

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        self.values.net.load_state_dict({name: part for name, part in weights.items() if not name.startswith("policy.")})
        if self.policies is not None:
            self.policies.net.load_state_dict(unprefixed("policy", weights))
        self._forward.refresh()

    def _take_cycle(self, goes_on: Callable[[], bool]) -> tuple[ValueExamples, list[PolicyExamples]]:
        """Returns the examples of a cycle, lot by lot, all solved with the same weights except for lots under way."""
        config, parts, policies, solved = self.config, list[ValueExamples](), list[PolicyExamples](), 0
        while solved < config.cycle_queries and (goes_on() or not solved):
            lot = {name: part.to(self.device) for name, part in self.example_source.next().items()}
            parts.append(ValueExamples(**unprefixed("values", lot)))
            if "policies.policy" in lot:
                policies.append(PolicyExamples(**unprefixed("policies", lot)))
            solved += int(lot["solved"])
            self.on_share(min(1.0, solved / config.cycle_queries))
        return joined_examples(parts), policies

    def _begin_cycle(self) -> None:
        """Drops all queries if more wait than a cycle solves: in long games recursive ones would crowd out self-play."""
        if len(self.buffer) > self.config.cycle_queries:
            self.buffer.take(len(self.buffer))

    @property
    def examples(self) -> int:
        """Queries solved so far."""
        return self.values.replay.added

    def evaluate(self, progress: Callable[[int], None] = lambda _: None) -> float:
        """Returns the exact exploitability of continual re-solving at all decisions, in the game's units.

        Raises:
          TacitError: the game is too large for exact figures.
        """
        strategy = resolving_strategy(self.search, progress, at_decisions=True)
        return evaluate(make_passes(self.space.tree), strategy).exploitability

    def judged(self, metrics: SogProgress, on_search: Callable[[int], None]) -> SogProgress:
        if not self.space.compiled:
            return metrics
        return replace(metrics, exploitability=self.evaluate(on_search))

    def at_rest(self) -> SogProgress:
        return SogProgress(self.epoch, self.seconds, self.examples, math.nan, 0.0)

    def weights(self) -> dict[str, Tensor]:
        policy = {} if self.policies is None else prefixed("policy", self.policies.net.state_dict())
        return {**self.values.net.state_dict(), **policy}

    def replays(self) -> dict[str, Spilling]:
        policies = {} if self.policies is None else {"policies": self.policies.replay}
        return {"values": self.values.replay, **policies}

    def tensors(self) -> dict[str, Tensor]:
        return {
            **prefixed("values", self.values.state()),
            **({} if self.policies is None else prefixed("policies", self.policies.state())),
            **prefixed("source", self.source.state()),
            **prefixed("buffer", self.buffer.state()),
            "policy": self._policy,
            "generator": self._torch.get_state(),
        }

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, header = super().state()
        return tensors, {**header, "numpy": generator_state(self._numpy)}

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        self.values.restore(unprefixed("values", tensors))
        if self.policies is not None:
            self.policies.restore(unprefixed("policies", tensors))
        self.source.restore(unprefixed("source", tensors))
        self.buffer.restore(unprefixed("buffer", tensors))
        self._policy = tensors["policy"].to(self.device)
        self._torch.set_state(tensors["generator"])
        self._numpy.bit_generator.state = header["numpy"]
        self._forward.refresh()

    @property
    def _root_legal(self) -> Tensor:
        """`[K, H, A]` which actions exist at the decisions that games open with."""
        return self.search.decisions.legal[torch.from_numpy(self.space.root_class).to(self.device)]

    def _root_policy(self) -> Tensor:
        """Returns `[K, H, A]` a search's average strategies at the decisions that games open with."""
        space, search = self.space, self.search
        reaches = torch.from_numpy(space.root_reaches).to(self.device)
        result = search.run(space.root_class, reaches, np.full(len(reaches), search.config.iterations))
        policy, average = torch.zeros(self._root_legal.shape, device=self.device), result.average_strategy
        for group in result.batch:
            table = search.decisions.by_class[group.public_class]
            games = result.batch.order[group.games]
            played = result.batch.view(average, result.batch.entry_offset, group)[table.entries[0]]  # [H, A, n]
            policy[games] = (played * table.legal[0][:, :, None]).permute(2, 0, 1)
        return policy

    def _learning_rate(self) -> float:
        config = self.config
        halved = 0.5 ** (self.values.steps // config.halve_every) if config.halve_every else None
        return config.learning_rate * (cosine_decay(self.progress_share()) if halved is None else halved)


def _lot_size(config: QueryConfig) -> int:
    """Returns how many queries are solved at once: at most `games`, and the same in all lots of a cycle."""
    lots = -(-config.cycle_queries // config.games)
    return -(-config.cycle_queries // lots)
