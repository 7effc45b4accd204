"""A run of ReBeL at hold'em, in memory: self-play, and the networks that learn from it, one for the end of each round."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tacit.cards.board_tensors import FULL_BOARD, BoardTable, FullBoards
from tacit.errors import DivergedError, TacitError
from tacit.games import AnyGame
from tacit.games.betting import BOARD_CARDS, FLOP, RIVER, NoLimitBetting
from tacit.games.holdem import Holdem
from tacit.learning.rates import cosine_decay
from tacit.nets.appendix_g import AppendixGNet
from tacit.nets.checkpoint import prefixed, unprefixed
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import RoundEndNet
from tacit.nets.round_net import Helps, RoundNet
from tacit.nets.round_policy_net import RoundPolicyNet
from tacit.rebel.holdem.config import APPENDIX_G, HoldemConfig
from tacit.rebel.holdem.learner import RoundEndLearner
from tacit.rebel.holdem.policies import PolicyTraining
from tacit.rebel.holdem.selfplay import HoldemSelfPlay, RoundEndExamples
from tacit.rebel.holdem.starts import RoundStarts
from tacit.training.system import Metrics, Trainer, generator_state


@dataclass(frozen=True)
class HoldemProgress(Metrics):
    """A line of `metrics.jsonl`: the progress of a run after an epoch.

    Attributes:
      epoch: finished epochs.
      seconds: time spent on self-play and training, over all sessions.
      examples: examples made.
      loss: mean loss of the epoch.
      error: mean absolute error on the epoch's new examples before they were learnt from, in units of what either player has
        put in; it includes the noise of the card that came.
      still: the same for a network that always returns 0.
      searches_per_second: searches per second in this epoch.
      preflop, flop, turn: `error` of the rounds that end there as a share of `still`; None if there are none.
      turn_start, river_start: the same for the rounds that begin there, whose targets have no noise.
      policy: mean loss of policy networks in the epoch; None if there are none.
      exploitability: always None, hold'em is judged by `tacit evaluate`.
    """

    epoch: int
    seconds: float
    examples: int
    loss: float
    error: float
    still: float
    searches_per_second: float
    preflop: float | None = None
    flop: float | None = None
    turn: float | None = None
    turn_start: float | None = None
    river_start: float | None = None
    policy: float | None = None
    exploitability: float | None = None


STREETS = {0: "preflop", 3: "flop", 4: "turn"}
"""The names of rounds in `HoldemProgress`, by the cards on the board when they end."""
STARTS = {4: "turn_start", 5: "river_start"}
"""The names of rounds in `HoldemProgress`, by the cards on the board when they begin."""


class HoldemTrainer(Trainer[HoldemConfig, HoldemProgress]):
    """Self-play at hold'em and the networks that learn from it."""

    def __init__(self, game: AnyGame, config: HoldemConfig, device: str = "cpu") -> None:
        super().__init__(game, config)
        rules = trainable_rules(game)
        if rules.first_street == RIVER:
            raise TacitError(f"{game} has nothing to learn: searches of the last round see the end of the hand")
        torch.manual_seed(config.seed)
        self.device, self.examples = device, 0
        nets, starts = make_nets(rules, config, device), make_start_nets(rules, config, device)
        tables: dict[int, BoardTable | FullBoards] = {FULL_BOARD: FullBoards()}
        tables |= {cards: BoardTable(cards, device) if config.suit_symmetry else FullBoards(cards) for cards in nets}
        self.learners = {STREETS[cards]: RoundEndLearner(net, tables[cards], config, device) for cards, net in nets.items()}
        self.learners |= {STARTS[cards]: RoundEndLearner(net, tables[cards], config, device) for cards, net in starts.items()}
        self.leaves, self.starts = RoundEndLeaves(nets), RoundStarts(starts, tables)
        self._numpy = np.random.default_rng(config.seed)
        self._torch = torch.Generator(device=device)
        self.policies: PolicyTraining | None = None
        if config.warm_start:
            self.policies = PolicyTraining(make_policies(rules, config, device), rules, tables, config, device, self._numpy)
        listener = None if self.policies is None else self.policies.listen
        self.selfplay = HoldemSelfPlay(rules, config, self.leaves, self.starts, tables, self._numpy, listener)

    def run_epoch(self, clock: Callable[[], float] = time.perf_counter) -> HoldemProgress:
        """Returns the progress after one epoch: `epoch_examples` new examples, each learnt from `ratio` times on average."""
        config, start, made, searches = self.config, clock(), 0, 0
        ends = math.inf if self.finish_by is None else start + self.finish_by - self.seconds
        rate = config.learning_rate * cosine_decay(self.progress_share())
        self._torch.manual_seed(config.seed + 1_000 * self.epoch)  # a device's generator state cannot be restored on another
        figures: dict[str, list[tuple[float, float, float]]] = {}
        while made == 0 or (made < config.epoch_examples and clock() < ends):
            played = {name: part.to(self.device) for name, part in self.example_source.next().items()}
            for name, learner in self.learners.items():
                if f"{name}.kind" in played:
                    new = RoundEndExamples(**unprefixed(name, played))
                    error = learner.error(new)
                    figures.setdefault(name, []).append((learner.learn(new, rate, self._torch), *error))
                    made += len(new.kind) if name in STREETS.values() else 0
            if self.policies is not None:
                self.policies.learn(played, rate, self._torch)
            searches += int(played["searches"])
            self._refresh()
            self.example_source.publish()
        self.epoch, self.examples = self.epoch + 1, self.examples + made
        self._start_warm()
        means = {name: np.mean(rows, axis=0) for name, rows in figures.items()}
        loss, error, still = np.mean([mean for name, mean in means.items() if name in STREETS.values()], axis=0).tolist()
        if not math.isfinite(loss):
            raise DivergedError(f"the loss became {loss}: lower learning_rate")
        took = clock() - start
        self.seconds += took
        speed = searches / took
        shares: dict[str, Any] = {name: float(mean[1] / mean[2]) for name, mean in means.items()}
        if self.policies is not None:
            shares["policy"] = self.policies.take_loss()
        return replace(self.at_rest(), loss=loss, error=error, still=still, searches_per_second=speed, **shares)

    def generate(self) -> dict[str, Tensor]:
        """Returns each network's examples from one batch of hands, and how many searches it took."""
        before = self.selfplay.searches
        played = self.selfplay.advance()
        lots = {STREETS[cards]: parts for cards, parts in played.ends.items()}
        lots |= {STARTS[cards]: parts for cards, parts in played.starts.items()}
        made = {key: part for name, parts in lots.items() for key, part in prefixed(name, vars(_joined(parts))).items()}
        heard = {} if self.policies is None else self.policies.take_heard()
        return {"searches": torch.tensor([self.selfplay.searches - before]), **made, **heard}

    def reseed(self, *numbers: int) -> None:
        self._numpy.bit_generator.state = np.random.default_rng(numbers).bit_generator.state

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        for part, net in self._nets().items():
            net.load_state_dict(unprefixed(part, weights))
        self._refresh()
        self._start_warm()

    def _refresh(self) -> None:
        """Makes searches use the networks' current weights."""
        self.leaves.refresh()
        self.starts.refresh()
        if self.policies is not None:
            self.policies.proposals.refresh()

    def _start_warm(self) -> None:
        """Makes searches start from the policies once these have learnt for long enough."""
        if self.policies is not None and self.epoch >= self.config.warm_start_at:
            self.selfplay.policies = self.policies.proposals

    def at_rest(self) -> HoldemProgress:
        return HoldemProgress(self.epoch, self.seconds, self.examples, math.nan, math.nan, math.nan, 0.0)

    def weights(self) -> dict[str, Tensor]:
        return {name: tensor for part, net in self._nets().items() for name, tensor in prefixed(part, net.state_dict()).items()}

    def _nets(self) -> dict[str, nn.Module]:
        """Returns all networks by their names in files: the cards on the board where rounds end, or begin."""
        nets: dict[str, nn.Module] = {str(cards): net for cards, net in self.leaves.nets.items()}
        nets |= {f"start{cards}": net for cards, net in self.starts.nets.items()}
        if self.policies is not None:
            nets |= {f"policy{cards}": learner.net for cards, learner in self.policies.learners.items()}
        return nets

    @staticmethod
    def check_start(game: AnyGame, config: HoldemConfig, header: dict[str, Any]) -> None:
        """Checks that this run can begin with the networks of another one, from the `header` of their file.

        Raises:
          TacitError: the networks are of another kind or size.
        """
        other = header["game"]
        if header.get("system") != config.system:
            raise TacitError(f"a network of {other} says nothing about the rounds of {game}")
        names = ("hidden", "layers", "embedding", "network", "suit_symmetry", "odds", "zero_sum")
        known = {name: header["config"].get(name, getattr(HoldemConfig(), name)) for name in names}
        if any(value != getattr(config, name) for name, value in known.items()):
            theirs = " ".join(f"--set {name}={str(value).lower()}" for name, value in known.items())
            raise TacitError(f"the networks of {other} are of another kind or size: {theirs}")

    def start_from(self, weights: dict[str, Tensor]) -> None:
        """Begins with those networks of another run that are for boards of this one, too (see `check_start`)."""
        for part, net in self._nets().items():
            known = unprefixed(part, weights)
            if known:
                net.load_state_dict({name: tensor.float() for name, tensor in known.items()})
        self._refresh()

    def tensors(self) -> dict[str, Tensor]:
        learners = {name: learner.state() for name, learner in self.learners.items()}
        if self.policies is not None:
            learners |= {f"policy{cards}": part.state() for cards, part in self.policies.learners.items()}
        return {name: tensor for learner, state in learners.items() for name, tensor in prefixed(learner, state).items()}

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, header = super().state()
        return tensors, {**header, "numpy": generator_state(self._numpy), "examples": self.examples}

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        for name, learner in self.learners.items():
            learner.restore(unprefixed(name, tensors))
        self.examples = int(header["examples"])
        self._numpy.bit_generator.state = header["numpy"]
        if self.policies is not None:
            self.policies.restore(tensors)
        self._refresh()
        self._start_warm()


