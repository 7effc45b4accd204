"""Games that are not compiled: search, training and evaluation from their rules alone."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tacit import artifacts
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.learning.returns import typical_return
from tacit.rebel.config import preset
from tacit.rebel.network_error import network_error
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelTrainer
from tacit.search.best_response import best_response_bound, max_bound_searches
from tacit.training.folder import RunFolder
from tacit.training.run import load_trainer, open_run, train
from tacit.tree import search_space as tables
from tacit.tree.compiler import compile_game, has_direct_builder
from tacit.tree.estimate import can_expand, fits_memory
from tacit.tree.search_space import game_space, search_space

DICE = "liars_dice(dice=2,faces=2)"


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every game count as too large to compile."""
    monkeypatch.setattr(tables, "fits_memory", lambda *_: False)
    monkeypatch.setattr(tables, "compile_game", lambda game: pytest.fail(f"{game} was compiled"))


def test_which_games_are_compiled_and_which_are_expanded() -> None:
    for name, fits, expands in (
        (DICE, True, True),
        ("liars_dice(dice=2,faces=6)", False, True),
        ("goofspiel(cards=10)", False, False),  # every public state is its own class
        ("no_limit_holdem", False, False),  # 1,326 hands each
    ):
        game = load_game(name)
        assert fits_memory(game, has_direct_builder(game)) == fits
        assert can_expand(game) == expands
    assert game_space(load_game(DICE), 2).compiled
    with pytest.raises(TacitError, match=r"goofspiel.* does not fit: about .* histories need"):
        game_space(load_game("goofspiel(cards=10)"), 1)


@pytest.mark.parametrize("beliefs", ["self-play", "random"])
def test_training_from_the_rules_is_training_from_the_tree(beliefs: str, request: pytest.FixtureRequest) -> None:
    """The weights are equal: classes, subgames and roots are the same, so everything that follows is."""
    config = preset("smoke").with_settings({"epochs": "2", "beliefs": beliefs, "warm_start_at": "1", "iterations": "20"})
    from_tree = RebelTrainer(load_game(DICE), config)
    request.getfixturevalue("no_room")
    from_rules = RebelTrainer(load_game(DICE), config)
    assert from_tree.space.compiled
    assert not from_rules.space.compiled
    for _ in range(2):
        assert from_tree.run_epoch().loss == from_rules.run_epoch().loss
    for name, weight in from_tree.weights().items():
        torch.testing.assert_close(weight, from_rules.weights()[name], rtol=0.0, atol=0.0)
    bounds = [best_response_bound(t.search, 8, np.random.default_rng(0)) for t in (from_tree, from_rules)]
    assert bounds[0] == bounds[1]
    assert bounds[0].exploitability == pytest.approx(from_tree.evaluate(128), rel=0.1)


def test_a_run_from_the_rules_is_judged_by_a_lower_bound_and_goes_on(no_room: None, tmp_path: Path) -> None:
    config, whole = preset("smoke").with_settings({"epochs": "2"}), RunFolder(tmp_path / "whole", REBEL)
    train(open_run(whole, DICE, config), whole)
    lines = [json.loads(line) for line in whole.metrics.read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["lower bound"] * 2
    assert all(line["margin"] > 0 for line in lines)
    assert lines[-1]["playthroughs"] == config.playthroughs

    halved = RunFolder(tmp_path / "halved", REBEL)
    stops = iter([True, False])
    train(open_run(halved, DICE, config), halved, should_stop=lambda: next(stops))
    again = load_trainer(halved)
    assert again.epoch == 1
    train(again, halved)
    assert halved.network.read_bytes()[-1000:] == whole.network.read_bytes()[-1000:]
    assert [e.exploitability for e in halved.history()] == [e.exploitability for e in whole.history()]

    trained = artifacts.open(str(whole.path))
    assert trained.metrics == ("best-response",)
    bound = trained.evaluate(iterations=config.iterations, playthroughs=config.playthroughs)
    assert bound.figure == pytest.approx(lines[-1]["exploitability"], abs=1e-6)
    assert bound.kind == "lower bound"
    with pytest.raises(TacitError, match="exploitability"):
        trained.evaluate("exploitability")


def test_exact_figures_are_refused(no_room: None) -> None:
    space = game_space(load_game(DICE), 2)
    trainer = RebelTrainer(load_game(DICE), preset("smoke"))
    with pytest.raises(TacitError, match="no exact figures can be given"):
        trainer.evaluate(4)
    with pytest.raises(TacitError, match="no exact figures can be given"):
        network_error(trainer.values.net, space, trainer.config, 4, np.random.default_rng(0))


@pytest.mark.parametrize("name", [DICE, "kuhn_poker", "leduc_poker"])
def test_typical_returns_of_random_games_are_near_the_exact_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game(name)
    exact = typical_return(search_space(compile_game(game), 1))
    monkeypatch.setattr(tables, "fits_memory", lambda *_: False)
    assert typical_return(game_space(game, 1)) == pytest.approx(exact, rel=0.06)


def test_the_most_searches_of_a_bound(no_room: None) -> None:
    """In dice with 8 bids a game has at most 9 actions, so searches of two actions start after 0, 2, 4, 6 and 8 of them."""
    assert max_bound_searches(game_space(load_game(DICE), 2), 10) == 10 * 8 * 5
    assert max_bound_searches(game_space(load_game(DICE), None), 10) == 10 * 8


def test_the_epoch_ends_when_the_time_is_up() -> None:
    trainer = RebelTrainer(load_game(DICE), preset("smoke").with_settings({"epoch_examples": "100000"}))
    trainer.finish_by = 3.0
    ticks = iter(range(1000))
    progress = trainer.run_epoch(lambda: float(next(ticks)))
    assert 0 < progress.examples < 1_000
