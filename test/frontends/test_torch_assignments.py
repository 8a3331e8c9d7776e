# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that assign to attributes, change shared memory, or are called in a mode."""

import copy

import pytest
import torch
from torch import nn

import pyshardy as sdy
from mlir_sdy.diagnostics import PassError, UsageError, collect
from pyshardy.program import run_unpartitioned

X, TARGET = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
mse = nn.functional.mse_loss


class Averaging(nn.Module):
    """Its buffers are replaced, the former one is returned, and two swap their values."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("first", torch.ones(3))
        self.register_buffer("second", torch.zeros(3))
        self.seen = None

    def forward(self, x):
        former, self.seen = self.mean, x
        self.mean = self.mean * 0.5 + x.detach().mean(0)
        self.first, self.second = self.second, self.first
        return x - self.mean + self.first, former


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear, self.inner = nn.Linear(3, 3), Averaging()

    def forward(self, x):
        values, former = self.inner(self.linear(x))
        return values + former


def check_step(model, expected):
    optimizers = [torch.optim.SGD(each.parameters(), 0.1) for each in (model, expected)]
    traced = sdy.torch.trace_training(model, mse, X, TARGET, optimizer=optimizers[0])
    for _ in range(2):
        traced.load(run_unpartitioned(traced.module, traced.inputs(X, TARGET), "jit"))
        optimizers[1].zero_grad()
        mse(expected(X), TARGET).backward()
        optimizers[1].step()
    torch.testing.assert_close(model.state_dict(), expected.state_dict())


def test_assigned_buffers_are_results():
    model, expected = Averaging(), Averaging()
    traced = sdy.torch.trace(nn.Sequential(model), X)
    assert traced.results == ("0.mean", "0.first", "0.second", "output", "output 1")
    assert model.seen is None
    results = run_unpartitioned(traced.module, traced.inputs(X), "jit")
    torch.testing.assert_close(traced.outputs(results), expected(X))
    for name, value in zip(("mean", "first", "second"), results, strict=False):
        torch.testing.assert_close(torch.from_numpy(value), getattr(expected, name))
    check_step(Model(), Model())


class Changing(nn.Module):
    def __init__(self, change):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("same", self.total)
        self.part, self.constant, self.count = self.total[:2], torch.ones(3), 0
        self.history, self.counts = [], {"calls": [0]}
        self.change = change

    def forward(self, x):
        self.change(self, x)
        return x + self.total.sum() + self.same


def grown(module, x):
    module.total = torch.cat([module.total, x[0]])


def constant(module, _):
    module.constant.add_(1)


def viewed(module, _):
    module.total.add_(module.part.sum())


def counted(module, x):
    module.count += 1
    module.constant = module.constant + x[0]


def listed(module, x):
    module.history.append(x)
    module.counts["calls"][0] += 1


def together(module, _):
    module.total.add_(1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (grown, r"float32 of shape \(6,\) to the buffer 'total', which has float32 of shape \(3"),
        (constant, "changes the tensor 'constant', which is no buffer, in place"),
        (viewed, "'total' and 'part' share memory, and 'total' changes"),
    ],
)
def test_refused_changes(change, message):
    with pytest.raises((UsageError, PassError), match=message):
        sdy.torch.trace(Changing(change), X)


@pytest.mark.parametrize(
    ("change", "changed"),
    [(counted, "'constant', 'count'"), (listed, "'history', 'counts['calls'][0]'")],
)
def test_attributes_that_the_program_leaves(change, changed):
    module = Changing(change)
    with collect() as diagnostics:
        sdy.torch.trace(module, X)
    (diagnostic,) = diagnostics
    assert f"changes {changed} in each call, and the program doesn't" in str(diagnostic)
    assert (module.count, module.history, module.counts) == (0, [], {"calls": [0]})


def test_buffer_of_two_names():
    expected = Changing(together)
    program = torch.export.export(Changing(together), (X,), strict=False)
    specs = len(program.graph_signature.input_specs)
    traced = sdy.torch.trace(program)
    assert len(program.graph_signature.input_specs) == specs
    assert traced.results == ("total", "output")
    results = run_unpartitioned(traced.module, traced.inputs(X), "jit")
    torch.testing.assert_close(traced.outputs(results), expected(X))


@pytest.mark.parametrize("view", [lambda weight: weight.T, lambda weight: weight[1:]])
def test_parameters_that_share_memory_are_refused(view):
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3, bias=False))
    model[1].weight = nn.Parameter(view(model[0].weight.data))
    loss = lambda y: y.sum()  # noqa: E731
    with pytest.raises(UsageError, match=r"'0.weight' and '1.weight' share memory"):
        sdy.torch.trace_training(model, loss, X, optimizer="sgd")


class Inferring(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        with torch.inference_mode():
            scale = self.linear(x).sum()
            with torch.inference_mode(False):
                again = self.linear(x)
        return self.linear(x) * scale.clone() + again


def test_inference_mode_has_no_gradients():
    check_step(Inferring(), Inferring())


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_modes_without_gradients_around_the_trace(mode):
    model, optimizer = nn.Linear(3, 3), "sgd"
    with mode():
        traced = sdy.torch.trace(model, X)
        step = sdy.torch.trace_training(model, mse, X, TARGET, optimizer=optimizer)
    results = run_unpartitioned(traced.module, traced.inputs(X), "jit")
    torch.testing.assert_close(traced.outputs(results), model(X).detach())
    assert "weight" in step.results


def test_autocast_around_the_trace():
    module = nn.Sequential(nn.Linear(3, 3), nn.Softmax(1))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        traced, expected = sdy.torch.trace(module, X), module(X)
    results = run_unpartitioned(traced.module, traced.inputs(X), "jit")
    torch.testing.assert_close(traced.outputs(results), expected, rtol=1e-2, atol=1e-2)
    product = sdy.torch.trace(copy.deepcopy(module), X)
    assert "bf16" in str(traced.module)
    assert "bf16" not in str(product.module)


class Composed(nn.Module):
    """Operations whose parts `torch.autocast` converts."""

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            products = torch.einsum("ij,kj->ik", x, x), torch.inner(x, x)
            with torch.autocast("cpu", enabled=False):
                return *products, torch.einsum("ij,kj->ik", x, x), x.flatten()


def test_operations_composed_of_others_in_autocast():
    traced = sdy.torch.trace(Composed(), X)
    results = traced.outputs(run_unpartitioned(traced.module, traced.inputs(X), "jit"))
    torch.testing.assert_close(results, Composed()(X), rtol=1e-2, atol=1e-2)


def test_dropout_of_all():
    module = nn.Dropout(1.0)
    traced = sdy.torch.trace(module, X)
    results = run_unpartitioned(traced.module, traced.inputs(X), "jit")
    torch.testing.assert_close(traced.outputs(results), torch.zeros_like(X))
