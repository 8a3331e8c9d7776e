# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations in place become functions, each alone if the graph allocated what they change."""

import pytest
import torch
from torch import nn

import pyshardy as sdy
from mlir_sdy.diagnostics import PassError, UsageError
from pyshardy.frontends.torch import mutations
from pyshardy.program import run_unpartitioned


def views_before_and_after(x, _):
    y = x * 2
    flat, columns, halves = y.view(-1), y[:, 1:], y.split(2)
    columns.copy_(x[:, 1:])
    y[0] += 1
    halves[1].add_(1)
    before = flat + 1
    flat.mul_(3)
    return before, flat + 1, columns, y, y.T.reshape(-1), halves[0]


def indices_and_masks(x, i):
    y = x.clone()
    y[i] = 5.0
    y[:, 1].masked_fill_(y[:, 1] > 0, 2)
    y.t().relu_()
    for row in range(3):
        y[row] = y[row] + x[row + 1]
    return y


def types_and_sizes(x, i):
    counts = torch.zeros(4, 3, dtype=torch.int64)
    counts.add_(i.sum())
    counts[1:3, :2] += 2
    return counts, torch.tensor([1.0]).relu_(), x.half().add_(x)


def views_in_place(*_):
    y = torch.empty(3, 4)
    y.zero_().diagonal().fill_(7)
    y.unsqueeze_(0).transpose_(1, 2)
    return y, y.add_(1)


def diagonals(x, _):
    y = torch.ones(3, 3, dtype=torch.bool).fill_diagonal_(False)
    return torch.where(y, x[:3], 0), x.mul(2).fill_diagonal_(7)


def values_behind_autograd(x, _):
    y, zeros = x * 2, x.new_zeros(4, 6)
    y.data.mul_(3)
    zeros.data[:, :3].copy_(x.data)
    z = x + 1
    z.data = x * 4
    return y, zeros, z


class Module(nn.Module):
    def __init__(self, functions):
        super().__init__()
        self.functions = functions
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x, i):
        return [function(x, i) for function in self.functions]


FUNCTIONS = [
    views_before_and_after,
    indices_and_masks,
    types_and_sizes,
    views_in_place,
    diagonals,
    values_behind_autograd,
]
X, INDEX = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 2])


def test_results_are_those_of_eager_pytorch(monkeypatch):
    called = []
    original = mutations.replaced
    monkeypatch.setattr(mutations, "replaced", lambda it: called.append(it) or original(it))
    module = Module(FUNCTIONS)
    traced = sdy.torch.trace(module, X, INDEX)
    (graph,) = called
    assert any(map(mutations.is_mutation, graph.graph.nodes))
    results = traced.outputs(run_unpartitioned(traced.module, traced.inputs(X, INDEX), "xla"))
    torch.testing.assert_close(results, module(X, INDEX))


def changed_buffer(module, _):
    module.total += 1


def changed_input(_, x):
    x.mul_(2)


@pytest.mark.parametrize("change", [changed_buffer, changed_input])
def test_arguments_that_change(change):
    class Changing(Module):
        def forward(self, x):
            change(self, x)
            return x + self.total

    traced = sdy.torch.trace(Changing(()), X)
    first, *_, last = run_unpartitioned(traced.module, traced.inputs(X))
    expected = Changing(())
    output = expected(X.clone())
    torch.testing.assert_close(torch.from_numpy(last), output)
    if change is changed_buffer:
        assert traced.results == ("total", "output")
        torch.testing.assert_close(torch.from_numpy(first), expected.total)


@pytest.mark.parametrize(
    ("kind", "momentum"), [(nn.InstanceNorm1d, 0.3), (nn.BatchNorm1d, 0.3), (nn.BatchNorm1d, None)]
)
def test_statistics_of_normalizations(kind, momentum):
    traced_module, eager = (kind(3, track_running_stats=True, momentum=momentum) for _ in range(2))
    x = torch.randn(4, 3, 5, generator=torch.Generator().manual_seed(0)) + 2
    traced = sdy.torch.trace(traced_module, x)
    results = run_unpartitioned(traced.module, traced.inputs(x))
    torch.testing.assert_close(traced.outputs(results), eager(x))
    changed = dict(zip(traced.results, results, strict=True))
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(torch.from_numpy(changed[name]), getattr(eager, name))


@pytest.mark.parametrize("inputs", [(X, X), (X[1:], X[:-1])])
def test_inputs_that_share_changing_memory_are_refused(inputs):
    class Changing(nn.Module):
        def forward(self, x, y):
            return x.add_(1), y * 1

    with pytest.raises(UsageError, match="the inputs 'x' and 'y' share memory, which changes"):
        sdy.torch.trace(Changing(), *inputs)


def test_operation_that_pytorch_cannot_replace():
    class Filling(nn.Module):
        def forward(self, x):
            return torch.ops.aten.fill_diagonal_(x * 2, 1.0)

    message = r"test_torch_in_place.py:\d+: error: cannot convert 'aten.fill_diagonal_'"
    with pytest.raises(PassError, match=message):
        sdy.torch.trace(Filling(), X)


class Normalized(nn.Module):
    """A weight that is normalized behind autograd before it is used."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3) * 2)

    def forward(self, x):
        self.weight.data = self.weight.data / self.weight.data.norm()
        return (x * self.weight).pow(2).sum()


def test_weights_that_change_behind_autograd():
    module = Normalized()
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    traced = sdy.torch.trace_training(module, None, X, optimizer=optimizer)
    results = run_unpartitioned(traced.module, traced.inputs(X), "interpreter")
    module(X).backward()
    optimizer.step()
    made = torch.from_numpy(traced.new_state(results)["weight"])
    torch.testing.assert_close(made, module.weight.detach())


def test_data_of_another_type_is_refused():
    def assigned(x, _):
        x.data = x.double()
        return x

    with pytest.raises(UsageError, match=r"torch.float32 of shape \(4, 3\) cannot become"):
        sdy.torch.trace(Module([assigned]), X, INDEX)
