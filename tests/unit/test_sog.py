"""Student of Games: queries are the networks' inputs, games are played by re-solving, runs learn and survive a kill."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import tacit
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.learning.examples import joined_examples, unquantise
from tacit.leaves.evaluators import RandomLeaves
from tacit.search.config import SearchConfig
from tacit.search.continual import Spots, resolve
from tacit.search.moves import PublicMoves
from tacit.search.queries import asked_queries, inner_queries
from tacit.search.resolving import resolving_strategy
from tacit.search.search import BatchSearch
from tacit.search.walk import leaf_chances, leaf_states
from tacit.sog.config import PRESETS, DeepstackConfig, SogConfig
from tacit.sog.queries import QueryBuffer, RandomSituations, solve_queries
from tacit.sog.selfplay import SoundSelfPlay
from tacit.sog.system import DEEPSTACK, SOG
from tacit.sog.train import SogTrainer
from tacit.training.folder import RunFolder
from tacit.training.run import load_trainer, train
from tacit.tree.search_space import SearchSpace, game_space
from tests.command import tacit as command

SMOKE = PRESETS["smoke"]


class Recorded:
    """Random values that record the beliefs of each request."""

    counterfactual = False

    def __init__(self, space: SearchSpace) -> None:
        self._values, self.asked = RandomLeaves(space), list[Tensor]()

    def evaluate(self, public_class: Tensor, beliefs: Tensor) -> Tensor:
        self.asked.append(beliefs.clone())
        return 300.0 * self._values.evaluate(public_class, beliefs)


def some_spots(space: SearchSpace, player: int, count: int, seed: int = 0) -> Spots:
    """Returns random public states with leaves below, random ranges, and random promises."""
    generator = np.random.default_rng(seed)
    classes = generator.choice(np.flatnonzero(np.diff(space.tables.leaf_start)), count)
    reaches = np.zeros((count, 2, space.tables.num_private_states), np.float32)
    for seat, table in enumerate(space.tables.players):
        for game, states in enumerate(table.num_roots[classes]):
            reaches[game, seat, :states] = generator.dirichlet(np.ones(states))
    promised = generator.normal(0.0, 200.0, (count, reaches.shape[2])).astype(np.float32)
    return Spots(classes.astype(np.int64), torch.from_numpy(reaches), torch.from_numpy(promised))


@pytest.mark.parametrize(
    ("alternating", "player", "decomposition"),
    [(False, 0, "cfr-d"), (False, 1, "cfr-d"), (True, 0, "cfr-d"), (True, 1, "cfr-d"), (True, 0, "modified-cfr-ave"),
     (False, 1, "modified-cfr-ave")],
)  # fmt: skip
def test_queries_are_what_the_network_was_asked(alternating: bool, player: int, decomposition: str) -> None:
    """This also holds with a gadget, whose range changes in every iteration."""
    space = game_space(load_game("pot_limit_leduc"), "round")
    recorded = Recorded(space)
    search = BatchSearch(space, recorded, SearchConfig("cfr+", 6, "round", decomposition, alternating))
    spots, generator = some_spots(space, player, 24), np.random.default_rng(1)
    sample = generator.integers(1, 7, 24)
    entering = set()
    for given in (spots, spots._replace(promised=None)):
        recorded.asked.clear()
        result, _ = resolve(search, player, given, True, sample)
        queries = asked_queries(search, result, 1_000.0, generator)  # all leaves
        batch, found = result.batch, []
        for group in batch:
            leaves = np.diff(space.tables.leaf_start)[group.public_class]
            for place in range(group.size):
                game = int(batch.order[group.games.start + place])
                asked = recorded.asked[(int(sample[game]) - 1) * (2 if alternating else 1)]
                first = int(batch.leaf_offset[group.number]) + place
                columns = asked[:, first : first + int(leaves) * group.size : group.size]
                found += [(game, leaf, columns[:, leaf]) for leaf in range(leaves)]
        found.sort(key=lambda one: one[:2])
        torch.testing.assert_close(queries.reaches.flatten(1), torch.stack([one[2] for one in found]))
        entering.add(round(float(result.sampled_reaches[:, 1 - player].sum()), 3))
    assert len(entering) == 2  # the gadget had an effect


def test_a_search_hands_in_as_many_queries_as_asked_on_average() -> None:
    space = game_space(load_game("pot_limit_leduc"), "round")
    search = BatchSearch(space, Recorded(space), SearchConfig("cfr+", 1, "round"))
    spots, generator = some_spots(space, 0, 400), np.random.default_rng(0)
    result = search.run(spots.public_class, spots.reach, np.ones(400, np.int64))
    least = min(4.5, float(np.diff(space.tables.leaf_start)[spots.public_class].min()))
    counts = [len(asked_queries(search, result, rate, generator).public_class) / 400 for rate in (0.5, least)]
    assert counts == pytest.approx([0.5, least], rel=0.15)
    assert len(asked_queries(search, result, 0.0, generator).public_class) == 0


@pytest.mark.parametrize(("player", "decomposition"), [(0, "cfr-d"), (1, "modified-cfr-ave")])
def test_inner_queries_are_what_a_shallower_search_asks(player: int, decomposition: str) -> None:
    """The state after one action is a leaf of a search of depth 1, with the same beliefs in the first iteration."""
    space = game_space(load_game("pot_limit_leduc"), "round")
    config, generator = SearchConfig("cfr+", 3, "round", decomposition), np.random.default_rng(1)
    spots = some_spots(space, player, 24)._replace(promised=None)
    first = np.ones(24, np.int64)
    deep = BatchSearch(space, RandomLeaves(space), config)
    inside = inner_queries(deep, resolve(deep, player, spots, True, first)[0], 1_000.0, generator)
    near = space.at_depth(1)
    shallow = BatchSearch(near, RandomLeaves(near), replace(config, depth=1))
    leaves = asked_queries(shallow, resolve(shallow, player, spots, True, first)[0], 1_000.0, generator)
    below = {(int(c), *reach.flatten().tolist()) for c, reach in zip(*inside, strict=True)}
    again = {(int(c), *reach.flatten().tolist()) for c, reach in zip(*leaves, strict=True)}
    begins_round = set(space.tables.leaf_class.tolist())
    expected = {one for one in again if one[0] not in begins_round}
    assert expected <= below
    assert len(expected) > 20
    assert {one[0] for one in below}.isdisjoint(begins_round)
    some = inner_queries(deep, resolve(deep, player, spots, True, first)[0], 0.5, generator)
    assert 0 < len(some.public_class) < 24
    none = inner_queries(deep, resolve(deep, player, spots, True, first)[0], 0.0, generator)
    assert none.reaches.shape == (0, *inside.reaches.shape[1:])


def test_openings_hand_in_their_share_of_queries() -> None:
    """Games that start together share searches, but each search still has as many leaves as its games ask queries."""
    space = game_space(load_game("pot_limit_leduc"), "round")
    search = BatchSearch(space, RandomLeaves(space), SearchConfig("cfr+", 1, "round"))
    leaves = int(np.diff(space.tables.leaf_start)[space.root_class[0]])
    for per_search in (leaves / 8, leaves / 3, leaves / 1.5):
        play = SoundSelfPlay(search, 120, 0.1, per_search, np.random.default_rng(0))
        found = play.advance().queries  # both seats search in all 120 games, which have just started
        assert len(found.public_class) / 240 == pytest.approx(per_search, rel=0.05)
    assert play.searches == 240  # a search with hardly enough leaves for its own game is not shared


def test_policies_are_averages_of_the_searches_of_games() -> None:
    """Each search gives one, at a decision of its tree, with the reaches that the gadget lets in."""
    space = game_space(load_game("pot_limit_leduc"), "round")
    search = BatchSearch(space, RandomLeaves(space), SearchConfig("cfr+", 5, "round"))
    play = SoundSelfPlay(search, 12, 0.1, 1.0, np.random.default_rng(0), policies=True)
    for _ in range(3):
        before = play.searches
        found = joined_examples(play.advance().policies)
        assert len(found.public_class) == play.searches - before
        legal = search.decisions.legal[found.public_class]
        assert not found.policy[~legal].any()
        totals = unquantise(found.policy).sum(2)[legal.any(2)]
        torch.testing.assert_close(totals, torch.ones_like(totals), rtol=0.0, atol=0.02)


def test_policies_of_openings_are_what_the_search_plays_there() -> None:
    space = game_space(load_game("pot_limit_leduc"), "round")
    search = BatchSearch(space, RandomLeaves(space), SearchConfig("cfr+", 5, "round"))
    found = joined_examples(SoundSelfPlay(search, 60, 0.1, 1.0, np.random.default_rng(0), policies=True).advance().policies)
    at_root = found.public_class == int(space.root_class[0])
    table, played = search.decisions.by_class[int(space.root_class[0])], resolving_strategy(search, at_decisions=True)
    expected = torch.from_numpy(played)[table.entries[0]] * table.legal[0]
    assert int(at_root.sum()) > 2
    for policy in found.policy[at_root]:
        torch.testing.assert_close(unquantise(policy), expected.float(), rtol=0.0, atol=0.003)


@pytest.mark.parametrize("name", ["pot_limit_leduc", "liars_dice(dice=1,faces=3)", "goofspiel(cards=3)"])
def test_a_public_move_is_a_search_tree_of_one_action(name: str) -> None:
    space = game_space(load_game(name), 1)
    search = BatchSearch(space, RandomLeaves(space), SearchConfig("cfr+", 3, 1))
    spots = some_spots(space, 0, 40)
    result = search.run(spots.public_class, spots.reach, np.full(40, 3))
    tables, played = search.decisions, result.average_strategy
    strategy = torch.zeros(40, *tables.legal.shape[1:])
    for group in result.batch:
        table = tables.by_class[group.public_class]
        there = result.batch.view(played, result.batch.entry_offset, group)[table.entries[0]] * table.legal[0][:, :, None]
        strategy[result.batch.order[group.games]] = there.permute(2, 0, 1)
    moves, classes = PublicMoves(space, "cpu"), torch.from_numpy(spots.public_class)
    chances = moves.chances(classes, spots.reach, strategy)
    leaves = leaf_chances(search, result.batch, played, spots.reach)
    torch.testing.assert_close(chances.sum(1), leaves.sum(1))
    for game in range(40):
        open_moves = torch.nonzero(moves._child_class[classes[game]] >= 0)[:, 0]
        torch.testing.assert_close(chances[game, open_moves], leaves[game, : len(open_moves)])
        if len(open_moves):
            one = slice(game, game + 1)
            followed = moves.follow(classes[one], spots.reach[one], strategy[one], open_moves[-1:])
            last = torch.tensor([len(open_moves) - 1])
            wanted = leaf_states(search, result.batch, played, spots.reach, last, torch.tensor([game]))
            torch.testing.assert_close(followed, wanted)


class Followed(SoundSelfPlay):
    """Self-play that compares what agents play with the exact policy of continual re-solving, at every public state."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        space = self.search.space
        self.node = np.zeros(len(self.game_class), np.int64)
        self.policy, self.tree = resolving_strategy(self.search, at_decisions=True), space.tree
        self.visited = dict[int, int]()
        self.moved: list[int] = []

    def _move(self, strategy: Tensor) -> None:
        nodes = self.tree.require_nodes()
        for game, node in enumerate(self.node):
            actor = int(nodes.actor[node])
            rows = np.arange(*nodes.row_start[actor][node : node + 2])
            infostates = self.tree.rows[actor].infostate[rows]
            for state, infostate in enumerate(infostates):
                entries = slice(*self.tree.entry_start[infostate : infostate + 2])
                if self.ranges[game, actor, state] > 1e-4:  # otherwise play does not matter and is not determined
                    played = strategy[game, state, : entries.stop - entries.start].numpy()
                    np.testing.assert_allclose(played, self.policy[entries], atol=2e-3)
            self.visited[int(node)] = self.visited.get(int(node), 0) + 1
        before = self.plan_class[:, 0].copy(), self.plan_node[:, 0].copy()
        super()._move(strategy)
        moves = self.plan_node[:, 0] - self._plans.child(*before, np.zeros(len(self.node), np.int64))
        self.moved += np.where(self.node == 0, np.where(self.fresh, -1, moves), -1)[self.node == 0].tolist()
        self.node = np.where(self.fresh, 0, nodes.first_child[self.node] + moves)
        for seat in (0, 1):
            classes = [
                self.search.space.subgames[c].node_class[n]
                for c, n in zip(self.plan_class[:, seat], self.plan_node[:, seat], strict=True)
            ]
            np.testing.assert_array_equal(classes, self.game_class)


