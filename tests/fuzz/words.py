"""Targets that are texts: command-line arguments, form fields of the browser app, and names of games."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.target import Prepared, Target, first_refusal

OWN_GAME = '''
from dataclasses import dataclass
from tacit import TacitError
from tests.fuzz.lies import Guess

@dataclass(frozen=True)
class Mine(Guess):
    """A coin that somebody guesses."""
    name = "mine"
    sides: int = 2
    label: str | None = None
    weight: float = 1.0

    def __post_init__(self):
        if self.sides > 1_000:  # its own loops over so many sides are not ours to bound
            raise TacitError("too many sides")
'''


def _text(data: bytes) -> str:
    """Returns an input as a program's arguments arrive: bytes that are not UTF-8 become lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def _target(name: str, seeds: tuple[str, ...], reader: Callable[[Path], Callable[[str], object]], **bounds: float) -> Target:
    """Returns a target whose input is a text."""

    def prepare(folder: Path) -> Prepared:
        read = reader(folder)
        return Prepared(tuple(os.fsencode(seed) for seed in seeds), lambda data: read(_text(data)))

    return Target(name, prepare, **bounds)  # type: ignore[arg-type]


def _games(folder: Path) -> Callable[[str], object]:
    from tacit.games import load_game

    def read(text: str) -> None:
        if ".py" not in text and not text.startswith("openspiel:"):
            game = load_game(text)
            str(game), game.parameters, game.initial_state()

    return read


def _own_games(folder: Path) -> Callable[[str], object]:
    from tacit.games import load_game

    (folder / "mine.py").write_text(OWN_GAME)
    (folder / "broken.py").write_text("class Mine(:\n")
    (folder / "raises.py").write_text("raise KeyError('on purpose')\n")
    os.chdir(folder)

    def read(text: str) -> None:
        if ":" in text and not text.startswith("openspiel:"):
            load_game(text)

    return read


def _spiel_games(folder: Path) -> Callable[[str], object]:
    from tacit.games import load_game

    return lambda text: load_game(f"openspiel:{text}")


def _opened(folder: Path) -> Callable[[str], object]:
    from tacit import artifacts

    (folder / "text").write_text("no network")
    (folder / "empty").mkdir()
    os.chdir(folder)
    # Names that train or solve when opened are skipped: they take too long.
    return lambda text: artifacts.open(text, "kuhn_poker") if text.strip() != "default" and ".py" not in text else None


def _settings(folder: Path) -> Callable[[str], object]:
    from tacit.blueprint.system import BLUEPRINT
    from tacit.games import load_game
    from tacit.nfsp.system import DQN, nfsp_system
    from tacit.rebel.holdem.system import REBEL_HOLDEM
    from tacit.rebel.system import REBEL
    from tacit.sog.boards.system import SOG_BOARDS
    from tacit.sog.system import DEEPSTACK, SOG

    nfsp = [nfsp_system(load_game(name)) for name in ("kuhn_poker", "limit_holdem")]
    systems = [BLUEPRINT, DQN, REBEL_HOLDEM, REBEL, SOG_BOARDS, DEEPSTACK, SOG, *nfsp]

    def read(text: str) -> None:
        pairs = (part.partition("=") for part in text.split(";"))
        settings = {key: value for key, _, value in pairs}
        configs = [system.presets["cpu"] for system in systems]
        first_refusal(partial(config.with_settings, settings) for config in configs)

    return read


def _sweeps(folder: Path) -> Callable[[str], object]:
    from tacit.training.plan import RunPlan, split_sweep

    def read(text: str) -> None:
        pairs = (part.partition("=") for part in text.split(";"))
        plain, sweep = split_sweep({key: value for key, _, value in pairs})
        for run in RunPlan("rebel", "kuhn_poker", "cpu", plain, sweep, 2, 0).runs():
            assert (folder / run.name).resolve().is_relative_to(folder.resolve()), run.name

    return read


def _ranges(folder: Path) -> Callable[[str], object]:
    from tacit.cards.ranges import parse_range, write_range

    def read(text: str) -> None:
        weights = parse_range(text)
        assert weights.shape == (1326,)
        assert ((weights >= 0) & (weights <= 1)).all()
        assert abs(parse_range(write_range(weights)) - weights).max() < 1e-4 if weights.max() > 1e-3 else True

    return read


def _boards(folder: Path) -> Callable[[str], object]:
    from tacit.cards.boards import parse_open_board

    def read(text: str) -> None:
        cards, num_open = parse_open_board(text)
        assert len(set(cards)) == len(cards)
        assert num_open >= 0

    return read


def _bets(folder: Path) -> Callable[[str], object]:
    from tacit.games import load_game

    def bet(name: str, text: str) -> None:
        game = load_game(f"no_limit_holdem(stack=2000,board=2c7dTh3s,pot=300,{name}={text})")
        game.rules.actions(game.rules.start())  # type: ignore[attr-defined]

    def read(text: str) -> None:
        names = ("bets", "raises", "donks", "menu", "bets0", "raises1", "allin_threshold")
        first_refusal(partial(bet, name, text) for name in names)

    return read


def _targets(folder: Path) -> Callable[[str], object]:
    from tacit.games import load_game
    from tacit.solvers.targets import parse_target

    games = [load_game("kuhn_poker"), load_game("no_limit_holdem(stack=2000,board=2c7dTh3s,pot=300)")]

    def read(text: str) -> None:
        first_refusal(partial(positive, text, game) for game in games)

    def positive(text: str, game: Any) -> None:
        assert 0 < parse_target(text, game) < float("inf")

    return read


