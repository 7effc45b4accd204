"""ReBeL: the replay buffer, evaluation and learning."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tacit.errors import TacitError
from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.learning.examples import ValueExamples, policy_examples, quantise, unquantise
from tacit.learning.random_beliefs import RandomBeliefs
from tacit.learning.replay import ReplayBuffer
from tacit.leaves.evaluators import ZeroLeaves
from tacit.rebel.config import PRESETS, preset
from tacit.rebel.selfplay import SelfPlay
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelTrainer
from tacit.search.config import SearchConfig
from tacit.search.decisions import DecisionTables
from tacit.search.groups import GroupPasses, make_kernels
from tacit.search.playthroughs import playthrough_quality
from tacit.search.search import BatchSearch
from tacit.search.warm import follow_policy
from tacit.solvers.driver import Driver
from tacit.solvers.schedules import plain_schedule
from tacit.training.folder import RunFolder
from tacit.training.run import train
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space
from tests.random_games import RandomGame
from tests.trained import load_search


def examples(numbers: range) -> ValueExamples:
    values = torch.tensor([[float(n)] * 2 for n in numbers])
    return ValueExamples(torch.tensor(list(numbers)), values, values)


def test_the_buffer_is_a_circle_and_drops_its_older_half() -> None:
    buffer = ReplayBuffer(ValueExamples, 8)
    buffer.add(examples(range(5)))
    buffer.add(examples(range(5, 11)))
    assert (len(buffer), buffer.added) == (8, 11)
    drawn = buffer.sample(500, torch.Generator().manual_seed(0))
    assert set(drawn.public_class.tolist()) == set(range(3, 11))
    np.testing.assert_array_equal(drawn.values[:, 0], drawn.public_class)
    buffer.drop_oldest_half()
    assert set(buffer.sample(500, torch.Generator().manual_seed(0)).public_class.tolist()) == {7, 8, 9, 10}
    buffer.add(examples(range(11, 13)))
    assert set(buffer.sample(500, torch.Generator().manual_seed(0)).public_class.tolist()) == {7, 8, 9, 10, 11, 12}


def test_without_leaves_playthroughs_average_to_the_average_strategy() -> None:
    """Where search sees the whole game, random iterations average to the average strategy."""
    space = search_space(compile_game(load_game("kuhn_poker")), None)
    search = BatchSearch(space, ZeroLeaves(), SearchConfig("linear-cfr", 60, None))
    quality = playthrough_quality(search, 4_000, np.random.default_rng(0))
    assert quality.value == pytest.approx(-1 / 18, abs=0.02)
    assert quality.exploitability < 0.03
    few = playthrough_quality(search, 3, np.random.default_rng(0))
    assert few.exploitability > quality.exploitability


def test_settings_are_checked() -> None:
    assert preset("cpu").with_settings({"games": "12"}).games == 12
    with pytest.raises(TacitError, match="unknown setting 'game'"):
        preset("cpu").with_settings({"game": "12"})
    with pytest.raises(TacitError, match="games must be a whole number, at least 0, not 'many'"):
        preset("cpu").with_settings({"games": "many"})
    with pytest.raises(TacitError, match="counts as 15 iterations"):
        preset("smoke").with_settings({"warm_start_at": "1"})
    with pytest.raises(TacitError, match="unknown preset"):
        preset("laptop")
    for key in ("batch_size", "hidden", "layers", "replay_size"):
        with pytest.raises(TacitError, match=f"{key} must be at least 1, not 0"):
            preset("cpu").with_settings({key: "0"})
    for key, value, message in (
        ("iterations", "0", "iterations must be at least 1, not 0"),
        ("depth", "0", "depth must be at least 1, or round, not 0"),
        ("exploration", "3", "exploration must be between 0 and 1"),
        ("ratio", "-1", "ratio must be positive"),
        ("learning_rate", "nan", "learning_rate must be positive, not nan"),
        ("decomposition", "cfr-ave", "one of cfr-d, modified-cfr-ave .cfr-ave needs exact values of leaves"),
    ):
        with pytest.raises(TacitError, match=message):
            preset("cpu").with_settings({key: value})
    assert {"cpu", "gpu", "paper", "smoke"} <= PRESETS.keys()


@pytest.mark.parametrize(
    ("name", "epochs"), [pytest.param("kuhn_poker", 60, marks=pytest.mark.slow), ("liars_dice(dice=1,faces=3)", 20)]
)
def test_rebel_learns_in_seconds(name: str, epochs: int, tmp_path: Path) -> None:
    """A short run must be far better than uniform play, and than search with leaves worth nothing."""
    settings = {"games": "256", "epoch_examples": "1024", "epochs": str(epochs), "hidden": "64", "evaluate_every": "0"}
    trainer = RebelTrainer(load_game(name), preset("cpu").with_settings({**settings, "iterations": "32"}))
    train(trainer, RunFolder(tmp_path, REBEL))
    found = trainer.evaluate(64)
    tree = trainer.space.tree
    uniform = evaluate(make_passes(tree), tree.uniform_strategy()).exploitability
    blind = BatchSearch(trainer.space, ZeroLeaves(), trainer.config.search())
    assert found < 0.1 * uniform
    assert found < 0.6 * playthrough_quality(blind, 64, np.random.default_rng(0)).exploitability
    assert (tmp_path / "metrics.jsonl").read_text().count("\n") == epochs


def test_shipped_networks_fit_their_games_and_play_well() -> None:
    for name, faces in (("liars_dice_1x4f", 4), ("liars_dice_1x5f", 5)):
        search = load_search(f"pretrained:{name}", "dcfr", 32)
        assert str(search.space.tree.game) == f"liars_dice(dice=1,faces={faces})"
    quality = playthrough_quality(load_search("pretrained:liars_dice_1x4f", "dcfr", 64), 16, np.random.default_rng(0))
    assert quality.exploitability < 0.1  # uniform play: 0.655


def test_self_play_starts_from_every_public_deal_as_often_as_it_happens() -> None:
    space = search_space(compile_game(RandomGame(seed=3, length=3, roots=3)), 1)
    nodes = space.tree.require_nodes()
    assert nodes.num_roots == 3
    games = 6_000
    play = SelfPlay(BatchSearch(space, ZeroLeaves(), SearchConfig("cfr+", 2, 1)), games, 0.25, np.random.default_rng(0))
    chances = np.array([nodes.joint(root).sum() for root in range(3)])
    assert chances.sum() == pytest.approx(1.0)
    for root_class in set(space.classes.of_node[:3]):
        expected = chances[space.classes.of_node[:3] == root_class].sum()
        assert np.mean(play.game_class == root_class) == pytest.approx(expected, abs=0.03)
    for _ in range(3):  # games go on, end and start again with proper beliefs
        play.advance()
        np.testing.assert_allclose(play.reaches.sum(2), 1.0, atol=1e-4)


def test_random_beliefs_are_where_searches_start() -> None:
    """The other way to make training states (ReBeL, Figure 2): every class that a search can start from, random beliefs."""
    space = search_space(compile_game(load_game("liars_dice(dice=1,faces=4)")), 2)
    search = BatchSearch(space, ZeroLeaves(), SearchConfig("cfr+", 2, 2))
    drawn = RandomBeliefs(search, 2_000, np.random.default_rng(0))
    starts = {0} | set(space.tables.leaf_class[: space.tables.leaf_start[1]].tolist())
    examples, _ = drawn.advance()
    assert set(examples.public_class.tolist()) == starts  # player 0 acts there: other classes lie inside searches
    torch.testing.assert_close(examples.beliefs.view(-1, 2, 4).sum(2), torch.ones(2_000, 2))
    # Uniform over the simplex: each belief has mean 1/4 and variance 3/80.
    assert float(examples.beliefs.mean()) == pytest.approx(0.25, abs=1e-6)
    assert float(examples.beliefs.var()) == pytest.approx(3 / 80, rel=0.1)


def test_policies_are_kept_in_bytes() -> None:
    policy = torch.rand(1_000, 3, 4, generator=torch.Generator().manual_seed(0))
    kept = quantise(policy)
    assert kept.dtype == torch.uint8
    assert float((unquantise(kept) - policy).abs().max()) <= 0.5 / 255 + 1e-6
    exact = torch.tensor([0.0, 1.0, 0.2, 0.6])
    torch.testing.assert_close(unquantise(quantise(exact)), exact)


def test_policy_examples_are_what_search_would_play_there() -> None:
    """A search that sees all of Kuhn poker gives its policy after the bet, with the beliefs that the bet leads to."""
    space = search_space(compile_game(load_game("kuhn_poker")), None)
    search = BatchSearch(space, ZeroLeaves(), SearchConfig("dcfr", 300, None))
    reaches = torch.full((200, 2, 3), 1 / 3)
    result = search.run(np.zeros(200, np.int64), reaches, np.ones(200, np.int64))
    found = policy_examples(search, result, reaches, np.random.default_rng(0))
    strategy = np.zeros(space.tree.num_entries)
    strategy[space.subgame_at(0).entry_index] = result.average_strategy.view(-1, 200)[:, 0].numpy()
    assert evaluate(make_passes(space.tree), strategy).exploitability < 0.005
    bet_share = strategy.reshape(-1, 2)[:3, 1]  # by the first player's card at the start, where it passes or bets
    root = found.public_class == 0
    assert 20 < int(root.sum()) < 80  # four equally likely decisions
    torch.testing.assert_close(
        unquantise(found.policy[root][0])[:, 1], torch.from_numpy(bet_share).float(), atol=0.003, rtol=0.0
    )
    expected = torch.from_numpy(bet_share / bet_share.sum()).float()
    gaps = (found.beliefs[:, :3] - expected).abs().amax(1)
    after_the_bet = found.public_class[gaps < 1e-3]
    assert len(after_the_bet) > 20
    assert len(set(after_the_bet.tolist())) == 1
    torch.testing.assert_close(found.beliefs[:, 3:][gaps < 1e-3], torch.full((len(after_the_bet), 3), 1 / 3))


@pytest.mark.slow
def test_a_policy_network_learns_beside_the_values_and_starts_searches(tmp_path: Path) -> None:
    """The network alone, without any search, must already play far better than random."""
    settings = {"games": "256", "epoch_examples": "1024", "epochs": "40", "hidden": "64", "evaluate_every": "0"}
    config = preset("cpu").with_settings({**settings, "iterations": "32", "warm_start_at": "20"})
    trainer = RebelTrainer(load_game("kuhn_poker"), config)
    last = train(trainer, RunFolder(tmp_path, REBEL))
    assert trainer.search.policy is not None
    assert last.policy_loss is not None
    assert last.policy_loss < 0.02
    assert trainer.evaluate(64) < 0.06

    search = load_search(tmp_path, "dcfr", 32)
    assert search.policy is not None
    whole = search_space(trainer.space.tree, None)
    passes = GroupPasses(whole, make_kernels(whole, "cpu"), np.zeros(1, np.int64), torch.full((1, 2, 3), 1 / 3))
    driver = Driver(passes, plain_schedule("cfr"))
    follow_policy(driver, passes, DecisionTables(whole, "cpu"), search.policy)
    strategy = np.zeros(whole.tree.num_entries)
    strategy[whole.subgame_at(0).entry_index] = driver.strategy.numpy()
    uniform = evaluate(make_passes(whole.tree), whole.tree.uniform_strategy()).exploitability
    assert evaluate(make_passes(whole.tree), strategy).exploitability < 0.35 * uniform
