"""Searches of betting rounds that start from policies, and the networks that propose these policies."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from tacit.agents.hand_search import HandSearch
from tacit.artifacts.rebel_holdem import HoldemArtifact
from tacit.cards.board_tensors import BoardTable, BoardTensors
from tacit.cards.dealing import DealtBoards
from tacit.cards.deck import parse_cards
from tacit.cards.hands import NUM_HANDS, possible_hands
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.betting import ALL_IN, BOARD_CARDS, CALL, FOLD, RIVER, TURN, NoLimitBetting
from tacit.games.holdem import Holdem
from tacit.games.public_hand import PublicHand
from tacit.kernels.base import LeafValues
from tacit.kernels.street_passes import StreetPasses, StreetStates
from tacit.nets.round_policies import RoundPolicies, decision_levels
from tacit.nets.round_policy_net import NUM_ACTION, RoundPolicyNet, action_features
from tacit.rebel.holdem.config import PRESETS, HoldemConfig
from tacit.rebel.holdem.policy import DecisionExamples, PolicyLearner, decision_examples
from tacit.rebel.holdem.stored import restored_beliefs
from tacit.rebel.holdem.system import REBEL_HOLDEM
from tacit.solvers.driver import Driver, DriverOptions
from tacit.solvers.schedules import find_schedule
from tacit.solvers.warm import STEADINESS, WARM_ITERATIONS, start_warm
from tacit.training.folder import RunFolder
from tacit.training.run import load_trainer, open_run, train
from tacit.tree.betting_street import betting_streets
from tacit.tree.subgame import ROUND

BOARDS = {TURN: ("3s7hTdKs", "2c2d9hAc"), RIVER: ("3s7hTdKs2c", "9s7h9d9c2c")}
UNIT = 500.0
FORCING = 1e6


class CheckedDown:
    """Leaves without further betting: their values are linear in the other's reach, so they are exact."""

    counterfactual = True

    def evaluate(self, states: StreetStates, beliefs: Tensor) -> Tensor:
        chips = torch.tensor([betting.facing / states.unit for betting in states.betting])[:, None, None]
        return states.boards.leads(beliefs.flip(0).flatten(0, 1)).view(beliefs.shape) * chips


def rules(street: int) -> NoLimitBetting:
    return NoLimitBetting(2_500, 100, 100, street, 1_000, (0.5, ALL_IN), (1.0,))


def ranges(street: int) -> list[list[np.ndarray]]:
    generator = np.random.default_rng(1)
    boards = [parse_cards(board) for board in BOARDS[street]]
    return [[possible_hands(board) * generator.random(NUM_HANDS) ** 4 for _ in (0, 1)] for board in boards]


def games(street: int) -> StreetPasses:
    tensors = BoardTensors(torch.tensor([parse_cards(board) for board in BOARDS[street]]))
    reaches = torch.stack([torch.from_numpy(np.stack(pair)) for pair in ranges(street)]).float()
    reaches = reaches.gather(2, tensors.hand[:, None].expand(-1, 2, -1))
    reaches = reaches / reaches.sum(2, keepdim=True)
    depth = ROUND if street < RIVER else None
    tree = betting_streets(rules(street), BOARD_CARDS[street], depth=depth)[0]
    return StreetPasses(tree, tensors, reaches, UNIT, rules(street).stack)


def driver_of(passes: StreetPasses, solver: str = "dcfr", decomposition: str = "cfr-d") -> Driver:
    leaves = CheckedDown() if passes.leaf_states is not None else None
    return Driver(passes, find_schedule(solver), DriverOptions(leaves, decomposition))


def nash_conv(passes: StreetPasses, strategy: Tensor) -> float:
    """Returns what best responses to a strategy gain, summed over both players and all games, in pots."""
    total = 0.0
    for player in (0, 1):
        faced = passes.reach(1 - player, strategy)
        total += float(
            (
                passes.get_roots(player, passes.reach(player, strategy))
                * passes.best_response(player, faced, leaves=leaves_for(passes, player, faced))[0]
            ).sum()
        )
    return total / 2


def leaves_for(passes: StreetPasses, player: int, faced: Tensor) -> LeafValues | None:
    states = passes.leaf_states
    if states is None:
        return None
    beliefs = passes.new_beliefs()
    passes.leaf_beliefs(1 - player, faced, beliefs)
    values = CheckedDown().evaluate(states, beliefs) * passes.leaf_weight(player, faced)
    return LeafValues(values, counterfactual=True)


