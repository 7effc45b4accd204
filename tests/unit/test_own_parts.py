"""A user's own agents, leaf evaluators, networks and games, by name and as objects, through public names only."""

import importlib
import json
import re
import runpy
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

import tacit
from tests.command import tacit as command

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENT = """
class Timid:
    def __init__(self, game, generator, courage: float = 0.0):
        self.game, self.generator, self.courage = game, generator, courage
    def start(self, player): self.player = player
    def observe(self, sight): self.sight = sight
    def act(self):
        brave = self.generator.random() < self.courage
        return self.sight.legal_actions[-1 if brave else 0]

class Broken(Timid):
    def act(self):
        return self.sight.colour

class Cheat(Timid):
    def act(self): return 77

class Mute: pass
NOTHING = 3
"""
LEAF = """
import torch
class Leaf:
    def __init__(self, space, kind: str = "zero"): self.kind = kind
    def evaluate(self, states, beliefs):
        return {"zero": torch.zeros_like(beliefs), "short": beliefs[1:], "nan": beliefs * torch.nan}[self.kind]
"""
NETWORK = """
from torch import nn
class Net(nn.Module):
    def __init__(self, num_classes, num_private_states, features, width: int = 8, outputs: int = 0):
        super().__init__()
        self.table = nn.Embedding(num_classes, width)
        self.body = nn.Linear(2 * num_private_states, width)
        self.out = nn.Linear(width, outputs or 2 * num_private_states)
    def forward(self, classes, beliefs):
        return self.out((self.table(classes) + self.body(beliefs)).tanh())
class Crash(Net):
    def forward(self, classes, beliefs):
        return self.oops
Plain = dict
"""


def written(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def refusal(*arguments: str, cwd: Path) -> str:
    """Returns the one line that a refused command prints."""
    done = command(*arguments, cwd=cwd)
    told = [line for line in done.stderr.splitlines() if not line.startswith("compiling kernels")]
    assert (done.returncode, len(told), done.stdout) == (2, 1, "")
    return told[0]


def test_an_agent_of_ones_own_plays_by_name_and_as_an_object(tmp_path: Path) -> None:
    written(tmp_path, mine=AGENT)
    done = command(
        "match", "mine.py:Timid(courage=0)", "always-call", "--game", "kuhn_poker", "--hands", "20", "--json", cwd=tmp_path
    )
    assert json.loads(done.stdout)["mean"] == 0.0  # its first action is to check, and nobody bets
    folds = command(
        "match", "mine.py:Timid", "mine.py:Timid(courage=1)", "--game", "kuhn_poker", "--hands", "20", "--json", cwd=tmp_path
    )
    assert json.loads(folds.stdout)["mean"] == -1.0  # it checks or folds, its opponent bets

    class Caller:
        """Takes the last action, which in Kuhn poker bets and calls."""

        def start(self, player: int) -> None: ...

        def observe(self, sight: tacit.Sight) -> None:
            self.sight = sight

        def act(self) -> int:
            return self.sight.legal_actions[-1]

    result = tacit.match(Caller(), f"{tmp_path}/mine.py:Timid", "kuhn_poker", hands=20)
    assert (result.mean, result.agents[0]) == (1.0, "Caller")
    typed = command(
        "play", "kuhn_poker", "--agent", "mine.py:Timid", "--games", "1", "--show-beliefs", cwd=tmp_path, typed="1\n1\n1\n"
    )
    assert "against mine.py:Timid" in typed.stdout


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine.py:Broken", "AttributeError: 'Sight' object has no attribute 'colour' (mine.py:13)"),
        ("mine.py:Cheat", "kuhn_poker: 77 is not a legal action here"),
        ("mine.py:Mute", "mine.py:Mute cannot play: it must have start(player), observe(sight) and act()"),
        ("mine.py:NOTHING", "mine.py defines no class called NOTHING"),
        ("mine.py:Timit", "mine.py defines no class called Timit: did you mean Timid?"),
        ("mine.py:Timid(courage=much)", "Timid: courage must be a number, not 'much'"),
        ("mine.py:Timid(fear=1)", "Timid has no parameter 'fear' (it takes: courage)"),
        ("mine.py:Timid(courage=1,courage=0)", "Timid: courage is given twice"),
        ("yours.py:Timid", "no Python file at yours.py"),
        ("wrong.py:Timid", "wrong.py cannot be imported: SyntaxError: invalid syntax (wrong.py:2)"),
    ],
)
def test_wrong_agents_get_one_line(name: str, message: str, tmp_path: Path) -> None:
    written(tmp_path, mine=AGENT, wrong="\nclass class")
    assert message in refusal("match", name, "random", "--game", "kuhn_poker", "--hands", "2", cwd=tmp_path)