@pytest.mark.parametrize(("name", "depth"), [("pot_limit_leduc", "round"), ("liars_dice(dice=1,faces=2)", 2)])
def test_self_play_is_by_the_exact_policy_of_re_solving(name: str, depth: int | str) -> None:
    """Ranges, promises and pointers of both agents are right, or one of their later searches would find another policy."""
    space = game_space(load_game(name), depth)
    search = BatchSearch(space, RandomLeaves(space), SearchConfig("cfr+", 20, depth))
    play = Followed(search, 48, 0.5, 1.0, np.random.default_rng(0))
    for _ in range(12):
        play.advance()
    decisions = np.flatnonzero(space.tree.require_nodes().actor >= 0)
    assert len(play.visited) > 0.5 * len(decisions)
    assert play.started > 48


def test_moves_mix_in_uniform_play() -> None:
    space = game_space(load_game("kuhn_poker"), None)
    search = BatchSearch(space, RandomLeaves(space), SearchConfig("cfr+", 60, None))
    bets = {}
    for mix in (0.0, 1.0):
        play = Followed(search, 120, mix, 1.0, np.random.default_rng(0))
        for _ in range(8):
            play.advance()
        bets[mix] = np.mean(np.array(play.moved) == 1)
    assert bets[1.0] == pytest.approx(0.5, abs=0.08)
    equilibrium = resolving_strategy(search, at_decisions=True)[[1, 3, 5]].mean()  # by Jack, Queen and King
    assert bets[0.0] == pytest.approx(equilibrium, abs=0.08)
    assert abs(equilibrium - 0.5) > 0.1


