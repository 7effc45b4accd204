"""Searches of one board by planes, compared with those over a tree of hands."""

import numpy as np
import pytest
import torch

from tacit.agents.budget import LEAST_ITERATIONS, ON_THE_WAY, TimeBudget
from tacit.agents.hand_search import HandSearch, RoundEnds
from tacit.cards.board_tensors import BoardTensors
from tacit.cards.deck import parse_cards
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.evaluation import evaluate
from tacit.evaluation.exact import infostate_values
from tacit.games import load_game
from tacit.games.betting import ALL_IN, BOARD_CARDS, CALL, FLOP, FOLD, PREFLOP, RIVER, TURN, NoLimitBetting
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.kernels.board_passes import BoardPasses
from tacit.kernels.hand_device import HandDevice
from tacit.kernels.numba_hands import HandPasses
from tacit.kernels.street_passes import StreetStates
from tacit.leaves.check_down import CheckDownLeaves
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import RoundEndNet, public_features
from tacit.solvers.driver import DriverOptions
from tacit.solvers.schedules import find_schedule, plain_schedule
from tacit.solvers.tabular import TabularDriver
from tacit.tree.hand_builder import build_hand_tree
from tacit.tree.hand_tree import START, HandTree
from tacit.tree.subgame import ROUND

BOARD = parse_cards("3s7hTdKs2c")
STACK = 2_500


def round_tree(street: int, seed: int = 1) -> HandTree:
    rules = NoLimitBetting(STACK, 50, 100, street, 1_000 if street else 0, (0.5, ALL_IN), (1.0,))
    board, generator = BOARD[: BOARD_CARDS[street]], np.random.default_rng(seed)
    first, second = (possible_hands(board) * (generator.random(NUM_HANDS) ** 4 + 1e-6) for _ in (0, 1))
    return build_hand_tree(None, rules, board, (first, second), depth=ROUND)


def noisy_leaves(*cards: int) -> RoundEndLeaves:
    torch.manual_seed(0)
    nets = {number: RoundEndNet(16, 1, 8) for number in cards}
    for net in nets.values():
        torch.nn.init.normal_(net.out.weight, std=0.2)
    return RoundEndLeaves(nets, STACK)


def planes(tree: HandTree) -> BoardPasses:
    board = tree.blocks.board[0]
    return BoardPasses(tree, BoardTensors(torch.tensor(board, dtype=torch.int64).view(1, -1)), STACK)


@pytest.mark.parametrize("street", [PREFLOP, FLOP, TURN, RIVER])
def test_a_board_by_planes_is_searched_as_the_tree_of_its_hands(street: int) -> None:
    tree, leaves = round_tree(street), noisy_leaves(*BOARD_CARDS[:RIVER]) if street < RIVER else None
    passes = HandPasses(tree), planes(tree)
    plans = []
    for way in passes:
        driver = TabularDriver(way, find_schedule("dcfr"), DriverOptions(leaves))
        driver.run(24)
        plans.append(driver.average_strategy())
    assert (np.abs(plans[0] - plans[1]) > 0.01).mean() < 2e-3
    plan = plans[1].astype(np.float64)
    ours, theirs = evaluate(passes[1], plan, leaves), evaluate(HandPasses(tree, np.float64), plan, leaves)
    pot = 1_000.0 if street else 150.0
    assert ours.exploitability == pytest.approx(theirs.exploitability, abs=1e-4 * pot)
    assert ours.value == pytest.approx(theirs.value, abs=1e-4 * pot)
    other = evaluate(HandPasses(tree, np.float64), plans[0].astype(np.float64), leaves)
    assert other.exploitability == pytest.approx(theirs.exploitability, abs=2e-3 * pot)


def test_values_of_hands_at_a_node_are_those_of_the_tree() -> None:
    tree, leaves = round_tree(TURN), noisy_leaves(4)
    plan = tree.normalise(np.random.default_rng(2).random(tree.num_entries))
    for node in tree.decisions[:4].tolist():
        for player in (0, 1):
            ours = infostate_values(planes(tree), plan, player, node, leaves)
            theirs = infostate_values(HandPasses(tree, np.float64, keep=True), plan, player, node, leaves)
            np.testing.assert_allclose(ours, theirs, atol=0.05)


def test_checked_down_leaves_are_worth_the_same_in_both_layouts() -> None:
    tree, leaves = round_tree(FLOP), CheckDownLeaves()
    plan = tree.normalise(np.random.default_rng(2).random(tree.num_entries))
    ours, theirs = (evaluate(way, plan, leaves) for way in (planes(tree), HandPasses(tree, np.float64)))
    assert ours.best_response_values == pytest.approx(theirs.best_response_values, rel=1e-4)


