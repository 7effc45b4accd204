"""A ReBeL run in memory: self-play makes examples, a network learns from them, and the next self-play uses it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tacit.errors import DivergedError
from tacit.games import AnyGame
from tacit.learning.examples import PolicyExamples, ValueExamples, policy_examples
from tacit.learning.learner import NetworkLearner, policy_learner, value_learner
from tacit.learning.networks import make_policy_net, make_value_net
from tacit.learning.random_beliefs import RandomBeliefs
from tacit.learning.rates import cosine_decay
from tacit.learning.returns import typical_return
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.forward import forward_pass
from tacit.nets.value_net import PolicyNet
from tacit.rebel.config import RebelConfig
from tacit.rebel.selfplay import SelfPlay
from tacit.rebel.sizes import fit_sizes
from tacit.search.judging import judge_search, max_judge_searches
from tacit.search.playthroughs import playthrough_quality
from tacit.search.search import BatchSearch
from tacit.training.system import Metrics, Spilling, Trainer, generator_state
from tacit.tree.search_space import game_space


@dataclass(frozen=True)
class RebelProgress(Metrics):
    """A line of `metrics.jsonl`: the progress of a run after an epoch.

    Attributes:
      epoch: finished epochs.
      seconds: time spent on self-play and training, over all sessions.
      examples: examples made.
      loss: mean training loss of the epoch.
      examples_per_second: examples made per second in this epoch.
      exploitability: a bound on the exploitability, if it was evaluated.
      playthroughs: the playthroughs whose average policy was judged; for a lower bound, the games in each seat.
      policy_loss: mean training loss of the policy network, if there is one.
      kind: `upper bound`, or `lower bound` if the game is too large to be judged exactly.
      margin: half the width of the 95 % interval of a sampled bound.
    """

    epoch: int
    seconds: float
    examples: int
    loss: float
    examples_per_second: float
    exploitability: float | None = None
    playthroughs: int = 0
    policy_loss: float | None = None
    kind: str | None = None
    margin: float | None = None


class RebelTrainer(Trainer[RebelConfig, RebelProgress]):
    """Self-play and the networks that learn from it.

    Attributes:
      values: the value network.
      policies: the policy network, if there is one.
    """

    def __init__(self, game: AnyGame, config: RebelConfig, device: str = "cpu") -> None:
        super().__init__(game, config)
        self.device = device
        self.space = game_space(game, config.depth)
        torch.manual_seed(config.seed)
        net = make_value_net(self.space, config, typical_return(self.space)).to(device)
        self._forward = forward_pass(net)
        self.values = value_learner(net, self.space, config, device)
        self.search = BatchSearch(self.space, self._forward, config.search(), device)
        self.config = config = fit_sizes(config, self.search)
        self.policies: NetworkLearner[PolicyNet, PolicyExamples] | None = None
        if config.warm_start_at:
            decisions = self.search.decisions
            policy = make_policy_net(self.space, config, decisions.num_actions).to(device)
            self.policies = policy_learner(policy, decisions, config, device)
        self._numpy = np.random.default_rng(config.seed)
        self._torch = torch.Generator(device=device).manual_seed(config.seed)
        self.selfplay: SelfPlay | RandomBeliefs
        if config.beliefs == "random":
            self.selfplay = RandomBeliefs(self.search, config.games, self._numpy)
        else:
            self.selfplay = SelfPlay(self.search, config.games, config.exploration, self._numpy)

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> RebelProgress:
        """Returns the progress after one epoch: `epoch_examples` new examples, `ratio` times as many trained on.

        If the run's time is up, the epoch ends early: in a large game it can take minutes.
        """
        config, start, made = self.config, clock(), 0
        ends = math.inf if self.finish_by is None else start + self.finish_by - self.seconds
        rate, losses, policy_losses = self._learning_rate(), [], []
        while made == 0 or (made < config.epoch_examples and clock() < ends):
            examples = {name: part.to(self.device) for name, part in self.example_source.next().items()}
            made += len(examples["values.public_class"])
            self.on_share(min(1.0, made / config.epoch_examples))
            losses.append(self.values.learn(ValueExamples(**unprefixed("values", examples)), rate, self._torch))
            self._forward.refresh()
            if self.policies is not None:
                policy_losses.append(self.policies.learn(PolicyExamples(**unprefixed("policies", examples)), rate, self._torch))
            self.example_source.publish()
        self.epoch += 1
        if self.epoch == config.drop_half_at:
            self.values.replay.drop_oldest_half()
            if self.policies is not None:
                self.policies.replay.drop_oldest_half()
        self._start_warm()
        took = clock() - start
        self.seconds += took
        loss = float(np.mean(losses))
        if not math.isfinite(loss):
            raise DivergedError(f"the loss became {loss}: lower learning_rate")
        policy_loss = float(np.mean(policy_losses)) if policy_losses else None
        return RebelProgress(self.epoch, self.seconds, self.examples, loss, made / took, policy_loss=policy_loss)

    def generate(self) -> dict[str, Tensor]:
        examples, result = self.selfplay.advance()
        made = prefixed("values", vars(examples))
        if self.policies is not None:
            reaches = examples.beliefs.view(len(examples.beliefs), 2, -1)
            made |= prefixed("policies", vars(policy_examples(self.search, result, reaches, self._numpy)))
        return made

    def reseed(self, *numbers: int) -> None:
        self._numpy.bit_generator.state = np.random.default_rng(numbers).bit_generator.state

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        self.values.net.load_state_dict({name: part for name, part in weights.items() if not name.startswith("policy.")})
        if self.policies is not None:
            self.policies.net.load_state_dict(unprefixed("policy", weights))
        self._forward.refresh()
        self._start_warm()

    @property
    def examples(self) -> int:
        """Examples made so far."""
        return self.values.replay.added

    def evaluate(self, playthroughs: int, seed: int = 0, progress: Callable[[int], None] = lambda _: None) -> float:
        """Returns the exploitability of the average policy of several playthroughs: an upper bound, in the game's units.

        Raises:
          TacitError: the game is too large for exact figures.
        """
        return playthrough_quality(self.search, playthroughs, np.random.default_rng(seed), progress).exploitability

    def judged(self, metrics: RebelProgress, on_search: Callable[[int], None]) -> RebelProgress:
        quality = judge_search(self.search, self.config.playthroughs, self.config.seed, on_search)
        return replace(metrics, **quality._asdict())

    def max_searches(self) -> int:
        """Returns the most searches that an evaluation during the run can take."""
        return max_judge_searches(self.search, self.config.playthroughs)

    def at_rest(self) -> RebelProgress:
        return RebelProgress(self.epoch, self.seconds, self.examples, math.nan, 0.0)

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
            "selfplay.class": torch.from_numpy(self.selfplay.game_class),
            "selfplay.reaches": self.selfplay.reaches,
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
        self.selfplay.game_class = tensors["selfplay.class"].numpy()
        self.selfplay.reaches = tensors["selfplay.reaches"].to(self.device)
        self._torch.set_state(tensors["generator"])
        self._numpy.bit_generator.state = header["numpy"]
        self._forward.refresh()
        self._start_warm()

    def _start_warm(self) -> None:
        """Makes searches start from the policy network once it has learnt enough."""
        if self.policies is not None and self.epoch >= self.config.warm_start_at:
            self.search.policy = self.policies.net

    def _learning_rate(self) -> float:
        config = self.config
        halved = 0.5 ** (self.epoch // config.halve_every) if config.halve_every else None
        return config.learning_rate * (cosine_decay(self.progress_share()) if halved is None else halved)