def test_queries_wait_their_turn_and_are_solved_without_a_gadget() -> None:
    space = game_space(load_game("pot_limit_leduc"), "round")
    search, generator = BatchSearch(space, RandomLeaves(space), SMOKE.search()), np.random.default_rng(0)
    source = RandomSituations(search, 20, generator)
    drawn = source.advance().queries
    assert set(drawn.public_class.tolist()) <= set(space.tables.leaf_class.tolist())
    buffer = QueryBuffer(space.tables.num_private_states, "cpu")
    buffer.add(drawn)
    buffer.add(source.advance().queries)
    first = buffer.take(20)
    torch.testing.assert_close(first, drawn)
    assert len(buffer) == 20
    examples, (more, policies) = solve_queries(search, first, 2.0, generator)
    result = search.run(first.public_class.numpy(), first.reaches, np.ones(20, np.int64))
    torch.testing.assert_close(examples.values, result.values.flatten(1), equal_nan=True)
    assert len(more.public_class) == 0  # the second round ends the game
    assert policies == []
    spots = some_spots(space, 0, 20)
    _, (more, _) = solve_queries(
        search, drawn._replace(public_class=torch.from_numpy(spots.public_class), reaches=spots.reach), 2.0, generator
    )
    assert len(more.public_class) == 40