def _locks(folder: Path) -> Callable[[str], object]:
    from tacit.games import load_game
    from tacit.solvers.locks import lock_tree, parse_lock
    from tacit.tree.compiler import compile_for_solving

    river = "no_limit_holdem(stack=900,board=2c7dTh3sQh,pot=300,bets=1|allin,raises=allin,range0=AA|KK|QJs,range1=AK|JJ|T9s)"
    trees = [compile_for_solving(load_game(name)) for name in ("kuhn_poker", "leduc_poker", river)]

    def read(text: str) -> None:
        locks = [parse_lock(text)]
        first_refusal(partial(lock_tree, tree, locks) for tree in trees)

    return read


def _lines(folder: Path) -> Callable[[str], object]:
    from tacit.games import load_game
    from tacit.tree.compiler import compile_for_solving

    river = "no_limit_holdem(stack=900,board=2c7dTh3s,pot=300,bets=1|allin,raises=allin,range0=AA|KK,range1=AK|JJ)"
    names = ("kuhn_poker", "leduc_poker", "goofspiel(cards=3)", "modified_rps", river)
    trees = [compile_for_solving(load_game(name)) for name in names]

    def read(text: str) -> None:
        first_refusal(partial(tree.find, text) for tree in trees)

    return read


def _moves(folder: Path) -> Callable[[str], object]:
    """Words typed by a person at the table."""
    from tacit.games import load_game

    states = []
    for name in ("no_limit_holdem", "limit_holdem", "leduc_poker", "pot_limit_leduc"):
        game = load_game(name)
        state = game.initial_state()
        while game.actor(state) < 0:
            state = game.apply(state, game.chance_outcomes(state)[-1][0])
        states.append(game.chips(state))

    def read(text: str) -> None:
        first_refusal(partial(move, chips, " ".join(text.split()).casefold()) for chips in states)

    def move(chips: Any, word: str) -> None:
        action = chips.read(word)
        assert action is None or isinstance(chips.name(action), str)

    return read


def _small_words(folder: Path) -> Callable[[str], object]:
    """Options that only a few commands have."""
    from tacit.arena.lbr import parse_setting
    from tacit.blueprint.menus import parse_streets
    from tacit.cli.solve_checks import parse_seconds

    def read(text: str) -> None:
        first_refusal(partial(reader, text) for reader in (parse_seconds, parse_setting, parse_streets))

    return read


WORDS = (
    _target(
        "games",
        (
            "kuhn_poker",
            "liars_dice(dice=1,faces=4)",
            "goofspiel(cards=4)",
            "tplo(cards=1)",
            "connect_four",
            "leduc_poker",
            "no_limit_holdem(stack=2000,board=2c7dTh3s,pot=300,bets=0.5|1|allin,range0=AA|KK:0.5)",
            "limit_holdem",
            "tic_tac_toe",
            "turn_endgame_holdem",
            "pot_limit_leduc",
            "no_limit_holdem(small_blind=50,big_blind=100,menu=simple)",
            "coin_guess",
        ),
        _games,
    ),
    _target(
        "own-games",
        (
            "mine.py:Mine",
            "mine.py:Mine(sides=3)",
            "mine.py:Mine(label=none,weight=.5)",
            "broken.py:Mine",
            "raises.py:Mine",
            "./mine.py:Guess",
        ),
        _own_games,
    ),
    _target(
        "openspiel",
        ("kuhn_poker", "leduc_poker(players=2)", "goofspiel(num_cards=3,imp_info=true,points_order=ascending)", "tic_tac_toe"),
        _spiel_games,
        seconds=20,
    ),
    _target(
        "names",
        ("random", "always-call", "pretrained:liars_dice_1x4f", "text", "empty", "text:greedy-average", "./empty", "pot-odds"),
        _opened,
    ),
    _target(
        "settings",
        (
            "epochs=3;seed=1",
            "hidden=64;depth=round",
            "lr=1e-3",
            "exploration=0.25",
            "solver=dcfr;iterations=8",
            "network=mlp",
            "seed=-1",
            "bets=0.5|1/0.5|allin/1/1",
            "warm_start=true",
            "belief_weight=.95",
        ),
        _settings,
    ),
    _target("sweeps", ("hidden=64,128;depth=1,2", "lr=1e-3,1e-4", "network=x.py:A(b=1,c=2),mlp", "epochs=3"), _sweeps),
    _target("ranges", ("AA,AKs:0.5,top 20%", "TT-77,A9s-A6s", "76s-54s", "T9s+,AsKd", "random,72o:0", "AK:.25, QJo+"), _ranges),
    _target("boards", ("3s7hTdKs", "2c 7d Th", "????", "AhKh?", "9c"), _boards),
    _target("bets", ("0.5|1|allin", "3x|geo", "2geo|1e-1", "none", "0.5/1|allin", "2.5x/0.33|0.75", "simple", "0.2"), _bets),
    _target("exploitabilities", ("0.5%pot", "0.001", "20mbb", "1e-3"), _targets),
    _target(
        "locks",
        (
            "check: bet=1",
            ": pass=0.5,bet=0.5",
            "check / bet to 300: call: AA,KK; fold: rest",
            "bet: call: K; fold: rest",
            "call: raise: J",
            "bet to 300: call=.7,fold=.3",
        ),
        _locks,
    ),
    _target(
        "lines",
        ("check / bet", "call / raise", "-", "check / check / 2h / bet to 300", "bid 1 / - / bid 2", "2 / call (2)"),
        _lines,
    ),
    _target("moves", ("raise 450", "b 450", "call", "all-in", "1,200", "fold", "r"), _moves),
    _target("options", ("10m", "90s", "2h", "c/c/fcpa/fcpa", "1.5", "0.5|1/0.5|allin/1/1"), _small_words),
)
