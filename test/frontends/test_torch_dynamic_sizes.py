# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of PyTorch with dynamic dimensions: one plan, the numbers of eager PyTorch."""

import copy
import inspect
import io

import numpy as np
import pytest
import torch
from case_counts import cases, spread
from torch import nn
from torch.export import Dim
from torch.nn import functional
from torch.utils import _pytree as pytree

import pyshardy as sdy
from mlir_sdy.diagnostics import SdyError, UsageError, collect
from pyshardy.frontends.torch.dynamic_sizes import DynamicSizes

MESH = sdy.Mesh.of({"data": 4, "model": 2})
BATCH, FOURFOLD, LENGTH = Dim("b", max=4096), 4 * Dim("b"), Dim("s", min=2, max=512)


def module(function):
    class Module(nn.Module):
        def forward(self, x, y=None):
            return function(x) if y is None else function(x, y)

    return Module()


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        batch, length, _ = x.shape
        parts = (each.reshape(batch, length, 2, 8) for each in self.qkv(x).chunk(3, -1))
        q, k, v = (each.transpose(1, 2) for each in parts)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, 16))


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.positions = nn.Embedding(50, 16), nn.Parameter(torch.randn(64, 16))

    def forward(self, x):
        return self.table(x) + self.positions[: x.shape[1]]


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)

    def forward(self, x):
        return functional.max_pool2d(functional.relu(self.norm(self.filter(x))), 2).flatten(1)


def rows(size):
    return (torch.randn(size, 16),)


def groups(x):
    return x.reshape(-1, 4, 16).sum(1)


EXPORTED = {
    "plain": (nn.Linear(16, 8), rows, BATCH),
    "smallest": (nn.Linear(16, 8), rows, Dim("b", min=4, max=4096)),
    "fourfold": (nn.Linear(16, 8), lambda n: rows(4 * n), FOURFOLD),
    "groups": (module(groups), lambda n: rows(4 * n), FOURFOLD),
    "groups of auto": (module(groups), lambda n: rows(4 * n), Dim.AUTO),
    "auto": (nn.Linear(16, 8), rows, Dim.AUTO),
    "mean": (module(lambda x: (x.mean(0), x.std(), x / x.shape[0] ** 0.5)), rows, BATCH),
    "positions": (
        module(lambda x: x * torch.arange(x.shape[0])[:, None] / x.shape[0]),
        rows,
        BATCH,
    ),
    "reshape": (module(lambda x: (x.reshape(-1), x[1:], x.t())), rows, BATCH),
}
"""Modules with inputs for a size, and the dimension 0 of these."""

FURTHER = {
    "attention": (Attention(), lambda n: (torch.randn(n, 6, 16),), ({0: BATCH},)),
    "sequence": (
        Attention(),
        lambda n: (torch.randn(n, 2 * n + 1, 16),),
        ({0: BATCH, 1: LENGTH},),
    ),
    "tokens": (Tokens(), lambda n: (torch.randint(50, (n, 7)),), ({0: BATCH},)),
    "images": (Images().eval(), lambda n: (torch.randn(n, 3, 8, 8),), ({0: BATCH},)),
    "statistics": (Images(), lambda n: (torch.randn(n, 3, 8, 8),), ({0: Dim("b", min=2)},)),
    "recurrent": (
        nn.LSTM(8, 4, batch_first=True),
        lambda n: (torch.randn(n, 3, 8),),
        ({0: BATCH},),
    ),
    "norm": (nn.Sequential(nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 4)), rows, ({0: BATCH},)),
    "encoder": (
        nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval(),
        lambda n: (torch.randn(n, 4, 16),),
        ({0: BATCH},),
    ),
    "cumulative": (module(lambda x: torch.cumsum(x, 0)), rows, ({0: BATCH},)),
    "even": (module(lambda x: functional.pad(x, (0, 0, 0, x.shape[0] % 2))), rows, ({0: BATCH},)),
    "triangle": (module(lambda x: torch.tril(x @ x.t())), rows, ({0: BATCH},)),
    "diagonal": (module(lambda x: torch.diagonal(x @ x.t())), rows, ({0: BATCH},)),
    "in place": (module(lambda x: x.clone().mul_(2).add_(1)), rows, ({0: BATCH},)),
    "sorted": (module(lambda x: (x.sort(0)[0], x.flip(0), x.roll(1, 0))), rows, ({0: BATCH},)),
    "branches": (
        module(lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))),
        rows,
        ({0: BATCH},),
    ),
    "indices": (
        module(lambda x, y: x[y]),
        lambda n: (torch.randn(n, 16), torch.randint(n, (n,))),
        ({0: BATCH}, {0: BATCH}),
    ),
    "loss": (
        module(functional.cross_entropy),
        lambda n: (torch.randn(n, 16), torch.randint(16, (n,))),
        ({0: BATCH}, {0: BATCH}),
    ),
    "two sizes": (
        module(lambda x, y: torch.cat([x, y]).sum(0)),
        lambda n: (torch.randn(n, 16), torch.randn(n + 3, 16)),
        ({0: BATCH}, {0: LENGTH}),
    ),
    "windows": (
        module(lambda x: functional.avg_pool1d(x, 2)),
        lambda n: (torch.randn(3, 4, 2 * n),),
        ({2: 2 * Dim("b")},),
    ),
    "resized": (
        module(lambda x: functional.interpolate(x, scale_factor=2.0, mode="bilinear")),
        lambda n: (torch.randn(2, 3, n, 4),),
        ({2: Dim("b", min=2)},),
    ),
    "expanded": (
        module(lambda x, y: y.expand(x.shape[0], -1) * x),
        lambda n: (torch.randn(n, 16), torch.randn(16)),
        ({0: BATCH}, None),
    ),
}
MODELS = {name: (m, inputs, ({0: dim},)) for name, (m, inputs, dim) in EXPORTED.items()} | FURTHER