def solved(street: int, iterations: int = 400) -> Tensor:
    driver = driver_of(games(street))
    driver.run(iterations)
    return driver.passes.normalise(driver.average)


@pytest.mark.parametrize(("street", "decomposition"), [(RIVER, "cfr-d"), (TURN, "cfr-d"), (TURN, "modified-cfr-ave")])
def test_a_search_that_starts_from_an_equilibrium_stays_there(street: int, decomposition: str) -> None:
    passes, best = games(street), solved(street)
    exact = nash_conv(passes, best)
    warm, cold = driver_of(passes, "dcfr", decomposition), driver_of(games(street), "dcfr", decomposition)
    start_warm(warm, best, steadiness=STEADINESS)
    assert warm.iteration == WARM_ITERATIONS
    torch.testing.assert_close(passes.normalise(warm.average)[passes.street.first_entry[0]], best[passes.street.first_entry[0]])
    warm.run(5)
    cold.run(WARM_ITERATIONS + 5)
    kept, reached = (nash_conv(passes, passes.normalise(part.average)) for part in (warm, cold))
    assert exact < 0.01
    assert kept < 0.7 * reached
    for driver in (warm, cold):
        driver.run(30)
    later, reached = (nash_conv(passes, passes.normalise(part.average)) for part in (warm, cold))
    assert later < 0.6 * reached


def test_regrets_of_a_warm_start_are_those_against_a_best_response() -> None:
    passes = games(RIVER)
    driver = driver_of(passes, "cfr")
    proposed = passes.normalise(torch.rand(passes.zeros().shape, generator=torch.Generator().manual_seed(0)))
    start_warm(driver, proposed, 7)
    menu = range(passes.street.num_actions[0])
    faced = passes.reach(1, proposed)
    worth = []
    for action in menu:
        bonus = passes.zeros()
        bonus[action] = FORCING
        worth.append(passes.best_response(0, faced, bonus)[0].clone())
    values = torch.stack(worth)
    expected = 7 * (values - (proposed[list(menu)] * values).sum(0))
    torch.testing.assert_close(driver.regret[list(menu)], expected, rtol=0, atol=1e-4 * float(expected.abs().max()))
    shares = driver.strategy[list(menu)].sum(0)
    torch.testing.assert_close(shares, torch.ones_like(shares))


def test_actions_are_described_by_their_size_beside_the_pot() -> None:
    here = rules(TURN).start()
    check, half, allin = rules(TURN).actions(here)
    rows = np.array(action_features(here, [check, half, allin], 2_500))
    assert rows.shape == (3, NUM_ACTION)
    np.testing.assert_allclose(rows[:, 3], [0.0, 0.5, 2.0])
    np.testing.assert_allclose(rows[:, 6], [0, 0, 1])
    after = rules(TURN).apply(here, half)
    rows = np.array(action_features(after, list(rules(TURN).actions(after)), 2_500))
    np.testing.assert_array_equal(rows[:2, :3], [[1, 0, 0], [0, 1, 0]])
    assert rules(TURN).actions(after)[:2] == (FOLD, CALL)
    np.testing.assert_allclose(rows[2, [3, 6]], [0.75, 1.0])  # all-in: 1,500 more, into 2,000 after the call


def test_a_new_network_proposes_all_actions_of_any_menu_alike() -> None:
    passes = games(TURN)
    torch.manual_seed(0)
    found = RoundPolicies({4: RoundPolicyNet(16, 1, 8)}).propose(passes)
    torch.testing.assert_close(found, passes.uniform(), rtol=0, atol=0.02)
    torch.testing.assert_close(passes.normalise(found), found)
    assert sum(map(len, decision_levels(passes))) == sum(count > 0 for count in passes.street.num_actions)


