"""The hold'em agent that searches, on a GPU against the CPU; skipped without CUDA."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tacit.agents.hand_planner import hand_view
from tacit.agents.hand_search import HandSearch, RoundEnds
from tacit.agents.situation import Situation
from tacit.cards.board_tensors import BoardTensors
from tacit.cards.deck import parse_cards
from tacit.cards.hands import possible_hands
from tacit.games import load_game
from tacit.games.betting import BOARD_CARDS, CALL, RIVER
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import RoundEndNet

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")]

BOARD = parse_cards("3s7hTdKs2c")


def search_on(device: str, **options: object) -> HandSearch:
    game = load_game("no_limit_holdem(stack=2500,bets=0.5|1|allin,raises=1|allin)")
    assert isinstance(game, Holdem)
    torch.manual_seed(0)
    nets = {cards: RoundEndNet(16, 1, 8) for cards in BOARD_CARDS[:RIVER]}
    for net in nets.values():
        torch.nn.init.normal_(net.out.weight, std=0.1)
    leaves = RoundEndLeaves({cards: net.to(device) for cards, net in nets.items()}, 2_500, torch.float32)
    ends = RoundEnds(leaves, "cfr-d", BOARD_CARDS[:RIVER], looks_further=False)
    return HandSearch(game, ends=ends, device=device, **options)  # type: ignore[arg-type]


def checked_to(game: Holdem, street: int) -> PublicHand:
    public = PublicHand.start(game)
    for before in range(street):
        public = public.after(CALL).after(CALL).dealt(BOARD[BOARD_CARDS[before] : BOARD_CARDS[before + 1]])
    return public


HALF_PRECISION = 1e-4
"""The error of products with margins on a GPU, relative to the largest number in a plane."""


@pytest.mark.parametrize("street", range(4))
def test_a_search_is_that_of_the_cpu(street: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each street is tested by itself, so that differences of one round do not add to those of the next.

    With untrained networks, early iterations on the flop depend on the fifth digit. So the GPU may differ from the CPU as much
    as the CPU differs from itself when the leads of hands are shaken as much as half precision would.
    """

    def found(device: str) -> tuple[np.ndarray, np.ndarray]:
        search = search_on(device, iterations=32)
        public = checked_to(search.game, street)
        even = possible_hands(public.board).astype(np.float64)
        now = search._solved(Situation(public.betting, public.board, (even, even), public.path), 0)
        return now.solution.probabilities, search.values(now, 0)

    (plan, values), (gpu_plan, gpu_values) = found("cpu"), found("cuda")
    exact, noise = BoardTensors.fill_leads, torch.Generator().manual_seed(0)

    def shaken(self: BoardTensors, source: Tensor, rows: Tensor, out: Tensor, places: Tensor, amount: Tensor) -> None:
        exact(self, source, rows, out, places, amount)
        planes = out[places]
        shake = torch.randn(planes.shape, generator=noise, dtype=planes.dtype)
        out[places] = planes + HALF_PRECISION * planes.abs().amax(-1, keepdim=True) * shake

    monkeypatch.setattr(BoardTensors, "fill_leads", shaken)
    shaken_plan, shaken_values = found("cpu")

    def differs(other: np.ndarray) -> float:
        return float((np.abs(other - plan) > 0.02).mean())

    assert differs(gpu_plan) <= max(0.02, differs(shaken_plan))
    largest = np.abs(values).max()
    bound = max(0.02 * largest, float(np.abs(shaken_values - values).max()))
    np.testing.assert_allclose(gpu_values, values, atol=bound)


def test_a_hand_is_played_to_the_river_with_bets_off_the_menu_and_a_clock() -> None:
    search = search_on("cuda", iterations=10_000, time_per_decision=0.5)
    for street in range(4):
        public = checked_to(search.game, street)
        shares = search.probabilities(public)
        np.testing.assert_allclose(shares.sum(0)[possible_hands(public.board)], 1.0, atol=1e-4)
        view = hand_view(search, search.situation(public))
        assert np.isfinite(view.strategy).all()
        assert view.beliefs[0].sum() == pytest.approx(1.0)
    folds = search.fold_shares(public, [217, 333, 2_500])
    assert folds.shape == (3, 1_326)
    assert folds[2].sum() > folds[0].sum()


@pytest.mark.parametrize("safety", ["re-solving", "sampled"])
def test_the_search_without_networks_runs_there_too(safety: str) -> None:
    game = load_game("no_limit_holdem(stack=1000,bets=1|allin,raises=allin)")
    assert isinstance(game, Holdem)
    search = HandSearch(game, iterations=30, safety=safety, device="cuda", generator=np.random.default_rng(3))
    for street in range(4):
        public = checked_to(game, street)
        shares = search.probabilities(public)
        np.testing.assert_allclose(shares.sum(0)[possible_hands(public.board)], 1.0, atol=1e-4)
