"""Batches of hold'em games on a GPU against the CPU; skipped without CUDA."""

import dataclasses

import numpy as np
import pytest
import torch

from tacit.cards.board_tensors import BoardTable, BoardTensors, canonical_boards
from tacit.cards.deck import parse_cards
from tacit.games import load_game
from tacit.games.betting import ALL_IN, BOARD_CARDS, FLOP, RIVER, TURN, NoLimitBetting
from tacit.kernels.street_passes import StreetPasses
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import NUM_PUBLIC, RoundEndNet
from tacit.rebel.holdem.config import PRESETS
from tacit.rebel.holdem.learner import RoundEndLearner
from tacit.rebel.holdem.selfplay import RoundEndExamples
from tacit.rebel.holdem.stored import restored
from tacit.rebel.holdem.train import HoldemTrainer
from tacit.solvers.driver import Driver, DriverOptions
from tacit.solvers.schedules import find_schedule
from tacit.tree.betting_street import betting_streets
from tacit.tree.subgame import ROUND

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")]

BOARDS = {FLOP: ("3s7hTd", "2c2d9h"), TURN: ("3s7hTdKs", "2c2d9hAc"), RIVER: ("3s7hTdKs2c", "9s7h9d9c2c")}


@pytest.mark.parametrize("street", [FLOP, TURN, RIVER])
def test_boards_are_those_of_the_cpu(street: int) -> None:
    cards = torch.tensor([parse_cards(board) for board in BOARDS[street]])
    here, there = BoardTensors(cards), BoardTensors(cards.cuda())
    assert torch.equal(here.hand, there.hand.cpu())
    torch.testing.assert_close(there.margins.float().cpu(), here.margins, rtol=0, atol=1e-6)
    torch.testing.assert_close(there.features.cpu(), here.features, rtol=0, atol=1e-5)
    weights = torch.rand(3, *here.hand.shape) ** 8
    most = float(weights.sum(2).max())
    torch.testing.assert_close(there.leads(weights.cuda()).cpu(), here.leads(weights), rtol=0, atol=1e-4 * most)
    torch.testing.assert_close(there.meetings(weights.cuda()).cpu(), here.meetings(weights), rtol=0, atol=2e-6 * most)


@pytest.mark.parametrize("solver", ["dcfr", "pcfr+", "linear-fp"])
@pytest.mark.parametrize(("street", "decomposition"), [(RIVER, "cfr-d"), (TURN, "cfr-d"), (TURN, "modified-cfr-ave")])
def test_searches_are_those_of_the_cpu(solver: str, street: int, decomposition: str) -> None:
    rules = NoLimitBetting(2_500, 100, 100, street, 1_000, (0.5, ALL_IN), (1.0,))
    cards = torch.tensor([parse_cards(board) for board in BOARDS[street]])
    torch.manual_seed(0)
    net, means = RoundEndNet(32, 2, 8), []
    depth = ROUND if street < RIVER else None
    tree = betting_streets(rules, BOARD_CARDS[street], depth=depth)[0]
    reaches = torch.rand(2, 2, len(BoardTensors(cards).hand[0])) ** 4
    for device in ("cpu", "cuda"):
        leaves = RoundEndLeaves({BOARD_CARDS[street]: net.to(device)}, dtype=torch.float32)
        passes = StreetPasses(tree, BoardTensors(cards.to(device)), reaches.to(device), 500.0, rules.stack)
        options = DriverOptions(leaves if depth else None, decomposition, values_roots=True)
        driver = Driver(passes, find_schedule(solver), options)
        driver.run(40)
        means.append((torch.stack(driver.root_sum).cpu(), passes.normalise(driver.average).cpu()))
    (ours, plan), (theirs, their_plan) = means
    # Averages divide by their latest share: where reach is zero, the rounding of equal numbers decides how play begins.
    averages = decomposition == "modified-cfr-ave"
    assert float((ours - theirs).abs().mean()) <= (0.05 if averages else 2e-3) * float(ours.abs().mean())
    if solver != "linear-fp" and not averages:
        assert float(((plan - their_plan).abs() > 0.02).float().mean()) <= 0.02


