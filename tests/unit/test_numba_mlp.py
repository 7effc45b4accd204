"""The networks' forward pass on a CPU, and its building blocks."""

import numpy as np
import pytest
import torch
from numba import njit

from tacit.compiled import for_one_and_all
from tacit.kernels.simd import load, store
from tacit.kernels.tiles import HAS_PAIRS, LANES, ONE_VECTOR, PANEL, ROWS, VECTOR, lane_sum, pack, product
from tacit.nets import numba_mlp
from tacit.nets.encoders import ClassEncoder
from tacit.nets.numba_mlp import FEW, NumbaValueNet
from tacit.nets.value_net import ValueNet
from tacit.threads import one_thread

KINDS = [False, pytest.param(True, marks=pytest.mark.skipif(not HAS_PAIRS, reason="no bfloat16 products"))]


def random_net(hidden: int, layers: int) -> ValueNet:
    torch.manual_seed(0)
    net = ValueNet(ClassEncoder(5, hidden), 3, layers, scale=7.0)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    return net


@pytest.mark.parametrize("pairs", KINDS)
@pytest.mark.parametrize(("hidden", "layers", "leaves"), [(256, 2, 5_000), (48, 3, 7), (16, 1, 1)])
def test_the_fast_forward_pass_is_the_network(hidden: int, layers: int, leaves: int, pairs: bool) -> None:
    net = random_net(hidden, layers)
    classes, beliefs = torch.randint(0, 5, (leaves,)), torch.rand(6, leaves)
    fast = NumbaValueNet(net, pairs)
    for _ in range(2):
        ours, torchs = fast.evaluate(classes, beliefs), net.evaluate(classes, beliefs)
        assert float((ours - torchs).abs().max()) < (1e-2 if pairs else 1e-5) * float(torchs.abs().max())
        with torch.no_grad():
            net.out.bias.add_(1.0)
        fast.refresh()


@pytest.mark.parametrize("pairs", KINDS)
@pytest.mark.parametrize("leaves", [FEW + 1, 1_000])
def test_threads_do_not_change_values(leaves: int, pairs: bool) -> None:
    fast = NumbaValueNet(random_net(64, 2), pairs)
    classes, beliefs = torch.randint(0, 5, (leaves,)), torch.rand(6, leaves)
    with one_thread():
        alone = fast.evaluate(classes, beliefs)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert torch.equal(fast.evaluate(classes, beliefs), alone)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize(("gelu", "error"), [(numba_mlp._fine_gelu, 2e-6), (numba_mlp._coarse_gelu, 1.1e-4)])
def test_gelu(gelu, error: float) -> None:
    @njit
    def all_of(inputs, outputs):
        for row in range(len(inputs)):
            store(outputs, row, gelu(load(inputs, row, VECTOR)))

    inputs = torch.linspace(-12.0, 12.0, 4_096 * LANES).view(-1, LANES)
    outputs = torch.empty_like(inputs)
    all_of(inputs.numpy(), outputs.numpy())
    expected = torch.nn.functional.gelu(inputs.double(), approximate="tanh")
    assert float((outputs - expected).abs().max()) < error


@pytest.mark.parametrize("pairs", KINDS)
@pytest.mark.parametrize("panel", [ONE_VECTOR, PANEL])
def test_products_of_tiles(panel: tuple[None, ...], pairs: bool) -> None:
    @njit
    def set_product(rows, weights, bias, sums):
        for p in range(len(weights)):
            product(rows, weights, p, bias, sums, panel)

    rows, weights = torch.randn(ROWS, 10), torch.randn(10, 37)
    if pairs:  # so that bfloat16 holds both exactly
        rows, weights = rows.bfloat16().float(), weights.bfloat16().float()
    packed = pack(weights, pairs, panel)
    factors = rows.bfloat16().view(torch.int32).numpy().view(np.uint32) if pairs else rows.numpy()
    shape = (ROWS, len(packed) * packed.shape[2])
    for bias in torch.randn(shape[1]).numpy(), torch.randn(shape).numpy():
        sums = np.empty(shape, np.float32)
        set_product(factors, packed, bias, sums)
        expected = np.zeros(shape)
        expected[:, :37] = (rows.double() @ weights.double()).numpy()
        np.testing.assert_allclose(sums, expected + bias, rtol=1e-4, atol=1e-5)


def test_the_sum_of_a_vectors_lanes() -> None:
    @njit
    def total(numbers):
        return lane_sum(load(numbers, 1, VECTOR))

    assert total(np.arange(2 * LANES, dtype=np.float32)) == sum(range(LANES, 2 * LANES))


def test_both_compilations_have_a_cache_of_their_own() -> None:
    """Numba names cache files after functions, so the second compilation once loaded the code of the first."""

    def loop(numbers):
        return numbers

    one, all_threads = for_one_and_all(loop)
    assert one.py_func.__qualname__ != all_threads.py_func.__qualname__
    assert not one.targetoptions.get("parallel")
    assert all_threads.targetoptions["parallel"]