def test_a_leaf_evaluator_of_ones_own_is_asked_at_leaves(tmp_path: Path) -> None:
    written(tmp_path, leaf=LEAF)
    ours, own = (
        json.loads(
            command("solve", "kuhn_poker", "--depth", "1", "--leaf", leaf, "--iterations", "8", "--json", cwd=tmp_path).stdout
        )
        for leaf in ("zero", "leaf.py:Leaf")
    )
    assert own["exploitability"] == ours["exploitability"]
    for name, message in (
        ("leaf.py:Leaf(kind=short)", "gives values of shape [5, "),
        ("leaf.py:Leaf(kind=nan)", "gives values that are not finite numbers"),
        ("leaf.py:Leaf(kind=odd)", "KeyError: 'odd' (leaf.py:6)"),
        ("leaf.py:torch", "defines no class called torch"),
        ("leaf.py:Leaves", "defines no class called Leaves: did you mean Leaf?"),
    ):
        assert message in refusal("solve", "kuhn_poker", "--depth", "1", "--leaf", name, cwd=tmp_path)


def test_a_network_of_ones_own_is_trained_found_again_and_moves_along(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    written(project, nets=NETWORK)
    smoke = ("--preset", "smoke", "--set", "epochs=1", "--json", "--set")
    for system, game in (("rebel", "kuhn_poker"), ("sog", "leduc_poker")):
        done = command("train", system, game, "--run", system, *smoke, "network=nets.py:Net(width=4)", cwd=project)
        assert json.loads(done.stdout)["epoch"] == 1, done.stderr
    project.rename(tmp_path / "moved")
    (tmp_path / "moved" / "elsewhere").mkdir()
    judged = command("evaluate", "../rebel", "--playthroughs", "4", "--json", cwd=tmp_path / "moved" / "elsewhere")
    first = json.loads(judged.stdout)["exploitability"]
    assert first == tacit.evaluate(tmp_path / "moved" / "rebel", playthroughs=4).figure
    more = command(
        "train", "rebel", "kuhn_poker", "--run", "rebel", "--resume", "--set", "epochs=2", "--json", cwd=tmp_path / "moved"
    )
    assert json.loads(more.stdout)["epoch"] == 2, more.stderr
    (tmp_path / "moved" / "nets.py").rename(tmp_path / "gone.py")
    shutil.rmtree(tmp_path / "moved" / "__pycache__", ignore_errors=True)
    assert "nets.py is no longer there, nor near" in refusal("evaluate", "rebel", cwd=tmp_path / "moved")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("nets.py", "network must be mlp, or FILE.py:CLASS(key=value,...), not 'nets.py'"),
        ("transformer", "not 'transformer'"),
        ("nets.py:Nothing", "defines no class called Nothing"),
        ("nets.py:Net(width=wide)", "Net: width must be a whole number, not 'wide'"),
        ("nets.py:Net(depth=3)", "Net has no parameter 'depth' (it takes: width, outputs)"),
        ("nets.py:Net(num_classes=3)", "Net has no parameter 'num_classes'"),
        ("nets.py:Net(outputs=5)", "Net.forward() returns [3, 5]; it must return both players' values, [3, 6]"),
        ("nets.py:Net(width=-1)", "Net() raised"),
        ("nets.py:Crash", "(nets.py:13)"),
        ("nets.py:Plain", "Plain is not a torch.nn.Module"),
    ],
)
def test_wrong_networks_get_one_line_and_leave_no_run(network: str, message: str, tmp_path: Path) -> None:
    written(tmp_path, nets=NETWORK)
    arguments = ("train", "rebel", "kuhn_poker", "--run", "run", "--preset", "smoke", "--set", f"network={network}")
    assert message in refusal(*arguments, cwd=tmp_path)
    assert not (tmp_path / "run").exists()


HIDDEN_ACTIONS = """
from dataclasses import dataclass
from names import NAMES
from tacit.games import TERMINAL, Game

@dataclass(frozen=True)
class HideAndSeek(Game[tuple[int, ...]]):
    '''Player 0 hides in one of some caves, unseen; player 1 looks into one. The last cave pays the hider twice.'''
    caves: int = 3
    name = "hide_and_seek"
    def initial_state(self): return ()
    def actor(self, state): return TERMINAL if len(state) == 2 else len(state)
    def legal_actions(self, state): return tuple(range(self.caves))
    def apply(self, state, action): return (*state, action)
    def returns(self, state):
        payoff = -1.0 if state[0] == state[1] else 2.0 if state[0] == self.caves - 1 else 1.0
        return payoff, -payoff
    def action_name(self, action): return NAMES[action]
"""


