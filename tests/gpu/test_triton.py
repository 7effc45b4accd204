"""The GPU passes against the CPU's; skipped without CUDA."""

import copy

import numpy as np
import pytest
import torch
from torch import Tensor

from tacit.games import load_game
from tacit.leaves.continuation_sets import biased_play, uniform_play
from tacit.leaves.continuations import ContinuationLeaves
from tacit.leaves.evaluators import RandomLeaves
from tacit.nets.encoders import ClassEncoder
from tacit.nets.value_net import PolicyNet, ValueNet
from tacit.rebel.config import preset
from tacit.rebel.train import RebelTrainer
from tacit.search.best_response import best_response_bound
from tacit.search.config import SearchConfig
from tacit.search.continual import Spots, resolve
from tacit.search.search import BatchSearch
from tacit.solvers import solve
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")]


DICE, LEDUC, GOOFSPIEL = "liars_dice(dice=1,faces=4)", "leduc_poker", "goofspiel(cards=4)"


@pytest.mark.parametrize(
    ("name", "config", "warm"),
    [
        *((name, SearchConfig(solver, 6, 2), False) for name in (DICE, LEDUC, GOOFSPIEL) for solver in ("linear-cfr", "flop")),
        (DICE, SearchConfig("dcfr", 6, 2, alternating=False), False),
        (DICE, SearchConfig("dcfr", 7, 2, recycle=3), False),
        (LEDUC, SearchConfig("linear-cfr", 6, "round", decomposition="modified-cfr-ave"), False),
        (DICE, SearchConfig("dcfr", 19, 2), True),
    ],
)
def test_triton_searches_like_numba(name: str, config: SearchConfig, warm: bool) -> None:
    space = search_space(compile_game(load_game(name)), config.depth)
    H, C = space.tables.num_private_states, space.num_classes
    generator = np.random.default_rng(0)
    torch.manual_seed(0)
    net = ValueNet(ClassEncoder(C), H)
    with torch.no_grad():
        net.out.weight.mul_(100)
    policy = PolicyNet(ClassEncoder(C), H, int(space.tables.num_entry_actions.max())) if warm else None
    classes, sample = generator.integers(0, C, 300), generator.integers(1, config.iterations + 1, 300)
    counts = torch.from_numpy(np.stack([table.num_roots[classes] for table in space.tables.players], axis=1))
    reaches = torch.rand(300, 2, H) * (torch.arange(H) < counts[:, :, None])
    on_cpu = BatchSearch(space, net, config, policy=policy)
    on_cpu.kernels.alignment = 64  # the layout of the GPU's results
    cpu = on_cpu.run(classes, reaches, sample)
    there = copy.deepcopy(policy).cuda() if policy is not None else None
    on_gpu = BatchSearch(space, copy.deepcopy(net).cuda(), config, "cuda", there)
    gpu = on_gpu.run(classes, reaches.cuda(), sample)
    # Where actions tie, rounding decides, above all in goofspiel: tiny changes of the beliefs move as much on the CPU alone.
    shaken = [on_cpu.run(classes, reaches * (1.0 + 1e-6 * torch.randn(reaches.shape)), sample) for _ in range(4)]
    for field in ("values", "sampled_strategy", "believed_strategy", "average_strategy"):
        ours, theirs = getattr(gpu, field).cpu(), getattr(cpu, field)
        assert torch.equal(ours.isnan(), theirs.isnan())
        moved, *allowed = (
            ((other - theirs).abs() > 1e-3).float().mean() for other in (ours, *(getattr(s, field) for s in shaken))
        )
        assert float(moved) <= float(max(allowed)) < 0.1


def test_values_and_policies_are_learnt_on_the_gpu() -> None:
    settings = {"games": "1024", "epoch_examples": "8192", "iterations": "32", "warm_start_at": "10", "epochs": "25"}
    trainer = RebelTrainer(load_game("kuhn_poker"), preset("gpu").with_settings({**settings, "batch_size": "512"}), "cuda")
    losses = [trainer.run_epoch() for _ in range(25)]
    assert losses[-1].policy_loss is not None
    assert losses[0].policy_loss is not None
    assert losses[-1].policy_loss < 0.5 * losses[0].policy_loss
    assert trainer.evaluate(256) < 0.05  # uniform play: 0.458


@pytest.mark.parametrize(
    ("name", "hidden", "layers"), [("liars_dice(dice=1,faces=6)", 256, 2), ("leduc_poker", 64, 3), (DICE, 512, 2)]
)
def test_the_fused_network_is_the_network(name: str, hidden: int, layers: int) -> None:
    from tacit.nets.triton_mlp import FusedValueNet

    space = search_space(compile_game(load_game(name)), 2)
    H, C = space.tables.num_private_states, space.num_classes
    net = ValueNet(ClassEncoder(C, hidden), H, layers, scale=3.0).cuda()
    beliefs = torch.rand(2 * H, 1_024, device="cuda")
    classes = torch.randint(0, C, (16,), device="cuda").repeat_interleave(64)
    exact, fused = net.evaluate(classes, beliefs), FusedValueNet(net).evaluate(classes, beliefs)
    assert float((exact - fused).norm() / exact.norm()) < 0.003  # float16


