"""Targets that are files: runs, networks, solves, locks, results and reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.target import Prepared, Target, first_refusal

RIVER = "no_limit_holdem(stack=900,board=2c7dTh3sQh,pot=300,bets=1|allin,raises=allin,range0=AA|KK,range1=AK|JJ)"


def _file_target(
    name: str, file: str, prepare: Callable[[Path], tuple[list[bytes], Callable[[], object]]], **bounds: Any
) -> Target:
    """Returns a target that reads a file.

    Args:
      name: The target's name.
      file: Where inputs are written, relative to the target's folder.
      prepare: Returns valid contents, and the function that reads the file.
      **bounds: The target's bounds.
    """

    def ready(folder: Path) -> Prepared:
        seeds, read = prepare(folder)
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)

        def run(data: bytes) -> None:
            path.write_bytes(data)
            read()

        return Prepared(tuple(seeds), run)

    return Target(name, ready, **bounds)


def _run_folder(folder: Path) -> Path:
    """Returns the folder of a real run: NFSP on Kuhn poker, two epochs with tiny networks."""
    from tacit.games import load_game
    from tacit.nfsp.system import nfsp_system
    from tacit.training.folder import RunFolder
    from tacit.training.run import train

    game = load_game("kuhn_poker")
    system = nfsp_system(game)
    small = {
        "epochs": "2",
        "hidden": "4",
        "games": "4",
        "batch_size": "4",
        "transitions": "100",
        "behaviour": "100",
        "epoch_rounds": "2",
    }
    config = system.presets["smoke"].with_settings(small)
    train(system.trainer(game, config, "cpu"), RunFolder(folder / "run", system), judges=False)
    return folder / "run"


def _configs(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    from tacit.artifacts.systems import find_system
    from tacit.games import load_game
    from tacit.training.folder import RunFolder, own_system_of, system_of
    from tacit.web.runs import RunList

    run = _run_folder(folder)
    seed = (run / "config.json").read_bytes()
    system = find_system("nfsp", load_game("kuhn_poker"))

    def read() -> None:
        json.dumps(RunList(run).listed(), allow_nan=False)
        system_of(run), own_system_of(run)
        name, config = RunFolder(run, system).asked_for()
        assert config.as_dict()
        assert isinstance(name, str)

    return [seed, json.dumps(json.loads(seed)).encode()], read


def _metrics(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    from tacit.artifacts.systems import find_system
    from tacit.games import load_game
    from tacit.training.folder import RunFolder
    from tacit.web.runs import RunList

    run = _run_folder(folder)
    seed = (run / "metrics.jsonl").read_bytes()
    runs = RunFolder(run, find_system("nfsp", load_game("kuhn_poker")))

    def read() -> None:
        json.dumps(RunList(run).listed(), allow_nan=False)
        for after in (0, 10, 10**9, -5):
            json.dumps(RunList(run).metrics(run.name, after), allow_nan=False)
        runs.history()
        runs.forget_after(1)

    return [seed, seed * 3], read


def _plans(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    from tacit.training.folder import system_of
    from tacit.training.plan import RunPlan, read_plan

    plans = [
        RunPlan("rebel", "kuhn_poker", "cpu", {"epochs": "3"}, {"hidden": ["8", "16"]}, 2, 0),
        RunPlan("nfsp", "leduc_poker", "cpu", {}, {}, None, 7, 60.0),
    ]

    def read() -> None:
        plan = read_plan(folder)
        assert plan is not None
        for run in plan.runs()[:50]:
            assert (folder / run.name).resolve().is_relative_to(folder.resolve()), run.name
        plan.continued(folder, plans[0], ())
        system_of(folder)

    seeds = []
    for plan in plans:
        plan.save(folder)
        seeds.append((folder / "plan.json").read_bytes())
    return seeds, read


def _networks(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    """Network files, for the functions that read their headers and tensors."""
    import torch

    from tacit.nets import checkpoint
    from tacit.nets.checkpoint import drop_parts, load_tensors, read_header, save_tensors

    path, seeds = folder / "network.safetensors", []
    header = {"system": "rebel", "game": "kuhn_poker", "epoch": 3, "config": {"hidden": 8}}
    whole = checkpoint.PART_BYTES
    for most in (whole, 64):
        checkpoint.PART_BYTES = most  # small enough that a small file has parts
        save_tensors(path, {"a": torch.arange(24.0).view(2, 12), "b": torch.zeros(3, dtype=torch.int64)}, header)
        seeds += [path.read_bytes(), unsigned(path.read_bytes())]
    checkpoint.PART_BYTES = whole
    outside = folder.parent / f"{folder.name}-outside.part"
    outside.write_bytes(b"not ours")

    def read() -> None:
        drop_parts(path.with_name("other.safetensors"))
        found = read_header(path)
        assert found is None or str(found["format"]).startswith("tacit-checkpoint-")
        assert outside.read_bytes() == b"not ours"
        tensors, _ = load_tensors(path)
        assert all(isinstance(tensor, torch.Tensor) for tensor in tensors.values())

    return seeds, read


def unsigned(content: bytes) -> bytes:
    """Returns a checkpoint in the first format, without a digest: otherwise the digest alone would catch every changed bit."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header["__metadata__"].pop("digest", None)
    header["__metadata__"]["tacit"] = header["__metadata__"]["tacit"].replace("tacit-checkpoint-2", "tacit-checkpoint-1")
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content[end:]


