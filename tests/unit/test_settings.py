"""Settings: each states its meaning and valid values once, and the sizes of a run follow from the work of its game."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tacit.cli.looks import variants
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.learning.fit import EPOCH_WORK, fit_count, search_work
from tacit.nfsp.config import DQN_PRESETS
from tacit.nfsp.config import PRESETS as NFSP_PRESETS
from tacit.nfsp.tabular.engine import fit_reward_unit
from tacit.rebel.config import preset
from tacit.rebel.sizes import fit_sizes
from tacit.search.search import BatchSearch
from tacit.search.workload import leaf_sizes, mean_sizes
from tacit.sog.config import DEEPSTACK_PRESETS, QueryConfig
from tacit.sog.config import PRESETS as SOG_PRESETS
from tacit.sog.sizes import fit_sizes as fit_query_sizes
from tacit.training.names import SYSTEMS
from tacit.training.ranges import Choice, Number, Switch, Text
from tacit.training.settings import allowed_values, setting_meanings
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import game_space
from tests.command import tacit

KINDS = [(name, kind) for name in SYSTEMS for kind in variants(name)]


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_every_setting_has_a_meaning_and_a_range_and_refuses_what_is_outside(name: str, kind: str) -> None:
    system = variants(name)[kind]
    allowed, meanings = allowed_values(system.config), setting_meanings(system.config)
    base = system.presets["cpu"]
    for field in fields(system.config):
        meaning, values = meanings[field.name], allowed[field.name]
        assert meaning[0].isupper() or meaning.startswith("`"), f"{field.name}: {meaning}"
        assert meaning.endswith("."), f"{field.name}: {meaning}"
        assert values.fits(getattr(base, field.name))
        with pytest.raises(TacitError) as refused:
            replace(base, **{field.name: _outside(values)})
        assert str(refused.value).startswith(f"{field.name} must be {values}, not ")
        assert "\n" not in str(refused.value)


def _outside(values: object) -> Any:
    if isinstance(values, Number):
        return values.above if values.above > -1.0 else values.least - 1
    assert isinstance(values, Choice | Switch | Text)
    return "7-0-x" if isinstance(values, Text) else "nonsense"


@pytest.mark.parametrize(
    ("values", "text", "fits", "words"),
    [
        (Number(int, 1), "3", True, "at least 1"),
        (Number(int, 1), "0", False, "at least 1"),
        (Number(int, 1, word="round"), "round", True, "at least 1, or round"),
        (Number(int, 1), "2.5", None, "at least 1"),
        (Number(float, 0, 1), "1.0", True, "between 0 and 1"),
        (Number(float, 0, 1), "1.01", False, "between 0 and 1"),
        (Number(float, above=0), "0", False, "positive"),
        (Number(float, above=0), "inf", False, "positive"),
        (Number(float, 0), "nan", False, "at least 0"),
        (Choice("a", "b"), "c", False, "one of a, b"),
        (Switch(), "false", True, "true or false"),
        (Switch(), "no", None, "true or false"),
    ],
)
def test_ranges_read_and_check(values: Any, text: str, fits: bool | None, words: str) -> None:
    assert str(values) == words
    if fits is None:
        with pytest.raises(ValueError, match=text):
            values.read(text)
    else:
        assert values.fits(values.read(text)) == fits


def test_numbers_are_not_taken_for_switches_or_words() -> None:
    assert not Number(int, 0).fits(True)
    assert not Number(int, 0).fits("0")
    assert not Number(int, 0).fits(1.0)
    assert Number(float, 0).fits(1)
    assert not Switch().fits(1)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "pot_limit_leduc", "liars_dice(dice=1,faces=4)"])
def test_games_of_the_readme_keep_their_sizes(name: str) -> None:
    fitted = fit_sizes(preset("cpu"), _search(name))
    assert (fitted.games, fitted.epoch_examples, fitted.epochs, fitted.playthroughs) == (512, 4_096, 100, 64)


def _search(name: str) -> BatchSearch:
    config = preset("cpu")
    return BatchSearch(game_space(load_game(name), config.depth), None, config.search())  # type: ignore[arg-type]


def test_large_searches_make_short_epochs_of_a_run_as_long() -> None:
    search = _search("liars_dice(dice=1,faces=4)")
    large = replace(preset("cpu"), iterations=128 * 16)
    work = search_work(large, search, *mean_sizes(search))
    fitted = fit_sizes(large, search)
    assert fitted.epoch_examples * work <= EPOCH_WORK < 2 * fitted.epoch_examples * work
    assert (fitted.epoch_examples, fitted.games, fitted.epochs) == (1_024, 512, 400)
    huge = fit_sizes(replace(large, iterations=10**7), search)
    assert (huge.epoch_examples, huge.games, huge.playthroughs) == (32, 32, 4)
    given = fit_sizes(replace(large, games=7, epochs=3, epoch_examples=99), search)
    assert (given.games, given.epochs, given.epoch_examples) == (7, 3, 99)
    assert fit_count(64, 1.0, 10.0, 1) == 8


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "pot_limit_leduc"])
@pytest.mark.parametrize("presets", [SOG_PRESETS, DEEPSTACK_PRESETS])
def test_small_games_keep_the_sizes_of_student_of_games(name: str, presets: dict[str, QueryConfig]) -> None:
    fitted = fit_query_sizes(presets["cpu"], _query_search(name))
    assert (fitted.cycle_queries, fitted.games, fitted.epochs, fitted.evaluate_every) == (4_096, 512, 24, 4)
    assert fit_query_sizes(presets["smoke"], _query_search(name)) == presets["smoke"]


def _query_search(name: str) -> BatchSearch:
    game, config = load_game(name), SOG_PRESETS["cpu"]
    return BatchSearch(game_space(game, config.depth_in(game)), None, config.search_in(game))  # type: ignore[arg-type]


def test_large_searches_make_short_cycles_of_student_of_games() -> None:
    """Each game asks `queries_per_search` queries in a cycle, and larger evaluations are rarer."""
    search = _query_search("liars_dice(dice=1,faces=6)")
    fitted = fit_query_sizes(SOG_PRESETS["cpu"], search)
    assert (fitted.cycle_queries, fitted.games, fitted.epochs) == (512, 64, 192)
    decisions = int((search.space.tree.require_nodes().actor >= 0).sum())
    assert fitted.evaluate_every == -(-decisions // 512) > 4
    assert fit_query_sizes(DEEPSTACK_PRESETS["cpu"], search).games == 512
    given = replace(SOG_PRESETS["cpu"], games=7, cycle_queries=99, epochs=3, evaluate_every=0)
    assert fit_query_sizes(given, search) == given
    assert leaf_sizes(search)[0] > mean_sizes(search)[0]  # self-play visits late public states more often than any other


def test_the_sizes_of_searches_at_leaves_are_a_mean_over_their_classes() -> None:
    """Kuhn with searches of one action: leaves follow a pass (one leaf below, after a bet), a bet, and a pass and a bet."""
    search = BatchSearch(game_space(load_game("kuhn_poker"), 1), None, replace(preset("cpu"), depth=1).search())  # type: ignore[arg-type]
    assert leaf_sizes(search)[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("name", "unit"), [("kuhn_poker", 1.0), ("leduc_poker", 1.0), ("pot_limit_leduc", 663.75 / 3.359375)])
def test_rewards_are_about_as_large_as_those_of_leduc(name: str, unit: float) -> None:
    for config in (NFSP_PRESETS["cpu"], NFSP_PRESETS["smoke"], DQN_PRESETS["cpu"]):
        assert fit_reward_unit(config, compile_game(load_game(name))).reward_unit == pytest.approx(unit)
    assert fit_reward_unit(NFSP_PRESETS["paper"], compile_game(load_game(name))).reward_unit == 26.0


def test_the_mean_size_of_a_search_is_that_of_random_games() -> None:
    """Kuhn with searches of one action: pass or bet, then a search at the leaf, and so on to the end, by hand.

    Every search sees one action of one player. Games start over at the leaves of the first search: after a pass or a bet,
    half of the time each. After a pass, a bet (half of the time) leads to one more search, which ends the game.
    """
    search = BatchSearch(game_space(load_game("kuhn_poker"), 1), None, replace(preset("cpu"), depth=1).search())  # type: ignore[arg-type]
    leaves, rows = mean_sizes(search)
    # Visits: 1/2 after a pass (one leaf below: pass, bet), 1/2 after a bet (none), 1/4 after pass and bet (none).
    assert leaves == pytest.approx((1 / 2 * 1) / (1 / 2 + 1 / 2 + 1 / 4), abs=1e-6)
    assert rows > 0


def test_settings_are_listed_with_the_values_of_a_game() -> None:
    report = json.loads(tacit("train", "rebel", "kuhn_poker", "--settings", "--json", "--set", "hidden=64").stdout)
    (system,) = report["systems"]
    found = {setting["name"]: setting for setting in system["settings"]}
    assert (found["games"]["default"], found["games"]["value"]) == (0, 512)
    assert (found["hidden"]["default"], found["hidden"]["value"], found["hidden"]["range"]) == (
        128,
        64,
        "a whole number, at least 1",
    )
    assert found["iterations"]["presets"] == {"paper": 512, "cpu": 128, "gpu": 256, "smoke": 8}
    people = tacit("train", "nfsp", "--settings").stdout
    assert "anticipation=0.2\n    How often a player follows its best response" in people
    assert "[a number, between 0 and 1; paper 0.1]" in people
    assert "nfsp (limit hold'em): 21 settings" in people


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rebel",), "name a game: tacit games lists them (or add --settings to see what can be set)"),
        (("rebel", "kuhn_poker"), "name a folder for the run: --run DIR (or add --settings to see what can be set)"),
        (
            ("alphazero", "--settings"),
            "unknown system 'alphazero': choose one of " + ", ".join(SYSTEMS) + ", or write FILE.py:SYSTEM",
        ),
        (("rebel", "--settings", "--preset", "laptop"), "unknown preset 'laptop': choose one of paper, cpu, gpu, smoke"),
        (("rebel", "--settings", "--set", "hidden=3"), "--settings shows what --set changes for a game: name one"),
        (("rebel", "nope", "--settings"), None),
        (("rebel", "kuhn_poker", "--settings", "--set", "hidden=0"), "hidden must be at least 1, not 0"),
        (("rebel", "kuhn_poker", "--settings", "--set", "hidden"), "cannot read the setting 'hidden': write key=value"),
        (("rebel", "kuhn_poker", "--settings", "--set", "width=3"), None),
        (("dqn", "kuhn_poker", "--settings", "--preset", "gpu"), "unknown preset 'gpu': choose one of paper, cpu, smoke"),
    ],
)
def test_wrong_uses_of_the_list_get_one_line(arguments: tuple[str, ...], message: str | None, tmp_path: Path) -> None:
    done = tacit("train", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message is None or done.stderr == f"tacit: {message}\n"
    assert not list(tmp_path.iterdir())
