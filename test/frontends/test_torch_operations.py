# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of PyTorch are taken with the results of eager PyTorch, or refused with advice."""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional

import pyshardy as sdy
import torch_cases
import torch_support
from mlir_sdy.diagnostics import UsageError
from mlir_sdy.stages import listening
from pyshardy.frontends.torch.failures import COMPUTE_OUTSIDE
from pyshardy.program import run_unpartitioned


def test_all_operations():
    """One test, since the calls take half a minute, and workers would repeat them."""
    outcomes, names = torch_support.all_outcomes()
    _check_results(outcomes)
    _check_refusals(outcomes["refused"])
    core, refused = torch_support.core_operations(), {*torch_cases.REFUSED_OF_CORE}
    assert core - names - refused == set()
    assert refused <= core
    assert torch_support.PAGE.read_text(encoding="utf-8") == torch_support.page(outcomes)


def _check_results(outcomes):
    """Check that results are those of eager PyTorch."""
    taken = [each for family, found in outcomes.items() for each in found if family != "refused"]
    assert len(taken) > 400
    assert [each for each in taken if each.error or each.difference] == []


def _check_refusals(refused):
    """Check that each is refused with its line, and with advice of its own."""
    assert [each.call for each in refused if each.error is None] == []
    for each in refused:
        *_, alternative = each.error.split("; ")
        assert alternative != COMPUTE_OUTSIDE, each.call
        assert each.line, each.call


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_numbers_of_16_bits_are_added_up_in_32(dtype):
    """In 16 bits, a sum of ones ends at 256 or 2,048, and squares of 300 are infinite."""

    class Sums(nn.Module):
        def forward(self, x, ones):
            rows = ones.reshape(2, -1)
            return [
                *(ones.sum(), rows.mean(1), ones.norm(), rows.cumsum(1)[:, -1], ones.nansum()),
                *(x.var(1), *torch.std_mean(x, 1), torch.linalg.vector_norm(x, 4), x.norm(3, 1)),
                *(functional.rms_norm(x, (6,)), functional.normalize(x), torch.dist(x, x / 2, 4)),
                *(functional.avg_pool1d(rows, 4096), functional.adaptive_avg_pool1d(rows, 1)),
                *(functional.cosine_similarity(x, x.flip(0)), ones.sum(dtype=torch.float32)),
                *self.scattered(ones, torch.zeros(8192, dtype=torch.int64)),
            ]

        def scattered(self, ones, indices):
            rows, columns = ones.expand(2, -1).T, indices.expand(2, -1).T
            zeros = torch.zeros(1, 2, dtype=ones.dtype)
            yield zeros.scatter_add(0, columns, rows)
            yield zeros.scatter_reduce(0, columns, rows, "sum")
            yield zeros.index_add(0, indices, rows)
            signal, weight = ones.reshape(1, 1, -1), ones[:1].reshape(1, 1, 1)
            options = [1], [1], [0], [1], False, [0], 1
            only_bias = [False, False, True]
            backward = torch.ops.aten.convolution_backward
            yield backward(signal, signal, weight, *options, only_bias)[2]

    x = (torch.randn((4, 6), generator=torch.Generator().manual_seed(0)) * 300).to(dtype)
    inputs = x, torch.ones(8192, dtype=dtype)
    traced = sdy.torch.trace(Sums(), *inputs)
    found = traced.outputs(run_unpartitioned(traced.module, traced.inputs(*inputs), "jit"))
    for ours, eager in zip(found, Sums()(*inputs), strict=True):
        assert ours.dtype == eager.dtype
        torch.testing.assert_close(ours, eager, rtol=1e-2, atol=1e-2)


def test_weights_without_values():
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(2**20, 2**20), nn.BatchNorm1d(2**20))  # 4 TB
    stages = []
    with listening(lambda each: stages.extend(each[-1:])):
        traced = sdy.torch.trace(model, torch.ones(2, 2**20, device="meta"))
    assert traced.arguments[:2] == ("0.weight", "0.bias")
    assert traced.results[:2] == ("1.running_mean", "1.running_var")
    assert any("exporting" in each for each in stages)
    with pytest.raises(UsageError, match=r"'0.weight' has no values, only a shape"):
        traced.inputs(torch.ones(2, 2**20))


def test_models_under_fake_tensor_mode():
    with FakeTensorMode():
        model, x = nn.Sequential(nn.Linear(2**20, 2**20), nn.ReLU()), torch.ones(2, 2**20)  # 4 TB
        traced = sdy.torch.trace(model, x)
    assert traced.arguments == ("0.weight", "0.bias", "input")
    assert sdy.torch.trace(model, x).arguments == traced.arguments  # outside of the mode, too
    with pytest.raises(UsageError, match=r"'0.weight' has no values, only a shape"):
        traced.inputs(torch.ones(2, 2**20))


def test_large_constants():
    mesh = sdy.Mesh.of({"data": 2, "model": 4})

    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.mask = torch.ones(2048, 2048).triu(1) * -2.0  # 16 MB; an attribute, no buffer
            self.register_buffer("angles", torch.arange(2048.0), persistent=False)

        def forward(self, x):
            table = torch.outer(torch.arange(2048.0), torch.linspace(0, 1, 16)).cos()
            return x @ self.mask + (table.sum(1) * self.angles) @ self.mask

    model, x = Masked(), torch.randn(4, 2048)
    traced = sdy.torch.trace(model, x, mesh=mesh, shardings={"x": ("data", "model")})
    assert len(sdy.asm(traced.module)) < 100_000  # without the numbers
    sdy.propagate(traced.module)
    arrays = sdy.partition(traced.module).run(traced.inputs(x), "xla")
    torch.testing.assert_close(traced.outputs(arrays), model(x), rtol=1e-3, atol=1e-2)


def test_regions_of_autocast():
    class Mixed(nn.Module):
        def forward(self, x):
            with torch.autocast("cpu", torch.bfloat16):
                y = x @ x
                mixed = torch.einsum("ij,jk->ik", y, x), torch.quantile(y, 0.3)
                targets, lengths = torch.tensor([[1, 2]]), torch.tensor([4])
                loss = functional.ctc_loss(y[:, None], targets, lengths, lengths // 2)
                signal = torch.istft(x.to(torch.complex64), 6, window=torch.ones(6))
            with torch.autocast("cpu", enabled=False), torch.no_grad():
                return y, x @ x, *mixed, loss, signal

    x = torch.randn(4, 4)
    traced = sdy.torch.trace(Mixed(), x)
    made = traced.outputs(run_unpartitioned(traced.module, traced.inputs(x), "xla"))
    for ours, eager in zip(made, Mixed()(x), strict=True):
        torch.testing.assert_close(ours, eager, rtol=2e-2, atol=2e-2)


def test_exported_programs_stay_as_they_are():
    class Scaled(nn.Module):
        def forward(self, x, factor):
            return torch.nn.functional.softmax(x * factor, -1), factor

    exported = torch.export.export(Scaled(), (torch.ones(3), 2))
    before = str(exported.graph)
    first, second = (sdy.asm(sdy.torch.trace(exported).module) for _ in range(2))
    assert first == second
    assert str(exported.graph) == before


def test_calls_are_separated_by_blanks():
    text = "a(x) b(lambda a: a, 1)\n c(y)"
    assert torch_cases.calls_of(text) == ["a(x)", "b(lambda a: a, 1)", "c(y)"]