def test_a_network_learns_to_play_a_turn_and_a_search_starts_from_it() -> None:
    passes, best = games(TURN), solved(TURN, 120)
    kind = torch.tensor([0, 1])
    dealt = DealtBoards(passes.boards, kind, passes.boards.hand)
    parts = [decision_examples(passes, dealt, best, 5, np.random.default_rng(seed)) for seed in range(100)]
    columns = [torch.cat([getattr(part, field.name) for part in parts]) for field in dataclasses.fields(DecisionExamples)]
    examples = DecisionExamples(*columns)
    config = dataclasses.replace(PRESETS["smoke"], batch_size=64, ratio=50.0, replay_size=400)
    torch.manual_seed(0)
    learner = PolicyLearner(RoundPolicyNet(64, 2, 24), TwoBoards(passes.boards), config, "cpu")
    before = float(learner.loss(examples).detach())
    for rate in (4e-3, 1e-3):
        learner.learn(examples, rate, torch.Generator().manual_seed(0))
    assert float(learner.loss(examples).detach()) < 0.25 * before
    proposed = RoundPolicies({4: learner.net}).propose(passes)
    assert nash_conv(passes, proposed) < 0.25 * nash_conv(passes, passes.uniform())
    warm, cold = driver_of(passes), driver_of(passes)
    start_warm(warm, proposed, steadiness=STEADINESS)
    warm.run(5)
    cold.run(5)
    ours, theirs = (nash_conv(passes, passes.normalise(part.average)) for part in (warm, cold))
    assert ours < 0.5 * theirs


class TwoBoards(BoardTable):
    """A table of two given boards."""

    def __init__(self, boards: BoardTensors) -> None:
        self._two = boards.features

    def meet(self, kind: Tensor) -> None:
        pass

    def features(self, kind: Tensor) -> Tensor:
        return self._two[kind]


@pytest.mark.parametrize("keeps", [4, 5])
def test_examples_of_decisions_are_what_averages_play_there(keeps: int) -> None:
    passes, best = games(TURN if keeps == 4 else RIVER), solved(TURN if keeps == 4 else RIVER, 3)
    dealt = DealtBoards(passes.boards, torch.tensor([3, 4]), passes.boards.hand)
    part = decision_examples(passes, dealt, best, 5, np.random.default_rng(2))
    nodes = [node for level in decision_levels(passes) for node in level]
    menus = {node: passes.street.num_actions[node] for node in nodes}
    count = int(part.legal[0].sum())
    matches = [
        node
        for node in nodes
        if menus[node] == count
        and torch.allclose(
            part.policy[:, :count].transpose(0, 1) / 255.0, best[passes.street.first_entry[node] :][:count], atol=0.002
        )
    ]
    assert len(matches) == 1
    actor = passes.street.actor[matches[0]]
    for place, player in enumerate((actor, 1 - actor)):
        beliefs = passes.beliefs(player, passes.reach(player, best), matches[0])
        assert float((restored_beliefs(part.beliefs[:, place]) - beliefs).abs().sum(1).max()) < 0.008
    assert torch.equal(part.kind, dealt.kind.int())
    assert not part.policy[:, count:].any()


def test_a_run_trains_policies_that_its_searches_and_its_agent_start_from(tmp_path: Path) -> None:
    game = load_game("no_limit_holdem(board=3s7hTdKs,pot=500,stack=1000,bets=1|allin,raises=allin)")
    assert isinstance(game, Holdem)
    config = dataclasses.replace(PRESETS["smoke"], warm_start=3, iterations=5, river_iterations=5, epochs=2)
    folder = RunFolder(tmp_path, REBEL_HOLDEM)
    trainer = open_run(folder, game, config)
    assert trainer.selfplay.policies is None
    last = train(trainer, folder)
    assert last.policy is not None
    assert last.policy > 0
    assert trainer.selfplay.policies is trainer.policies.proposals
    again = load_trainer(folder)
    assert all(torch.equal(part, trainer.weights()[name]) for name, part in again.weights().items())
    assert again.selfplay.policies is not None
    search = HoldemArtifact(str(tmp_path)).search()
    assert search.ends.warm is not None
    assert search.ends.warm.iterations == 3
    here = PublicHand.start(game).dealt(game.known_board)
    played = [
        HandSearch(game, iterations=4, ends=dataclasses.replace(search.ends, looks_further=False, warm=warm)).probabilities(
            here
        )
        for warm in (search.ends.warm, None)
    ]
    assert np.abs(played[0] - played[1]).max() > 0.01


def test_warm_starts_that_make_no_sense_are_refused() -> None:
    with pytest.raises(TacitError, match="counts as 15 iterations"):
        HoldemConfig(warm_start=15, river_iterations=15)
    with pytest.raises(TacitError, match="regret matching"):
        HoldemConfig(warm_start=15, solver="linear-fp")
