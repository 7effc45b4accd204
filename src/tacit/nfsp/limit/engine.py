"""NFSP on limit hold'em on one device; on a GPU a round is one CUDA graph that never returns to Python.

A *round* advances every hand by one decision, then makes a few steps of descent with each network of each player. With 256
hands and two steps this is the paper's "2 stochastic gradient updates of mini-batch size 256 per network for every 256 steps in
the game" (section 4.3). A network learns only once its memory fills a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from tacit.errors import TacitError
from tacit.games import AnyGame
from tacit.games.holdem import is_full_limit_holdem
from tacit.games.limit_batch import NUM_ACTIONS, LimitRules
from tacit.nfsp.config import LimitConfig
from tacit.nfsp.limit.judge import LimitJudge
from tacit.nfsp.limit.memory import BEHAVIOUR, TRANSITION, PackedMemory, unpack_legal
from tacit.nfsp.limit.networks import Adam, Layer, Layers, Sgd, best_value, choose, forward, make_layers, named_weights
from tacit.nfsp.limit.selfplay import HandsInPlay
from tacit.nfsp.progress import MATCHES, WinRateProgress
from tacit.nfsp.train import NfspTrainer, filled_rows
from tacit.threads import one_thread

WARM_UP = 3
"""The number of rounds before a graph is captured, so that libraries have done their one-time setup."""


class LimitTrainer(NfspTrainer):
    """Both players' networks, memories and hands, as tensors that stay at the same addresses.

    Attributes:
      rounds: `[1]` int64, the number of rounds played.
      updates: `[2, 2]` int64, the number of steps of each player's action values and policy.
    """

    config: LimitConfig
    progress = WinRateProgress

    def __init__(self, game: AnyGame, config: LimitConfig, device: str = "cpu") -> None:
        if not is_full_limit_holdem(game):
            raise TacitError(f"this NFSP plays only limit_holdem from the blinds on, not {game}")
        super().__init__(game, config)
        self.device = device
        self.generator = torch.Generator(device).manual_seed(config.seed)
        self.layers: Layers = make_layers(config.hidden_layers(), self.generator)
        self.target: Layers = [Layer(*(part[0::2].clone() for part in layer)) for layer in self.layers]
        self.transitions = PackedMemory(TRANSITION, config.transitions, device)
        self.behaviour = PackedMemory(BEHAVIOUR, config.behaviour, device)
        self.selfplay = HandsInPlay(LimitRules.of(game, device), config, self.generator)
        self.rounds = torch.zeros(1, dtype=torch.int64, device=device)
        self.updates, self.loss_steps = (torch.zeros(2, 2, dtype=torch.int64, device=device) for _ in range(2))
        self.loss = torch.zeros(2, 2, dtype=torch.float64, device=device)
        self.finished = self.selfplay.seats.finished
        rates = [config.learning_rate, config.policy_learning_rate]
        self._actions = torch.arange(NUM_ACTIONS, dtype=torch.uint8, device=device)
        self._rates = torch.tensor(2 * rates, device=device)[:, None, None]
        self.optimizer: Adam | Sgd = Adam(self.layers) if config.optimizer == "adam" else Sgd()
        self._graph: torch.cuda.CUDAGraph | None = None
        self._judge: LimitJudge | None = None

    @one_thread()
    def judge(self, on_match: Callable[[int], None]) -> dict[str, float]:
        """Returns the strategies' win rates against bots."""
        if self._judge is None:
            self._judge = LimitJudge(self.selfplay.rules, self.config.deals, self.config.seed)
        win_rates: dict[str, float] = {}
        on_match(0)
        for number, (name, (strategy, bot)) in enumerate(MATCHES.items(), 1):
            rate = self._judge.win_rate(self.layers, strategy, bot)
            win_rates |= {name: rate.mbb, f"{name}_half": rate.half}
            on_match(number)
        return win_rates

    def weights(self) -> dict[str, Tensor]:
        return named_weights(self.layers)

    def kept(self, saved: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
        counters = {"rounds": self.rounds, "updates": self.updates, "loss": self.loss, "steps": self.loss_steps}
        kept = {f"counters.{name}": counter for name, counter in counters.items()}
        layers = {"": self.layers, "target.": self.target, "moments.": self.optimizer.moments}
        for prefix, some in layers.items():
            kept |= named_weights(some, prefix)
        for prefix, tensors in (("hands", self.selfplay.hands), ("seats", self.selfplay.seats)):
            kept |= {f"{prefix}.{name}": tensor for name, tensor in tensors._asdict().items()}
        for name, memory in (("transitions", self.transitions), ("behaviour", self.behaviour)):
            kept |= filled_rows(name, memory.columns, memory.offered, memory.capacity, saved)
        return {**kept, "generator": self.generator.get_state()}  # a copy: `restore` sets it

    def restore(self, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
        super().restore(tensors, header)
        self.generator.set_state(tensors["generator"])

    @one_thread()  # products are small, and results then do not depend on the machine's number of cores
    def play(self, done: int, count: int) -> None:
        """Plays `count` rounds; on a GPU it returns before they are finished, and `rounds` counts them there."""
        del done
        if self.device == "cpu":
            for _ in range(count):
                self.play_one()
            return
        if self._graph is None:
            with _tensor_cores():
                for _ in range(min(count, WARM_UP)):
                    self.play_one()
                count -= min(count, WARM_UP)
                torch.cuda.synchronize()
                self._graph = torch.cuda.CUDAGraph()
                self._graph.register_generator_state(self.generator)
                with torch.cuda.graph(self._graph):  # capturing runs nothing
                    self.play_one()
        for _ in range(count):
            self._graph.replay()

    def play_one(self) -> None:
        """Plays a round."""
        config = self.config
        self.rounds.add_(1)
        steps = (self.rounds - 1) * config.updates + 1  # 1 in the first round, which explores as configured
        exploration = config.exploration * steps.float() ** -config.exploration_power
        self.selfplay.advance(self.layers, self.transitions, self.behaviour, exploration)
        self._learn()

    def _learn(self) -> None:
        """Makes a round's steps of descent for all four networks at once, and refits the targets that are due.

        Action values descend the mean of `(reward + max Q'(following, legal action) - Q)^2`, policies the mean of
        `-log policy(action)`, each over its own batches. The losses of the last step are recorded.
        """
        config = self.config
        ready = torch.stack((self.transitions.offered, self.behaviour.offered), 1) >= config.batch_size
        scale = torch.where(ready, 1.0 / config.batch_size, 0.0).view(-1, 1, 1)
        refits = self.updates[:, 0] // config.refit_every
        for inputs, chosen, wanted, closed in zip(*self._lessons(), strict=True):
            values = forward(self.layers, inputs)
            scores = values[-1].view(2, 2, -1, NUM_ACTIONS)
            off = (scores[:, 0] - wanted) * chosen[:, 0]
            log_policy = (scores[:, 1] + closed).log_softmax(-1)
            errors = torch.stack((2.0 * off, log_policy.exp() - chosen[:, 1]), 1).flatten(0, 1)
            errors = torch.where(scale > 0.0, errors * scale, 0.0)  # keeps out NaNs from an empty memory
            self.updates.add_(ready)
            self.optimizer.descend(self.layers, values, errors, self._rates, self.updates)
        losses = torch.stack((off.square(), -torch.where(chosen[:, 1] > 0.0, log_policy, 0.0)), 1).sum(-1).mean(-1)
        self.loss.add_(torch.where(ready, losses, 0.0))
        self.loss_steps.add_(ready)
        due = (self.updates[:, 0] // config.refit_every > refits)[:, None, None]
        for layer, target in zip(choose(self.layers, slice(0, None, 2)), self.target, strict=True):
            for new, old in zip(layer, target, strict=True):
                old.copy_(torch.where(due, new, old))

    def _lessons(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Returns a round's examples for each step of descent.

        They are the networks' inputs `[U, 4, B, 288]`, the chosen actions one-hot `[U, 2, 2, B, 3]`, target action values
        `[U, 2, B, 1]`, and `[U, 2, B, 3]` with `-inf` at illegal actions. The target networks do not change in a round.
        """
        config = self.config
        count, unpack = config.updates * config.batch_size, self.selfplay.encoder.unpack
        bits, action, reward, following, following_legal = self.transitions.draw(count, self.generator)
        other_bits, other_action, other_legal = self.behaviour.draw(count, self.generator)
        ahead = forward(self.target, unpack(following))[-1]
        wanted = reward + best_value(ahead, unpack_legal(following_legal))
        chosen = (torch.stack((action, other_action), 1)[..., None] == self._actions).float()
        inputs = unpack(torch.stack((bits, other_bits), 1)).flatten(0, 1)

        def by_step(of_round: Tensor) -> Tensor:
            """Returns `[U, ..., B, K]` from `[..., U * B, K]`."""
            *before, _, last = of_round.shape
            return of_round.view(*before, config.updates, config.batch_size, last).movedim(-3, 0)

        closed = torch.where(unpack_legal(other_legal), 0.0, -torch.inf)
        return by_step(inputs).contiguous(), by_step(chosen), by_step(wanted[..., None]), by_step(closed)


@contextmanager
def _tensor_cores() -> Iterator[None]:
    """Has products round their factors to 10 bits for tensor cores and sum in float32; weights keep their precision."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