@pytest.mark.parametrize("name", spread([*MODELS], 12))
def test_numbers_of_eager_pytorch(name):
    torch.manual_seed(0)
    model, inputs_of, shapes = MODELS[name]
    first = next(iter(inspect.signature(model.forward).parameters))
    with collect():
        traced = sdy.torch.trace(
            copy.deepcopy(model),
            *inputs_of(6),
            mesh=MESH,
            shardings={first: ("data",) + (None,) * (inputs_of(6)[0].dim() - 1)},
            dynamic_shapes=shapes,
        )
        sdy.propagate(traced)
        program = sdy.partition(traced)
        for number in (5, 8, 4, 13, 6)[: cases(2)]:
            inputs = inputs_of(number)
            found = traced.outputs(program.run(traced.inputs(*inputs), "jit"))
            expected = copy.deepcopy(model)(*inputs)
            for one, other in zip(*map(pytree.tree_leaves, (found, expected)), strict=True):
                assert one.shape == other.shape
                np.testing.assert_allclose(
                    one.detach(), other.detach(), rtol=3e-5, atol=3e-5, equal_nan=True
                )


def test_symbols():
    traced = sdy.torch.trace(
        nn.Linear(16, 8),
        torch.ones(8, 16),
        mesh=MESH,
        shardings={"input": ("data", None), "weight": ("model", None)},
        dynamic_shapes=({0: Dim("b", min=4, max=64)},),
    )
    assert traced.arguments == ("weight", "bias", "input")
    sdy.propagate(traced, hints={"b": 32})
    program = sdy.partition(traced)
    assert str(program.sizes["b"]) == "b in 4..64 (hint 32)"
    assert [each.type for each in program.inputs] == ["f32[8, 16]", "f32[8]", "f32[b, 16]"]
    assert [each.type for each in program.outputs] == ["f32[b, 8]"]
    assert {each.kind for each in program.at(b=8).collectives} <= {"all_gather"}
    with pytest.raises(UsageError, match="dimension 0 of input has size 3: b = 3 is below 4"):
        program.run(traced.inputs(torch.ones(3, 16)))
    with pytest.raises(UsageError, match="the hint of b is no value of it: b = 65 is above 64"):
        sdy.propagate(traced, hints={"b": 65})


def test_exported_programs():
    exported = torch.export.export(
        module(groups), (torch.ones(8, 16),), dynamic_shapes=({0: Dim.AUTO},), strict=False
    )
    traced = sdy.torch.trace(exported, mesh=MESH, shardings={"x": ("data", None)})
    sdy.propagate(traced)
    program = sdy.partition(traced)
    ((name, symbol),) = program.sizes.items()
    assert name.startswith("s")
    assert symbol.multiple_of == 4
    assert "divides" in str(program.guards[0])
    assert ": proven;" in str(program.guards[0])
    file = io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)
    message = (
        "'aten.reshape' fails at sizes of the program: .*; say by which number it can be divided"
    )
    with pytest.raises(UsageError, match=message):
        sdy.torch.trace(torch.export.load(file), mesh=MESH)  # its guards aren't in the file


REFUSED = {
    "a size as a result": (
        module(lambda x: (x, x.shape[0])),
        BATCH,
        "the output 'sym_size_int.*' of the program is a size, not a tensor",
    ),
    "a fixed dimension": (
        module(lambda x: x + torch.ones(6, 1)),
        BATCH,
        "the module doesn't take all sizes of 'dynamic_shapes': .*use b = 6",
    ),
    "a small range": (
        nn.Linear(16, 8),
        Dim("b", min=4, max=6),
        "can't be told apart in the ranges of b in 4..6; give the dimensions ranges of at least 8",
    ),
    "a nonlinear number": (
        module(lambda x: x * float(np.log(2)) ** x.shape[0]),
        BATCH,
        "a constant depends on the sizes|cannot trace",
    ),
    "a rounded number": (
        module(lambda x: x.median(0)[0]),
        Dim("b", min=2, max=64),
        "a constant depends on the sizes: it is 8.0 or 16.0",
    ),
    "unrolled": (
        module(lambda x: torch.stack(x.unbind(0)[:2])),
        BATCH,
        "the module doesn't take all sizes of 'dynamic_shapes'",
    ),
    "data": (
        module(lambda x: x.nonzero()),
        BATCH,
        "nonzero' has a result whose shape depends on the values of tensors",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    refused, dim, message = REFUSED[name]
    with pytest.raises(SdyError, match=message):
        sdy.torch.trace(refused, torch.ones(6, 16), mesh=MESH, dynamic_shapes=({0: dim},))


def test_points_tell_sizes_apart():
    exported = torch.export.export(
        module(lambda x: functional.pad(x, (0, 0, 0, x.shape[0] % 2))),
        (torch.ones(9, 16),),
        dynamic_shapes=({0: Dim("b", max=40)},),
        strict=False,
    )
    sizes = DynamicSizes.of(exported)
    points = sizes.points()
    assert len(points) == 3
    for size in sizes.known:
        assert len({size.evaluate(point) for point in points}) > 1