def test_the_fused_end_of_the_network_is_the_network_s() -> None:
    leaves = noisy_leaves(4)
    boards = BoardTensors(torch.tensor([BOARD[:4], parse_cards("2c2d9hAc")]))
    tree = round_tree(TURN)
    states = StreetStates(boards, tree.leaf_betting, 250.0, STACK)
    generator = torch.Generator().manual_seed(0)
    beliefs = torch.rand(2, len(states.betting), 2, 1_128, generator=generator) ** 4
    for _ in range(3):  # each time only one player's half is new
        beliefs = torch.stack([torch.rand(beliefs[0].shape, generator=generator) ** 4, beliefs[0]])
        beliefs = beliefs / beliefs.sum(3, keepdim=True)
        net, other = leaves.nets[4], beliefs.flip(0).flatten(0, 1)
        lead, met = (part.view(beliefs.shape) for part in (boards.leads(other), boards.meetings(other)))
        with torch.no_grad():
            public = public_features(boards, states.betting, STACK)
            won = net(net.embed(boards.features, boards.texture), public, beliefs, lead / met.clamp(min=1e-9), met)
        expected = (lead + met * won) * states.chips[:, None, None]
        torch.testing.assert_close(leaves.evaluate(states, beliefs), expected, rtol=0, atol=2e-5)


class Forgetful:
    """Leaves that are asked for all values every time."""

    counterfactual = True

    def __init__(self, leaves: RoundEndLeaves | CheckDownLeaves) -> None:
        self.evaluate = leaves.evaluate


@pytest.mark.parametrize("decomposition", ["cfr-d", "modified-cfr-ave"])
@pytest.mark.parametrize("leaves", [noisy_leaves(4), CheckDownLeaves()], ids=["network", "odds"])
def test_a_search_that_asks_for_what_changed_is_one_that_asks_for_all(
    leaves: RoundEndLeaves | CheckDownLeaves, decomposition: str
) -> None:
    tree, strategies = round_tree(TURN), []
    for evaluator in (leaves, Forgetful(leaves)):
        passes = HandDevice("cpu", STACK).passes(tree)
        driver = TabularDriver(passes, plain_schedule("linear-cfr"), DriverOptions(evaluator, decomposition))
        driver.run(6)
        strategies.append(driver.average_strategy())
    np.testing.assert_array_equal(strategies[0], strategies[1])


def test_modified_cfr_ave_finds_what_the_latest_strategy_is_worth() -> None:
    """Checking down is linear in the opponent's reach, so differences of averages give the latest strategy's values."""
    passes, leaves = HandPasses(round_tree(TURN), np.float64), CheckDownLeaves()
    driver = TabularDriver(passes, plain_schedule("linear-cfr"), DriverOptions(leaves, "modified-cfr-ave"))
    driver.run(3)
    driver.clock.tick()
    assert driver.valuation is not None
    driver.valuation.ask((0,), driver)
    found = driver.valuation.values(0, driver, driver.reaches[1]).values[:NUM_HANDS]
    beliefs = passes.new_beliefs()
    for player in (0, 1):
        passes.leaf_beliefs(player, driver.reaches[player], beliefs)
    expected = leaves.evaluate(passes.leaf_states, beliefs)[:NUM_HANDS] * passes.leaf_weight(0, driver.reaches[1])
    torch.testing.assert_close(found, expected.to(found), rtol=0, atol=1e-6 * float(expected.abs().max()))


@pytest.mark.parametrize(("street", "kind"), [(TURN, BoardPasses), (RIVER, HandPasses)])
def test_the_cpu_takes_the_passes_that_are_faster_there(street: int, kind: type) -> None:
    assert type(HandDevice("cpu", STACK).passes(round_tree(street))) is kind


def small_game() -> Holdem:
    game = load_game("no_limit_holdem(board=3s7hTdKs,pot=1000,stack=2500,bets=0.5|1|allin,raises=1|allin)")
    assert isinstance(game, Holdem)
    return game


def small_search(iterations: int = 12, **options: object) -> HandSearch:
    ends = RoundEnds(noisy_leaves(4), "cfr-d", (4,), looks_further=False)
    return HandSearch(small_game(), iterations=iterations, ends=ends, **options)  # type: ignore[arg-type]