def test_a_new_game_with_hidden_actions_from_rules_to_trained_and_played(tmp_path: Path) -> None:
    written(tmp_path, hide=HIDDEN_ACTIONS, names="NAMES = ('left', 'middle', 'right', 'far', 'deep')\n", mine=AGENT)
    name = f"{tmp_path}/hide.py:HideAndSeek"
    game = tacit.load_game(name)
    assert tacit.check_game(game).ok
    exact = tacit.solve(game, solver="lp")
    # The hider makes every look equally good: shares p, p and q with q (2 + 1) = p (1 + 1), so q = 1/4 and p = 3/8.
    shares = [list(decision.probabilities.values()) for decision in exact.strategy]
    np.testing.assert_allclose(shares[0], [3 / 8, 3 / 8, 1 / 4], atol=1e-9)
    assert exact.value == pytest.approx(0.5)
    run = tacit.train(
        "rebel", game, run=tmp_path / "run", preset="smoke", depth=1, epochs=16, iterations=64, hidden=64, learning_rate=0.003,
        evaluate_every=0,
    )  # fmt: skip
    found = tacit.evaluate(run, playthroughs=64)  # the run records where its game is
    uniform = tacit.evaluate(tacit.open("random", game).strategy()).figure
    assert found.figure < 0.5 * uniform
    result = tacit.match(run, f"{tmp_path}/mine.py:Timid", hands=400, iterations=32)
    assert result.mean is not None
    assert abs(result.mean) < 0.4  # against an equilibrium, always left is as good as any mixture; seats are swapped
    agents = [tacit.load_agent(run, game, np.random.default_rng(seed), tacit.SearchOptions(iterations=16)) for seed in (0, 1)]
    assert sum(tacit.play_game(game, agents, np.random.default_rng(2))) == 0.0


def test_several_runs_of_a_game_of_ones_own_say_how_to_play_against_one(tmp_path: Path) -> None:
    written(tmp_path, hide=HIDDEN_ACTIONS, names="NAMES = ('left', 'middle', 'right', 'far', 'deep')\n")
    tiny = ("--preset", "smoke", "--set", "epochs=1", "--set", "epoch_rounds=20", "--seeds", "2")
    trained = command("train", "nfsp", "hide.py:HideAndSeek(caves=4)", "--run", "runs", *tiny, cwd=tmp_path)
    assert trained.returncode == 0, trained.stderr
    (said,) = re.findall(r"play against one: .*tacit (play .*)", trained.stdout)
    played = command(*shlex.split(said), cwd=tmp_path, typed="q\n")
    assert played.returncode == 0, played.stderr


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert "exploitability" in capsys.readouterr().out