@pytest.mark.parametrize("place", ["device", "host"])
def test_examples_come_back_as_on_the_cpu_wherever_they_are_kept(place: str) -> None:
    kinds = torch.tensor([0, 900, 5_000] * 200)
    boards = BoardTensors(torch.from_numpy(canonical_boards(4)[0])[kinds[:3]])
    weights = torch.rand(2, 3, 1_128, generator=torch.Generator().manual_seed(0)) ** 4
    beliefs = weights / weights.sum(2, keepdim=True)
    met = boards.meetings(beliefs.flip(0))
    parts = [beliefs * 1_128, boards.leads(beliefs.flip(0)) / met, met, torch.randn(2, 3, 1_128)]
    parts = [part.transpose(0, 1).repeat(200, 1, 1).cuda() for part in parts]
    given = RoundEndExamples(kinds.cuda(), torch.rand(600, NUM_PUBLIC).cuda(), *parts)
    config = dataclasses.replace(PRESETS["smoke"], replay_device=place, replay_size=600, batch_size=64)
    learner = RoundEndLearner(RoundEndNet(16, 1, 8).cuda(), BoardTable(4, "cuda"), config, "cuda")
    assert np.isfinite(learner.learn(given, 1e-3, torch.Generator("cuda")))
    found = restored(next(learner.replay.batches(1, 600, torch.Generator("cuda"), "cuda")), learner.table)
    assert found.odds.is_cuda
    for number in range(20):
        row = int((kinds[:3] == int(found.kind[number])).nonzero()[0, 0])
        for name in ("odds", "met", "beliefs"):
            wanted, scale = getattr(given, name)[row], 1.0 if name == "odds" else float(getattr(given, name).max())
            torch.testing.assert_close(getattr(found, name)[number], wanted, rtol=0, atol=0.01 * scale)


@pytest.mark.parametrize("symmetry", [True, False])
def test_captured_steps_learn_what_plain_ones_do(symmetry: bool) -> None:
    """Without the symmetry of suits no table keeps features: they are computed inside the captured step."""
    small = dataclasses.replace(PRESETS["gpu"], games=64, branches=2, suit_symmetry=symmetry)
    trainer = HoldemTrainer(load_game("turn_endgame_holdem"), small, "cuda")
    played, losses, ends = trainer.selfplay.advance(), [], []
    for captures in (False, True):
        torch.manual_seed(3)
        config = dataclasses.replace(PRESETS["gpu"], batch_size=64, ratio=10.0, replay_size=1_000)
        learner = RoundEndLearner(RoundEndNet(32, 2, 8).cuda(), trainer.learners["turn"].table, config, "cuda")
        if not captures:
            learner._run_step = learner._step
        new = played.ends[4][0]
        losses.append([learner.learn(new, rate, torch.Generator("cuda").manual_seed(5)) for rate in (3e-3, 3e-3, 0.0, 0.0)])
        ends.append(torch.cat([part.flatten() for part in learner.net.parameters()]))
    np.testing.assert_allclose(losses[1], losses[0], rtol=0.02)
    assert losses[1][0] > 1.1 * losses[1][2]
    assert losses[1][2] == pytest.approx(losses[1][3], rel=1e-3)  # the current rate counts, not that of the recording
    assert float((ends[1] - ends[0]).norm() / ends[0].norm()) < 0.02


def test_training_lowers_the_error() -> None:
    config = dataclasses.replace(
        PRESETS["gpu"], games=64, epoch_examples=2_048, iterations=48, river_iterations=64, batch_size=256, learning_rate=2e-3
    )
    trainer = HoldemTrainer(load_game("turn_endgame_holdem"), config, "cuda")
    for _ in range(6):
        progress = trainer.run_epoch()
    assert progress.error < 0.8 * progress.still
    assert np.isfinite(progress.loss)