def test_a_best_responder_wins_as_much_on_the_gpu() -> None:
    space = search_space(compile_game(load_game(DICE)), 2)
    config = SearchConfig("dcfr", 16, 2)
    cpu, gpu = (
        best_response_bound(BatchSearch(space, RandomLeaves(space), config, device), 4, np.random.default_rng(0), safe=False)
        for device in ("cpu", "cuda")
    )
    assert gpu.payoffs == pytest.approx(cpu.payoffs, abs=1e-3)


def test_torch_solves_on_the_gpu() -> None:
    cpu, gpu = (solve("leduc_poker", solver="cfr+", iterations=50, backend="torch", device=d) for d in ("cpu", "cuda"))
    assert gpu.exploitability == pytest.approx(cpu.exploitability, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "decomposition", "dense_from"),
    [
        ("pot_limit_leduc", "cfr-d", 33),
        ("pot_limit_leduc", "modified-cfr-ave", 33),
        ("pot_limit_leduc", "cfr-d", 1),
        ("pot_limit_leduc", "modified-cfr-ave", 1),
        ("tplo(cards=2)", "cfr-d", 33),  # wide tiles
    ],
)
def test_re_solving_on_the_gpu_is_re_solving(
    name: str, decomposition: str, dense_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gadgets, values of rows and sampled roots inside a captured graph; sums at ends in the kernel and as matrix products."""
    monkeypatch.setattr("tacit.search.triton_kernels.DENSE_FROM", dense_from)
    space = search_space(compile_game(load_game(name)), "round")
    generator, states = np.random.default_rng(0), space.tables.num_private_states
    torch.manual_seed(0)
    net = ValueNet(ClassEncoder(space.num_classes), states)
    with torch.no_grad():
        net.out.weight.mul_(100)
    classes = generator.integers(0, space.num_classes, 200)
    counts = torch.from_numpy(np.stack([table.num_roots[classes] for table in space.tables.players], axis=1))[:, :, None]
    reach, promised = torch.rand(200, 2, states) * (torch.arange(states) < counts), 0.1 * torch.randn(200, states)
    config = SearchConfig("pcfr+", 12, "round", decomposition)

    def results(device: str) -> dict[str, Tensor]:
        search = BatchSearch(space, copy.deepcopy(net).to(device), config, device)
        result, parts = resolve(search, 1, Spots(classes, reach.to(device), promised.to(device)), True, np.full(200, 5))
        fields = {name: [getattr(part, name).flatten().cpu() for part in parts] for name in ("played", "reach", "promised")}
        joined = {name: torch.cat(found) for name, found in fields.items()}
        return {"values": result.values.cpu(), "entering": result.sampled_reaches.cpu(), **joined}

    cpu, gpu, shaken = results("cpu"), results("cuda"), []
    for _ in range(3):  # where actions tie, rounding decides: rounded payoffs and weights change the CPU's results as well
        for table in space.tables.players:
            table.meeting_weight[:] *= 1.0 + 1e-7 * generator.standard_normal(len(table.meeting_weight))
        with torch.no_grad():
            for part in net.parameters():
                part.mul_(1.0 + 1e-7 * torch.randn_like(part))
        shaken.append(results("cpu"))
    for field, exact in cpu.items():
        assert torch.equal(exact.isnan(), gpu[field].isnan())
        large = 2e-3 * exact.nan_to_num().abs().max().clamp_min(1.0)
        moved, *allowed = (float(((other[field] - exact).abs() > large).float().mean()) for other in (gpu, *shaken))
        assert max(allowed) < 0.05
        assert moved <= 0.002 + 2 * max(allowed)


@pytest.mark.parametrize("solver", ["dcfr", "pcfr+"])
@pytest.mark.parametrize("name", [DICE, LEDUC])
def test_choices_at_leaves_are_learnt_as_on_the_cpu(name: str, solver: str) -> None:
    """A captured graph must keep regrets between iterations, and read each iteration's weights."""
    space = search_space(compile_game(load_game(name)), 2)
    play = biased_play(space, uniform_play(space), 10.0)
    classes = np.random.default_rng(0).integers(0, space.num_classes, 300)
    counts = torch.from_numpy(np.stack([table.num_roots[classes] for table in space.tables.players], axis=1))
    H = space.tables.num_private_states
    reaches = torch.rand(300, 2, H, generator=torch.Generator().manual_seed(0)) * (torch.arange(H) < counts[:, :, None])
    cpu, gpu = (
        BatchSearch(space, ContinuationLeaves(space, play, device), SearchConfig(solver, 8, 2), device)
        .run(classes, reaches.to(device))
        .values.cpu()
        for device in ("cpu", "cuda")
    )
    torch.testing.assert_close(gpu, cpu, atol=1e-3, rtol=1e-3, equal_nan=True)