def test_what_folds_to_many_raises_is_one_search() -> None:
    search, public = small_search(), PublicHand.start(small_game()).dealt(BOARD[:4])
    raises = [600, 700, 1_000, 1_400, STACK]
    shares = search.fold_shares(public, raises)
    assert search.searches == 2  # one for the menu, and one with every raise that is not on it
    assert shares.shape == (5, NUM_HANDS)
    after = public.after(1_000)
    np.testing.assert_allclose(shares[2], search.probabilities(after)[after.actions.index(FOLD)], atol=0.35)
    assert shares[4].sum() > shares[0].sum()  # more hands fold to all-in than to a tenth of the pot
    assert np.all(shares[:, ~possible_hands(BOARD[:4])] == 0.0)


class Ticks:
    """A clock that advances each time it is read."""

    def __init__(self, tick: float) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


class Work:
    """Stands in for a driver whose iterations each take some time on a clock."""

    device = "cpu"

    def __init__(self, clock: Ticks, each: float) -> None:
        self._clock, self._each, self.done = clock, each, 0
        self.clock = self.passes = self

    def reserve(self, _iterations: int) -> None:
        pass

    def run(self, iterations: int) -> None:
        self.done += iterations
        self._clock.now += iterations * self._each


@pytest.mark.parametrize("is_last", [True, False])
def test_a_search_stops_in_time(is_last: bool) -> None:
    clock = Ticks(0.0)
    budget, work = TimeBudget(2.0, clock), Work(clock, 0.01)
    budget.start_decision()
    clock.now += 0.4  # preparation
    budget.run(work, 10_000, 1_000, ROUND, is_last)  # type: ignore[arg-type]
    limit = 1.9 if is_last else 0.4 + ON_THE_WAY * 1.5
    assert limit - 0.03 <= clock.now <= limit + 1e-9
    assert work.done == pytest.approx(100 * (clock.now - 0.4))


def test_a_short_search_takes_all_its_iterations_and_tells_how_fast_it_was() -> None:
    clock = Ticks(0.0)
    budget, work = TimeBudget(2.0, clock), Work(clock, 0.001)
    before = budget.max_entries(ROUND, 250)
    for _ in range(20):
        budget.start_decision()
        budget.run(work, 50, 30_000, ROUND, True)  # type: ignore[arg-type]
    assert work.done == 20 * 50
    rate = 30_000 / 0.001
    assert budget.max_entries(ROUND, 250) == pytest.approx(rate * 2.0 * ON_THE_WAY / 100, rel=1e-3) != before
    budget.start_decision()
    assert budget.num_iterations(300_000, ROUND, 250) == pytest.approx(190, abs=1)


def test_without_a_limit_nothing_depends_on_the_clock() -> None:
    public = PublicHand.start(small_game()).dealt(BOARD[:4])
    answers = [small_search(clock=Ticks(tick)).probabilities(public) for tick in (0.0, 1e6)]
    np.testing.assert_array_equal(*answers)


def test_a_decision_with_little_time_is_still_a_decision() -> None:
    public = PublicHand.start(small_game()).dealt(BOARD[:4]).after(1_000)
    shares = small_search(10**6, time_per_decision=0.2).probabilities(public)
    np.testing.assert_allclose(shares.sum(0)[possible_hands(BOARD[:4])], 1.0, atol=1e-5)
    assert shares[public.actions.index(CALL)].max() > 0


def test_solutions_are_kept_by_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.agents.hand_search.KEPT_SOLUTIONS", {0: 1, 3: 1, 4: 2, 5: 1})
    search, start = small_search(2), PublicHand.start(small_game()).dealt(BOARD[:4])
    rivers = [start.after(CALL).after(CALL).dealt((card,)) for card in (0, 4)]
    for river in (*rivers, *rivers[1:]):
        search.probabilities(river)
    assert search.searches == 3  # the turn, and one for each river
    search.probabilities(rivers[0])
    search.probabilities(start)
    assert search.searches == 4  # one river was forgotten, but not the turn
    assert search.situation(start).spot == START


def test_a_search_that_is_late_is_still_a_search() -> None:
    """It still runs a few more iterations: an average of too few is nearly uniform and would bet whole stacks."""
    clock = Ticks(0.0)
    budget, work = TimeBudget(1.0, clock), Work(clock, 10.0)
    budget.start_decision()
    budget.run(work, 1_000, 10, ROUND, True)  # type: ignore[arg-type]
    assert work.done == LEAST_ITERATIONS
    assert budget.num_iterations(10, ROUND, 1_000) == LEAST_ITERATIONS