def test_recursive_queries_do_not_crowd_out_self_play() -> None:
    """Each solved query asks three more, so ever more would wait; yet the next cycle begins with self-play."""
    config = SMOKE.with_settings({"recursive_queries": "3", "cycle_queries": "64", "depth": "1"})
    trainer = SogTrainer(load_game("liars_dice(dice=1,faces=3)"), config)
    assert isinstance(trainer.source, SoundSelfPlay)
    for _ in range(2):
        before = trainer.source.searches
        trainer.run_epoch()
        assert trainer.source.searches > before
        assert len(trainer.buffer) <= 64


@pytest.mark.parametrize("system", [SOG, DEEPSTACK])
def test_a_killed_run_ends_like_one_that_was_not(system: Any, tmp_path: Path) -> None:
    inside = {"inner_queries": "1"} if system is SOG else {}
    game, config = "liars_dice(dice=1,faces=3)", system.presets["smoke"].with_settings({"epochs": "4", **inside})
    straight, cut = (RunFolder(tmp_path / name, system) for name in ("straight", "cut"))
    whole = SogTrainer(load_game(game), config)
    train(whole, straight)
    part = SogTrainer(load_game(game), config)
    train(part, cut, should_stop=lambda: part.epoch == 2)
    later = load_trainer(cut)
    assert later.epoch == 2
    train(later, cut)
    ours, theirs = whole.state()[0], later.state()[0]
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor, theirs[name], rtol=0.0, atol=0.0, equal_nan=True, msg=name)
    for mine, other in zip(straight.history(), cut.history(), strict=True):
        assert (mine.loss, mine.validation_loss, mine.exploitability, mine.policy_loss) == (
            other.loss,
            other.validation_loss,
            other.exploitability,
            other.policy_loss,
        )
    assert any(name.startswith("policies.") for name in ours) == (system is SOG)


