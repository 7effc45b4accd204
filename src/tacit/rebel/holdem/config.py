"""Everything that can be set in a run of ReBeL at hold'em, and the presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from tacit.errors import TacitError
from tacit.solvers.schedules import SCHEDULES, RegretSchedule, plain_schedule
from tacit.solvers.valuation import CFR_D, MODIFIED_CFR_AVE
from tacit.training.ranges import Choice, Count, CountOrZero, Flag, Positive, PositiveOrZero, Seed, Share
from tacit.training.settings import Settings

SELF_PLAY, RANDOM = "self-play", "random"
DEVICE, HOST = "device", "host"
HANDS_ALIKE, APPENDIX_G = "hands-alike", "appendix-g"


@dataclass(frozen=True)
class HoldemConfig(Settings):
    """A run of ReBeL at hold'em.

    Attributes:
      solver: The search algorithm. With so few iterations, values by Linear CFR are twice as close to the truth as by DCFR.
      iterations: Iterations of a search that ends with its betting round.
      river_iterations: Iterations of a search of the last round, which sees the end of the hand.
      recycle: Iterations of a search that use the same values of round ends.
      decomposition: The beliefs at which regret matching values leaves: those of current strategies (`cfr-d`) or of averages
        (`modified-cfr-ave`).
      beliefs: Where training states come from: `self-play`, or `random` ranges for comparison.
      fewer_bets: The share of batches whose bets come from a smaller menu than the game's (`games/menus.py`). Networks are told
        how many sizes there are, because that changes what hands are worth.
      shaped: The share of flops that are searched with ranges shaped at random (`situations.py`): self-play from full ranges
        reaches few that are as narrow or as capped as those that players bring to a flop.
      games: Boards that are searched together, all with the same betting.
      branches: Leaves of a search below which play goes on.
      nodes: The most nodes of a round's betting; with more, some of the game's bets are left out (`games/menus.py`).
      perturbation: The most that bets are moved at random from the game's, in pots.
      surprise: The share that goes into targets of what a search after one card found beyond the network of beginnings. 1 is
        unbiased whatever that network says; less is less noisy. Without networks of beginnings it is always 1.
      start_networks: Whether networks of round beginnings take the noise of the next card out of targets (`starts.py`).
      warm_start: Iterations that policy networks count as when searches start from them, 15 in the paper; they are trained
        beside the value networks. 0 for none.
      warm_start_at: Epochs after which searches start from policy networks.
      network: The network that values round ends: `hands-alike`, which knows hands by their features
        (`nets/round_end_net.py`), or `appendix-g`, the paper's, which knows each by its index (`nets/appendix_g.py`).
      suit_symmetry: Whether boards that differ only in the names of suits count as one: suits are renamed when cards are dealt,
        and for `appendix-g` when it is asked. Without it, boards stay as dealt.
      odds: Whether networks are told what hands would win if nobody bet any more, and learn what betting adds to that. Without
        it they learn whole values; targets are equally free of the card's noise either way.
      zero_sum: Whether both players' values are made to sum to zero.
      hidden: The width of the networks' layers.
      layers: The number of layers.
      embedding: The width of the embedding of a hand, or of a card in `appendix-g`.
      learning_rate: The initial learning rate of Adam, which decays by a cosine over the run.
      batch_size: Examples in a training step.
      belief_weight: The share of the loss that weights hands by how likely they are held; the rest weights all hands equally.
        Values of hands that are hardly ever held are large, hard to learn, and matter little.
      ratio: Examples trained on for each new one.
      replay_size: Examples kept of each street, 4.6 KB each on a GPU and 9.1 on a CPU.
      replay_device: Where examples are kept: `device`, where networks are trained, or `host`, the memory of the machine.
      epoch_examples: New examples in an epoch.
      epochs: The length of the run.
      evaluate_every: Epochs between networks that are kept; 0 keeps only the last.
      seed: The seed of everything random.
    """

    system: ClassVar[str] = "rebel-holdem"

    solver: Annotated[str, Choice(*SCHEDULES)] = "linear-cfr"
    iterations: Count = 128
    river_iterations: Count = 128
    recycle: Count = 1
    decomposition: Annotated[str, Choice(CFR_D, MODIFIED_CFR_AVE)] = MODIFIED_CFR_AVE
    beliefs: Annotated[str, Choice(SELF_PLAY, RANDOM)] = SELF_PLAY
    fewer_bets: Share = 0.0
    shaped: Share = 0.0
    games: Count = 8
    branches: Count = 4
    nodes: Count = 200
    perturbation: PositiveOrZero = 0.1
    surprise: Share = 1.0
    start_networks: Flag = False
    warm_start: CountOrZero = 0
    warm_start_at: CountOrZero = 1
    network: Annotated[str, Choice(HANDS_ALIKE, APPENDIX_G)] = HANDS_ALIKE
    suit_symmetry: Flag = True
    odds: Flag = True
    zero_sum: Flag = True
    hidden: Count = 256
    layers: Count = 3
    embedding: Count = 64
    learning_rate: Positive = 1e-3
    batch_size: Count = 64
    belief_weight: Share = 0.0
    ratio: Positive = 8.0
    replay_size: Count = 20_000
    replay_device: Annotated[str, Choice(DEVICE, HOST)] = DEVICE
    epoch_examples: Count = 256
    epochs: Count = 100
    evaluate_every: CountOrZero = 10
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        schedule = plain_schedule(self.solver)
        if self.warm_start and not isinstance(schedule, RegretSchedule):
            raise TacitError("a warm start needs regret matching: choose a solver of the CFR family, such as dcfr")
        if self.warm_start and min(self.iterations, self.river_iterations) <= self.warm_start:
            raise TacitError(f"a warm start counts as {self.warm_start} iterations: searches need more than that")


PRESETS: dict[str, HoldemConfig] = {
    "cpu": HoldemConfig(),
    "gpu": HoldemConfig(
        iterations=96, fewer_bets=0.5, shaped=0.5, games=512, branches=8, surprise=0.5, start_networks=True, hidden=512,
        embedding=128, batch_size=512, belief_weight=0.95, replay_size=1_500_000, epoch_examples=32_768, epochs=1_000,
        evaluate_every=5,
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