def trainable_rules(game: AnyGame) -> NoLimitBetting:
    """Returns the betting rules of a game.

    Raises:
      TacitError: the game is not no-limit hold'em.
    """
    if not isinstance(game, Holdem) or not isinstance(game.rules, NoLimitBetting):
        raise TacitError(f"networks of round ends are for no-limit hold'em, not for {game}")
    return game.rules


def make_nets(rules: NoLimitBetting, config: HoldemConfig, device: str) -> dict[int, RoundNet]:
    """Returns new networks for the ends of all rounds but the last, by the number of cards on the board."""
    cards = BOARD_CARDS[rules.first_street : RIVER]
    return {number: _make_net(config).to(device) for number in cards}


def make_start_nets(rules: NoLimitBetting, config: HoldemConfig, device: str) -> dict[int, RoundNet]:
    """Returns new networks for the beginnings of rounds after a single card, by the number of cards on the board.

    The flop needs none: the targets before it are means over many flops already.
    """
    cards = [number for number in BOARD_CARDS[rules.first_street + 1 :] if number > BOARD_CARDS[FLOP]]
    return {number: _make_net(config).to(device) for number in cards if config.start_networks}


def _make_net(config: HoldemConfig) -> RoundNet:
    kind = AppendixGNet if config.network == APPENDIX_G else RoundEndNet
    helps = Helps(odds=config.odds, zero_sum=config.zero_sum, suits=config.suit_symmetry)
    return kind(config.hidden, config.layers, config.embedding, helps)


def make_policies(rules: NoLimitBetting, config: HoldemConfig, device: str) -> dict[int, RoundPolicyNet]:
    """Returns new policy networks for all rounds, by the number of cards on the board.

    They have half the width of value networks, because searches only start from them.
    """
    cards, width = BOARD_CARDS[rules.first_street :], max(1, config.hidden // 2)
    return {number: RoundPolicyNet(width, config.layers, config.embedding).to(device) for number in cards}


def _joined(parts: list[RoundEndExamples]) -> RoundEndExamples:
    names = [field.name for field in fields(RoundEndExamples)]
    return RoundEndExamples(*(torch.cat([getattr(part, name) for part in parts]) for name in names))