def test_games_without_rounds_look_two_actions_ahead() -> None:
    assert SogConfig().depth_in(load_game("pot_limit_leduc")) == "round"
    assert SogConfig().depth_in(load_game("liars_dice(dice=1,faces=3)")) == 2
    assert SogConfig(depth=3).depth_in(load_game("liars_dice(dice=1,faces=3)")) == 3


def test_settings_are_checked() -> None:
    for key, value, message in (
        ("solver", "fp", "solver must be one of cfr, .*pcfr. .re-solving needs regret matching., not 'fp'"),
        ("updates", "sometimes", "updates must be one of simultaneous, alternating, not 'sometimes'"),
        ("mix", "2", "mix must be between 0 and 1"),
        ("policies", "some", "policies must be one of none, games, all, not 'some'"),
        ("inner_queries", "-1", "inner_queries must be at least 0"),
        ("queries_per_search", "0", "queries_per_search must be positive"),
        ("cycle_queries", "-1", "cycle_queries must be at least 0"),
        ("evaluate_every", "-2", "evaluate_every must be at least -1"),
        ("warm_up", "0.5", "values leaves at averages, which a warm-up leaves empty"),
        ("decomposition", "cfr-ave", "needs exact values of leaves"),
    ):
        with pytest.raises(TacitError, match=message):
            SMOKE.with_settings({key: value})
    assert DeepstackConfig.system == "deepstack"
    for key in ("mix", "queries_per_search", "recursive_queries", "inner_queries", "policies"):
        with pytest.raises(TacitError, match=f"unknown setting '{key}'"):
            DEEPSTACK.presets["smoke"].with_settings({key: "1"})


def test_train_evaluate_and_match_by_command(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    trained = command("train", "sog", "kuhn_poker", "--run", run, "--preset", "smoke", "--set", "depth=1")
    assert trained.returncode == 0, trained.stderr
    assert "exploitability of re-solving" in trained.stdout
    judged = tacit.open(run).evaluate(iterations=10)
    assert (judged.kind, judged.details["safety"]) == ("exact", "re-solving")
    assert judged.figure == pytest.approx(RunFolder(run, SOG).history()[-1].exploitability, abs=1e-6)
    match = command("match", run, "random", "--game", "kuhn_poker", "--hands", "4", "--iterations", "10", "--json")
    assert match.returncode == 0, match.stderr
    other = command("train", "deepstack", "kuhn_poker", "--run", run, "--preset", "smoke", "--resume")
    assert other.returncode == 2
    hidden = command("train", "sog", "openspiel:phantom_ttt", "--run", str(tmp_path / "none"))
    assert (hidden.returncode, hidden.stderr.count("\n")) == (2, 1)


@pytest.mark.slow
def test_it_learns_pot_limit_leduc(tmp_path: Path) -> None:
    """In thousandths of the ante, search with leaves worth nothing has about 480, and CFR-D with exact leaves 11."""
    config = PRESETS["cpu"].with_settings({"epochs": "6", "evaluate_every": "0"})
    trainer = SogTrainer(load_game("pot_limit_leduc"), config)
    last = train(trainer, RunFolder(tmp_path, SOG))
    assert last.exploitability is not None
    assert trainer.game.in_units(last.exploitability)["mbb"] < 12.0


def test_a_game_that_searches_see_to_its_end_is_refused() -> None:
    for system in (SOG, DEEPSTACK):
        with pytest.raises(TacitError, match="see kuhn_poker to its end"):
            system.trainer(load_game("kuhn_poker"), replace(system.presets["smoke"], depth=3), "cpu")
