"""OpenSpiel's policies and bots as our agents, and our solves and runs as OpenSpiel's policies."""

from pathlib import Path

import numpy as np
import pytest

import tacit
from tests.command import tacit as command

pyspiel = pytest.importorskip("pyspiel")
policies = pytest.importorskip("open_spiel.python.policy")

GAMES = ("openspiel:kuhn_poker", "openspiel:goofspiel(num_cards=3,imp_info=True,points_order=descending)", "kuhn_poker")
POLICY = """
import pyspiel
from open_spiel.python.policy import UniformRandomPolicy

def uniform(game): return UniformRandomPolicy(game.spiel_game)
def bots(game, generator):
    seeds = generator.integers(2**31, size=2).tolist()
    return tuple(pyspiel.make_uniform_random_bot(player, seed) for player, seed in enumerate(seeds))
"""


def spiel_game(game: tacit.Game) -> object:  # type: ignore[type-arg]
    own = getattr(game, "spiel_game", None)
    return own or pyspiel.load_game(game.openspiel_twin())


@pytest.mark.parametrize("name", GAMES)
def test_a_policy_of_openspiel_is_measured_as_openspiel_does(name: str) -> None:
    game = tacit.load_game(name)
    theirs = spiel_game(game)
    policy = policies.UniformRandomPolicy(theirs)
    found = tacit.evaluate(policy, game=game)
    assert found.kind == "exact"
    tabular = policies.TabularPolicy(theirs)  # uniform, too
    assert found.figure == pytest.approx(
        pyspiel.nash_conv(theirs, policies.python_policy_to_pyspiel_policy(tabular)) / 2, abs=1e-9
    )


@pytest.mark.parametrize("name", GAMES)
def test_policies_come_back_as_they_went(name: str) -> None:
    result = tacit.solve(name, solver="cfr", iterations=20)
    policy = tacit.open(result).openspiel_policy()
    theirs = spiel_game(result.strategy.tree.game)
    assert pyspiel.nash_conv(theirs, policy) == pytest.approx(result.nash_conv, abs=1e-9)
    back = tacit.open(policy, name).strategy()
    np.testing.assert_allclose(back.probabilities, result.strategy.probabilities, atol=1e-9)


@pytest.mark.parametrize("system", ["rebel", "sog", "nfsp"])
def test_a_trained_run_is_a_policy_of_openspiel(system: str, tmp_path: Path) -> None:
    game = tacit.load_game("openspiel:kuhn_poker")
    settings = {"sog": {"depth": 1}}.get(system, {})
    run = tacit.train(system, game, run=tmp_path / "run", preset="smoke", epochs=1, **settings)  # type: ignore[arg-type]
    artifact = tacit.open(run)
    judged = artifact.evaluate().figure
    assert pyspiel.nash_conv(spiel_game(game), artifact.openspiel_policy()) / 2 == pytest.approx(judged, abs=1e-7)


class FirstLegal(pyspiel.Bot):  # type: ignore[misc]
    """Takes the first legal action, and records the information states that it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def restart(self) -> None: ...

    def step(self, state: object) -> int:
        self.seen.append(state.information_state_string())  # type: ignore[attr-defined]
        return int(state.legal_actions()[0])  # type: ignore[attr-defined]


def test_a_bot_is_shown_what_its_seat_sees() -> None:
    game = tacit.load_game("openspiel:leduc_poker")
    shown: list[str] = []

    class Watched(FirstLegal):
        def step(self, state: object) -> int:
            assert state.information_state_string() == seat.sights[-1].private[0]  # type: ignore[attr-defined]
            shown.append(seat.sights[-1].private[0])
            return super().step(state)

    class Seat:
        """The bot's agent, with a record of its sights."""

        name = "seat"

        def __init__(self) -> None:
            self.inner = tacit.load_agent(Watched(), game, np.random.default_rng(0))
            self.sights: list[tacit.Sight] = []

        def start(self, player: int) -> None:
            self.sights.clear()
            self.inner.start(player)

        def observe(self, sight: tacit.Sight) -> None:
            self.sights.append(sight)
            self.inner.observe(sight)

        def act(self) -> int:
            return self.inner.act()

    seat = Seat()
    result = tacit.match(seat, "random", game, hands=60)
    assert result.hands == 60
    assert len(set(shown)) > 20  # second rounds, too, where the card guessed for the other must not be the public one


def test_bots_play_and_files_name_them(tmp_path: Path) -> None:
    (tmp_path / "spiel.py").write_text(POLICY)
    fold = tacit.match(FirstLegal(), tacit.open("random", "openspiel:kuhn_poker"), "openspiel:kuhn_poker", hands=200)
    assert fold.mean is not None
    assert fold.mean < -0.1  # it always passes, and loses its ante to a bet
    options = ("--game", "openspiel:kuhn_poker", "--json")
    done = command("match", "spiel.py:uniform", "spiel.py:bots", "--hands", "20", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    judged = command("evaluate", "spiel.py:uniform", *options, cwd=tmp_path)
    assert '"exploitability": 0.458333' in judged.stdout


@pytest.mark.parametrize(
    ("what", "game", "message"),
    [
        (FirstLegal(), "kuhn_poker", "play only OpenSpiel's games, not kuhn_poker: name openspiel:kuhn_poker"),
        (FirstLegal(), "coin_guess", "not coin_guess.*: name one as openspiel:NAME"),
        (policies.UniformRandomPolicy(pyspiel.load_game("kuhn_poker")), "coin_guess", "has no counterpart in OpenSpiel"),
    ],
)
def test_other_games_are_refused_in_a_line(what: tacit.Agent, game: str, message: str) -> None:
    with pytest.raises(tacit.TacitError, match=message):
        tacit.load_agent(what, game, np.random.default_rng(0))


def test_probabilities_must_sum_to_one() -> None:
    class Half:
        def action_probabilities(self, state: object) -> dict[int, float]:
            return {0: 0.5}

    with pytest.raises(tacit.TacitError, match=r"probabilities \{0: 0.5\} at '\d' do not sum to 1"):
        tacit.evaluate(Half(), game="openspiel:kuhn_poker")
