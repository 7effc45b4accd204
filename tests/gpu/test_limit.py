"""NFSP on limit hold'em on a GPU against the CPU; skipped without CUDA."""

import numpy as np
import pytest
import torch

from tacit.cards.strength import seven_card_strengths
from tacit.cards.torch_strength import seven_card_strengths as torch_strengths
from tacit.cards.torch_strength import tensor_tables
from tacit.games import load_game
from tacit.games.holdem import LimitHoldem
from tacit.games.limit_batch import LimitRules, deal
from tacit.nfsp.config import LIMIT_PRESETS
from tacit.nfsp.limit.encoding import Encoder
from tacit.nfsp.limit.engine import WARM_UP, _tensor_cores
from tacit.nfsp.limit.judge import LimitJudge
from tacit.nfsp.strategies import AVERAGE
from tacit.nfsp.system import NFSP_LIMIT

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")]

SMALL = {"games": "64", "batch_size": "64", "transitions": "2000", "behaviour": "1000", "optimizer": "sgd"}


def test_strengths_on_the_gpu() -> None:
    cards = deal(20_000, torch.Generator().manual_seed(0))[:, :7]
    found = torch_strengths(cards.cuda(), tensor_tables("cuda"))
    np.testing.assert_array_equal(found.cpu().numpy(), seven_card_strengths(cards.numpy()))


def test_hands_on_the_gpu_in_lock_step_with_the_cpu() -> None:
    generator = torch.Generator().manual_seed(1)
    here, there = (LimitRules.of(LimitHoldem(), device) for device in ("cpu", "cuda"))
    cards = deal(2_000, generator)
    hands, copies = here.begin(cards), there.begin(cards.cuda())
    ended = torch.zeros(2_000, dtype=torch.bool)
    for _ in range(23):
        legal = here.legal(hands)
        assert torch.equal(legal, there.legal(copies).cpu())
        bits = Encoder("cpu").encode(hands, hands.actor)
        gpu = Encoder("cuda")
        packed = gpu.pack(gpu.encode(copies, copies.actor))
        assert torch.equal(gpu.unpack(packed).cpu(), bits.float())
        action = (torch.rand(2_000, 3, generator=generator) * legal).argmax(1)
        hands, over, payoff = here.step(hands, action)
        copies, gpu_over, gpu_payoff = there.step(copies, action.cuda())
        assert torch.equal(over, gpu_over.cpu())
        assert torch.equal(payoff, gpu_payoff.cpu())
        ended |= over
    assert ended.all()


def test_a_captured_round_is_the_round() -> None:
    """Starts rounds from one state, again and again: replayed as a graph, and played plainly with the same products.

    Both draw the same random numbers, so everything except floats is equal. Floats may be summed in another order: that
    changes them far less than a round does, and changes no action in a few hundred decisions.
    """
    changes = {"learning_rate": "0.1", "policy_learning_rate": "0.1", "refit_every": "7"}
    config = LIMIT_PRESETS["smoke"].with_settings({**SMALL, **changes})
    graph, plain = (NFSP_LIMIT.trainer(load_game("limit_holdem"), config, "cuda") for _ in range(2))
    graph.play(0, WARM_UP + 100)  # captured after the first few; memories overflow
    refits = []
    for _ in range(8):
        state = graph.state()
        plain.restore(*state)
        graph.play(0, 1)
        with _tensor_cores():
            plain.play_one()
        before, replayed, played = state[0], graph.state()[0], plain.state()[0]
        assert replayed.keys() == played.keys()
        for name, tensor in played.items():
            if tensor.is_floating_point():
                torch.testing.assert_close(replayed[name], tensor, rtol=1e-3, atol=1e-5)
            else:
                assert torch.equal(replayed[name], tensor), name
        for name in ("0.weight", "0.bias", "1.weight", "1.bias"):
            assert (abs(replayed[name] - before[name]).amax((1, 2)) > 2e-4).all(), name  # all four networks learn
        refits.append(not torch.equal(replayed["target.1.bias"], before["target.1.bias"]))
    assert int(graph.rounds) == WARM_UP + 100 + 8
    assert (graph.transitions.offered > config.transitions).all()
    assert 0 < sum(refits) < 8  # every fourth round or so


def test_a_run_on_the_gpu_learns_and_goes_on() -> None:
    config = LIMIT_PRESETS["cpu"].with_settings({"epoch_rounds": "1000", "deals": "10000"})
    trainer = NFSP_LIMIT.trainer(load_game("limit_holdem"), config, "cuda")
    for _ in range(4):
        trainer.run_epoch()
    judge = LimitJudge(trainer.selfplay.rules, 10_000, 1)
    call = judge.win_rate(trainer.layers, AVERAGE, "always-call")
    assert call.mbb - call.half > 30.0
    again = NFSP_LIMIT.trainer(load_game("limit_holdem"), config, "cuda")
    again.restore(*trainer.state())
    assert again.epoch == 4
    assert judge.win_rate(again.layers, AVERAGE, "always-call") == call
    again.run_epoch()
    assert int(again.rounds) == 5_000


def test_the_papers_settings_fit() -> None:
    trainer = NFSP_LIMIT.trainer(
        load_game("limit_holdem"), LIMIT_PRESETS["paper"].with_settings({"epoch_rounds": "300"}), "cuda"
    )
    progress = trainer.run_epoch()
    assert np.isfinite(progress.loss)
    assert torch.cuda.max_memory_allocated() < 16 * 2**30