def _opened_networks(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    """Network files as they are opened for play: the game and settings in their headers must fit their tensors."""
    import numpy as np

    from tacit import artifacts
    from tacit.agents.options import SearchOptions
    from tacit.training.shipped import shipped_file

    run = _run_folder(folder)
    seeds = [
        unsigned((run / "checkpoints/network.safetensors").read_bytes()),
        shipped_file("pretrained:liars_dice_1x4f").read_bytes(),
    ]
    seeds += [shipped_file("pretrained:pot_limit_leduc").read_bytes()]
    path = folder / "network.safetensors"

    def read() -> None:
        artifact = artifacts.open(str(path))
        if artifact.game.name in ("kuhn_poker", "liars_dice", "pot_limit_leduc") and str(artifact.game) in KNOWN:
            options = SearchOptions(iterations=2 if "iterations" in artifact.search_options else None)
            artifact.agent(np.random.default_rng(0), options)

    return seeds, read


KNOWN = ("kuhn_poker", "liars_dice(dice=1,faces=4)", "pot_limit_leduc")


def _checkpoints(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    """The checkpoint that a run resumes from."""
    from tacit.artifacts.systems import find_system
    from tacit.games import load_game
    from tacit.training.folder import RunFolder
    from tacit.training.run import load_trainer

    run = _run_folder(folder)
    runs = RunFolder(run, find_system("nfsp", load_game("kuhn_poker")))

    def read() -> None:
        runs.checkpoint_epoch()
        load_trainer(runs)

    files = [file for file in (run / "checkpoints").glob("*.safetensors") if not file.name.startswith("network")]
    content = files[-1].read_bytes()
    for file in files:
        file.unlink()
    return [content, unsigned(content)], read


def _solves(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    from tacit.games import load_game
    from tacit.solvers import solve
    from tacit.solvers.locks import Lock
    from tacit.solvers.result import is_saved_solve, load_result, saved_game
    from tacit.web.explore.node_data import node_data

    path = folder / "solve.tacit"
    seeds = []
    for name, locks in (("kuhn_poker", []), ("kuhn_poker", [Lock("bet", {"K": {"call": 1}})]), ("coin_guess", []), (RIVER, [])):
        solve(load_game(name), iterations=3, locks=locks).save(path)
        seeds.append(path.read_bytes())
    solve(load_game("kuhn_poker"), solver="lp").save(path)

    def read() -> None:
        is_saved_solve(path), saved_game(path)
        name = saved_game(path)
        if (
            name is None or name.partition("(")[0] in ("kuhn_poker", "coin_guess") or name == RIVER
        ):  # other games take long to compile
            result = load_result(path)
            json.dumps(node_data(result.views, ""), allow_nan=False)
            json.dumps(result.summary(), allow_nan=False)

    return [*seeds, path.read_bytes()], read


def _lock_files(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    from tacit.games import load_game
    from tacit.solvers.locks import load_locks, lock_tree
    from tacit.tree.compiler import compile_for_solving

    trees = [compile_for_solving(load_game(name)) for name in ("kuhn_poker", RIVER)]
    seeds = [
        b'[{"at": "bet", "play": {"K": {"call": 1}, "rest": {"call": 0.3, "fold": 0.7}}}]',
        b'{"at": "", "play": {"bet": 0.5, "pass": 0.5}}',
        b'[{"at": "check", "play": "bet to 300: AK; check: rest"}, {"at": "", "play": {"check": 1}}]',
    ]

    def read() -> None:
        locks = load_locks(folder / "locks.json")
        assert all(str(lock) for lock in locks)
        first_refusal(partial(lock_tree, tree, locks) for tree in trees)

    return seeds, read


def _results(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    """Journals of matches against other programs."""
    from tacit.arena.journal import Journal
    from tacit.arena.results import public_end, read_results

    dealer = [
        {"game": "no_limit_holdem", "players": ["one", "two"], "hands": 2, "seed": 3},
        {"hand": 0, "state": "STATE:0:r300c/cr900c/cc/cr3000f:AsKd|7h2c/3c4d9h/Ts/2d:900|-900:one|two"},
        {"hand": 1, "state": "STATE:1:r20000c///:AsAd|KhKc/3c4d9h/Ts/2d:20000|-20000:two|one"},
        {"total": 1},
    ]
    slumbot = [
        {"game": "no_limit_holdem", "agent": "random", "url": "http://x"},
        {
            "hand": 1, "client_pos": 0, "hole_cards": "AsKd", "bot_hole_cards": "7h2c", "board": "3c4d9hTs2d",
            "actions": [300, 1, 1, 1, 1, 1, 1, 1], "winnings": 300, "action": "b300c/kk/kk/kk",
        },
    ]  # fmt: skip
    seeds = ["\n".join(map(json.dumps, lines)).encode() + b"\n" for lines in (dealer, slumbot)]
    path = folder / "results.jsonl"

    def read() -> None:
        results = read_results(path, "one")
        for hand in results.hands[:5]:
            public_end(results.game, hand.record)
        Journal(path, resume=True).write({"more": 1})

    return seeds, read


def _reports(folder: Path) -> tuple[list[bytes], Callable[[], object]]:
    """CSV files of reports over boards, which resume where they stopped."""
    from types import SimpleNamespace

    from tacit.cards.boards import DrawnBoard
    from tacit.cli.report_files import read_report, write_report
    from tacit.solvers.board_report import BoardPlay, LinePlay

    line = LinePlay("check", 1, 0.5, {"bet": 0.25, "check": 0.75}, {"bet": 1.0, "check": 2.0})
    board = DrawnBoard((1, 5, 9), 4, 2.0)
    play = BoardPlay(
        "game",
        str(board),
        count=4,
        weight=2.0,
        exploitability=0.1,
        iterations=7,
        seconds=1.5,
        ev=(1.0, -1.0),
        equity=(0.5, 0.5),
        lines=(line,),
    )
    path = folder / "report.csv"
    write_report(path, [play])
    spot: Any = SimpleNamespace(boards=[board], game=lambda _: "game")
    return [path.read_bytes()], lambda: read_report(path, spot, {"check": 1}, 1.0)


def _frames(folder: Path) -> Prepared:
    """Frames between a learner and its workers."""
    import torch

    from tacit.scale.frames import pack, unpack

    seeds = (
        pack({"a": torch.arange(6.0)}, order=3),
        pack({}, order=1, words="x"),
        pack({"b": torch.zeros(2, 2)}, nested={"a": [1]}),
    )

    def run(data: bytes) -> None:
        tensors, facts = unpack(data)
        assert isinstance(facts, dict)
        assert all(isinstance(tensor, torch.Tensor) for tensor in tensors.values())

    return Prepared(seeds, run)


STORED = (
    _file_target("configs", "run/config.json", _configs),
    _file_target("metrics", "run/metrics.jsonl", _metrics),
    _file_target("plans", "plan.json", _plans),
    _file_target("network-files", "network.safetensors", _networks),
    _file_target("opened-networks", "network.safetensors", _opened_networks, seconds=20.0, examples=40),
    _file_target("checkpoints", "run/checkpoints/checkpoint-000002.safetensors", _checkpoints, seconds=5.0, examples=100),
    _file_target("solves", "solve.tacit", _solves, seconds=5.0, examples=100),
    _file_target("lock-files", "locks.json", _lock_files),
    _file_target("results", "results.jsonl", _results),
    _file_target("reports", "report.csv", _reports),
    Target("frames", _frames),
)
