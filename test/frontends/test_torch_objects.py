# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules take and return objects with tensors, such as caches of keys and values."""

import enum
from dataclasses import dataclass

import pytest
import torch
from torch import nn

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError
from pyshardy.program import run_unpartitioned


class Options:
    """Settings that several objects share."""

    def __init__(self):
        self.name = "cache"


class Layer:
    """The keys of a layer, which grow in place."""

    def __init__(self, options):
        self.options = options
        self.keys = torch.zeros(2, 0)
        self.dtype = None

    def grow(self, x):
        self.keys, self.dtype = torch.cat([self.keys, x], 1), x.dtype
        return self.keys


class Cache:
    def __init__(self, layers):
        self.options = Options()
        self.layers = [Layer(self.options) for _ in range(layers)]


@dataclass
class Output:
    logits: torch.Tensor
    cache: Cache


class Model(nn.Module):
    def forward(self, x, cache=None):
        cache = cache or Cache(2)
        for layer in cache.layers:
            x = layer.grow(x).sum(1, keepdim=True) * x
        return Output(x, cache)


def run(traced, *args):
    return traced.outputs(run_unpartitioned(traced.module, traced.inputs(*args), "interpreter"))


def test_objects_are_those_of_eager_pytorch():
    model, x = Model(), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    first = run(sdy.torch.trace(model, x), x)
    traced = sdy.torch.trace(model, x, first.cache)
    assert traced.arguments == ("x", "cache_layers_0_keys", "cache_layers_1_keys")
    second = run(traced, x, first.cache)
    eager = model(x, model(x).cache)
    assert isinstance(second, Output)
    torch.testing.assert_close(second.logits, eager.logits)
    for layer, expected in zip(second.cache.layers, eager.cache.layers, strict=True):
        torch.testing.assert_close(layer.keys, expected.keys)
        assert layer.dtype is torch.float32
        assert layer.options is second.cache.options


def test_other_objects_are_refused():
    x = torch.ones(2, 2)
    traced = sdy.torch.trace(Model(), x, Model()(x).cache)
    message = r"was traced for inputs like .*Cache\(\*, \*\).*got: .*Cache\(\*\)"
    with pytest.raises(UsageError, match=message):
        traced.inputs(x, Cache(1))
    assert len(traced.inputs(x, Model()(x).cache)) == 3


class Mode(enum.Enum):
    SUM = "sum"
    MEAN = "mean"


class Level(enum.IntEnum):
    LOW = 3


@pytest.mark.parametrize("member", [Mode.MEAN, Level.LOW])
def test_members_of_enumerations(member):
    class Reduced(nn.Module):
        def forward(self, x, mode):
            return x.mean() if mode is Mode.MEAN else x.sum(), {"mode": mode}

    x = torch.ones(2)
    traced = sdy.torch.trace(Reduced(), x, member)
    assert traced.arguments == ("x",)
    value, result = run(traced, x, member)
    assert value == Reduced()(x, member)[0]
    assert result["mode"] is member
    with pytest.raises(UsageError, match=rf"inputs like .*{member}.*got: .*Mode\.SUM"):
        traced.inputs(x, Mode.SUM)


@dataclass
class Batch:
    x: torch.Tensor
    scale: int


def test_objects_of_training_steps():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))

        def forward(self, batch, mode):
            value = self.weight * batch.x * batch.scale
            return value.mean() if mode is Mode.MEAN else value.sum()

    def loss(output, labels):
        return output * labels.x * labels.scale

    model, batch = Scaled(), ((Batch(torch.arange(2.0), 3), Mode.SUM), Batch(torch.tensor(5.0), 2))
    traced = sdy.torch.trace_training(model, loss, *batch, optimizer="sgd")
    arrays = run_unpartitioned(traced.module, traced.inputs(*batch), "interpreter")
    assert arrays[traced.results.index("loss")] == 30.0
    loss(model(*batch[0]), batch[1]).backward()
    rate = traced.inputs(*batch)[traced.arguments.index("optimizer.lr")].item()
    expected = model.weight.detach() - rate * model.weight.grad
    torch.testing.assert_close(torch.tensor(traced.new_state(arrays)["weight"]), expected)


class Cycle:
    def __init__(self, x):
        self.x = x
        self.own = self


def test_objects_that_contain_themselves_are_refused():
    class Cyclic(nn.Module):
        def forward(self, x):
            return Cycle(x)

    with pytest.raises(UsageError, match=r"returns a value of the type .*Cycle"):
        sdy.torch.trace(Cyclic(), torch.ones(2))
