"""Everything that can be set in a run of ReBeL at hold'em, and the presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.errors import TacitError
from tacit.solvers.schedules import RegretSchedule, plain_schedule
from tacit.solvers.valuation import CFR_D, MODIFIED_CFR_AVE
from tacit.training.settings import Settings

SELF_PLAY, RANDOM = "self-play", "random"
BELIEFS = (SELF_PLAY, RANDOM)
DEVICE, HOST = "device", "host"
HANDS_ALIKE, APPENDIX_G = "hands-alike", "appendix-g"


@dataclass(frozen=True)
class HoldemConfig(Settings):
    """A run of ReBeL at hold'em.

    Attributes:
      solver: the search algorithm. With so few iterations values by Linear CFR are twice as near to the truth as by DCFR.
      iterations: of a search that ends with its betting round.
      river_iterations: of a search of the last round, which sees the end of the hand.
      recycle: iterations of a search that use the same values of round ends.
      decomposition: at which beliefs regret matching values leaves: those of present strategies, `cfr-d`, or of averages,
        `modified-cfr-ave`.
      beliefs: where training states come from: `self-play`, or `random` ranges for comparison.
      games: boards that are searched together, all with the same betting.
      branches: leaves of a search below which play goes on.
      nodes: of a round's betting at most; with more, some of the game's bets are left out (`games/menus.py`).
      perturbation: how far bets are drawn from the game's, in pots.
      start_networks: whether networks of round beginnings take the noise of the next card out of targets (`starts.py`).
      warm_start: iterations that policy networks stand for where searches begin, 15 in the paper; they are trained beside the
        value networks. 0 has none.
      warm_start_at: epochs after which searches start from them.
      network: what values round ends: `hands-alike`, which knows hands by what describes them (`nets/round_end_net.py`), or
        `appendix-g`, the paper's, which knows each by its place (`nets/appendix_g.py`).
      suit_symmetry: whether boards that differ in names of suits alone are one: suits are renamed where cards come, and for
        `appendix-g` where it is asked. Without it boards are as dealt.
      odds: whether networks are told what hands would win if nobody bet any more, and learn what betting adds to that. Without
        it they learn all of a value; targets are as free of the card's noise either way.
      zero_sum: whether both players' values are made to sum to zero.
      hidden: width of the networks' layers.
      layers: their number.
      embedding: numbers that stand for a hand, or for a card in `appendix-g`.
      learning_rate: of Adam at the start; a cosine lets it fall over the run.
      batch_size: examples a training step.
      ratio: examples trained on for each new one.
      replay_size: examples kept of each street, 4.6 KB each on a GPU and 9.1 on a CPU.
      replay_device: where examples are kept: `device`, where networks are trained, or `host`, the memory of the machine.
      epoch_examples: new examples an epoch.
      epochs: length of the run.
      evaluate_every: epochs between networks that are kept; 0 keeps the last only.
      seed: of everything random.
    """

    system: ClassVar[str] = "rebel-holdem"

    solver: str = "linear-cfr"
    iterations: int = 128
    river_iterations: int = 128
    recycle: int = 1
    decomposition: str = MODIFIED_CFR_AVE
    beliefs: str = SELF_PLAY
    games: int = 8
    branches: int = 4
    nodes: int = 200
    perturbation: float = 0.1
    start_networks: bool = False
    warm_start: int = 0
    warm_start_at: int = 1
    network: str = HANDS_ALIKE
    suit_symmetry: bool = True
    odds: bool = True
    zero_sum: bool = True
    hidden: int = 256
    layers: int = 3
    embedding: int = 64
    learning_rate: float = 1e-3
    batch_size: int = 64
    ratio: float = 8.0
    replay_size: int = 20_000
    replay_device: str = DEVICE
    epoch_examples: int = 256
    epochs: int = 100
    evaluate_every: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        self.require_choice("beliefs", BELIEFS)
        self.require_choice("replay_device", (DEVICE, HOST))
        self.require_choice("network", (HANDS_ALIKE, APPENDIX_G))
        self.require_choice("decomposition", (CFR_D, MODIFIED_CFR_AVE))
        self.require_at_least(
            1, "iterations", "river_iterations", "recycle", "games", "branches", "nodes", "hidden", "layers", "embedding",
            "batch_size", "replay_size", "epoch_examples", "epochs",
        )  # fmt: skip
        self.require_at_least(0, "evaluate_every", "perturbation", "warm_start", "warm_start_at")
        self.require_positive("learning_rate", "ratio")
        self.require_seed()
        schedule = plain_schedule(self.solver)
        if self.warm_start and not isinstance(schedule, RegretSchedule):
            raise TacitError("a warm start is for regret matching: choose a solver of the CFR family, such as dcfr")
        if self.warm_start and min(self.iterations, self.river_iterations) <= self.warm_start:
            raise TacitError(f"a warm start stands for {self.warm_start} iterations: searches need more than that")


PRESETS: dict[str, HoldemConfig] = {
    "cpu": HoldemConfig(),
    "gpu": HoldemConfig(
        iterations=96, games=512, branches=8, start_networks=True, hidden=512, embedding=128, batch_size=512,
        replay_size=1_500_000, epoch_examples=32_768, epochs=1_000, evaluate_every=5,
    ),
    "paper": HoldemConfig(
        iterations=128, games=512, branches=8, warm_start=15, network=APPENDIX_G, suit_symmetry=False, odds=False,
        zero_sum=False, hidden=1_536, layers=6, learning_rate=3e-4, batch_size=1_024, replay_size=1_000_000,
        replay_device=HOST, epoch_examples=32_768, epochs=1_000, evaluate_every=5,
    ),
    "smoke": HoldemConfig(
        iterations=4, river_iterations=4, games=2, branches=2, hidden=16, layers=1, embedding=8, batch_size=8,
        replay_size=64, epoch_examples=8, epochs=2, evaluate_every=1,
    ),
}  # fmt: skip