def test_the_examples_are_as_short_as_they_are_said_to_be() -> None:
    lines = {path.stem: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert lines["own_network"] <= 30
    assert lines["own_system"] <= 80


def test_the_network_of_the_example_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    net = importlib.import_module("own_network").Net
    run = tacit.train("rebel", "kuhn_poker", preset="smoke", epochs=12, iterations=64, learning_rate=0.01, network=net)
    found = tacit.evaluate(run, playthroughs=64).figure
    assert found < 0.5 * tacit.solve_by_search("kuhn_poker", depth=2, leaf="zero").exploitability
    folder = run.run
    del run
    assert not folder.exists()  # a folder that nobody named is deleted


def test_a_class_of_no_file_is_no_setting() -> None:
    net = type("Net", (), {"__module__": "builtins"})
    with pytest.raises(
        tacit.TacitError, match="Net is not defined in a Python file of yours: a resumed run could not find it again"
    ):
        tacit.train("rebel", "kuhn_poker", preset="smoke", network=net)


def test_the_system_of_the_example_learns_and_goes_on_as_if_it_had_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    system = importlib.import_module("own_system").BELIEF_ITERATION
    tacit.train(system, "kuhn_poker", run=tmp_path / "run", epochs=6)
    resumed = tacit.train(system, "kuhn_poker", run=tmp_path / "run", epochs=24, resume=True)
    whole = tacit.train(system, "kuhn_poker")
    assert whole.exploitability is not None
    assert whole.exploitability < 0.15  # uniform play has 0.46
    assert resumed.exploitability == whole.exploitability
    assert [epoch.loss for epoch in resumed.history] == [epoch.loss for epoch in whole.history]  # type: ignore[attr-defined]


SYSTEM = """
from typing import ClassVar
from dataclasses import dataclass
import own_system
from tacit.training import Count, Metrics, SearchSettings, System, Trainer

@dataclass(frozen=True)
class Taken(own_system.BeliefSettings):
    system: ClassVar[str] = "rebel"
class Nameless(SearchSettings): pass
class Crash(own_system.BeliefTrainer):
    def learn(self): return 1 / 0
class Diverge(own_system.BeliefTrainer):
    def learn(self): return float("nan")
TAKEN = System(Taken, own_system.BeliefTrainer)
NAMELESS = System(Nameless, own_system.BeliefTrainer)
CRASH = System(own_system.BeliefSettings, Crash)
DIVERGE = System(own_system.BeliefSettings, Diverge)
NUMBER = 3
def make(trainer: str = "Crash"): return System(own_system.BeliefSettings, globals()[trainer])
def wrong(): return 7
"""


def test_a_system_of_ones_own_by_name(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    shutil.copy(EXAMPLES / "own_system.py", place)
    settings = ("--set", "situations=64", "--set", "width=8")
    train = ("train", "own_system.py:BELIEF_ITERATION", "kuhn_poker", "--run", "run")
    first = command(*train, *settings, "--set", "epochs=2", "--json", cwd=place)
    assert first.returncode == 0, first.stderr
    again = json.loads(command(*train, "--resume", "--set", "epochs=4", "--json", cwd=place).stdout)
    assert again["epoch"] == 4
    assert again["kind"] == "upper bound"
    moved = tmp_path / "moved"
    place.rename(moved)
    judged = json.loads(command("evaluate", "moved/run", "--json", cwd=tmp_path).stdout)
    assert judged["exploitability"] == pytest.approx(again["exploitability"])
    more = json.loads(command("evaluate", "moved/run", "--iterations", "256", "--json", cwd=tmp_path).stdout)
    assert more["iterations"] == 256
    won = json.loads(
        command("match", "moved/run", "random", "--game", "kuhn_poker", "--hands", "20", "--json", cwd=tmp_path).stdout
    )
    assert won["hands"] == 20
    listed = json.loads(command("train", "moved/own_system.py:BELIEF_ITERATION", "--settings", "--json", cwd=tmp_path).stdout)
    facts = {fact["name"]: fact for fact in listed["systems"][0]["settings"]}
    assert facts["width"]["default"] == 32
    assert facts["width"]["meaning"] == "Hidden units of the network."
    seeds = command(*train[:4], "seeds", *settings, "--set", "epochs=1", "--seeds", "2", "--json", cwd=moved)
    assert seeds.returncode == 0, seeds.stderr
    shutil.rmtree(moved / "__pycache__", ignore_errors=True)
    (moved / "own_system.py").unlink()
    lost = command("evaluate", "moved/run", cwd=tmp_path)
    assert lost.returncode == 2
    assert "own_system.py is no longer there" in lost.stderr


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mine.py", "unknown system 'mine.py': choose one of rebel"),
        ("absent.py:S", "no Python file at absent.py"),
        ("mine.py:BELIEFS", "mine.py defines no system called BELIEFS"),
        ("mine.py:NUMBER", "mine.py: NUMBER is not a tacit.training.System"),
        ("mine.py:Crash", "Crash is not a tacit.training.System: write SYSTEM = System(Settings, Crash) and name that"),
        ("mine.py:wrong", "mine.py: wrong is not a tacit.training.System"),
        ("mine.py:CRASH(width=3)", "CRASH takes no arguments: change settings with --set NAME=VALUE"),
        ("mine.py:make(nothing=3)", "make has no parameter 'nothing' (it takes: trainer)"),
        ("mine.py:TAKEN", "Taken.system is 'rebel', which is one of ours: choose another name"),
        ("mine.py:NAMELESS", "Nameless does not say what its system is called"),
        ("mine.py:CRASH", "ZeroDivisionError: division by zero (mine.py:"),
        ("mine.py:make(trainer=Diverge)", "the loss became nan: lower the learning rate"),
    ],
)
def test_a_wrong_system_is_refused_in_a_line(tmp_path: Path, name: str, reason: str) -> None:
    written(tmp_path, mine=SYSTEM, own_system=(EXAMPLES / "own_system.py").read_text())
    ended = command("train", name, "kuhn_poker", "--run", "run", cwd=tmp_path)
    assert ended.returncode == (2 if "ZeroDivision" not in reason else ended.returncode), ended.stderr
    assert ended.returncode != 0
    assert reason in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
