# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows, as mixtures of experts have them, and slices that are written."""

import pytest
import torch
from torch import nn

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

OFFSETS = torch.tensor([2, 2, 7], dtype=torch.int32)


def function(forward):
    """A module without weights."""
    return type("Function", (nn.Module,), {"forward": lambda _, *args: forward(*args)})()


def grouped(rows, matrices, offsets):
    found, start = rows.new_zeros(len(rows), matrices.shape[2]), 0
    for index, end in enumerate(offsets.tolist()):
        found[start:end] = rows[start:end] @ matrices[index]
        start = end
    return found


def grouped_backward(rows, matrices, offsets, gradient):
    of_rows, of_matrices, start = torch.zeros_like(rows), torch.zeros_like(matrices), 0
    for index, end in enumerate(offsets.tolist()):
        of_rows[start:end] = gradient[start:end] @ matrices[index].T
        of_matrices[index] = rows[start:end].T @ gradient[start:end]
        start = end
    return of_rows, of_matrices


@pytest.fixture(scope="module")
def opaque():
    """The operation of `transformers` with its gradient, if `transformers` didn't register it."""
    if not hasattr(torch.ops.transformers, "grouped_mm_fallback"):
        custom = torch.library.custom_op
        arguments = "Tensor input, Tensor weight, Tensor offs"
        forward = custom(
            "transformers::grouped_mm_fallback",
            grouped,
            mutates_args=(),
            schema=f"({arguments}) -> Tensor",
        )
        forward.register_fake(lambda x, w, _: x.new_empty(len(x), w.shape[2]))
        backward = custom(
            "transformers::grouped_mm_fallback_backward",
            grouped_backward,
            mutates_args=(),
            schema=f"({arguments}, Tensor grad_output) -> (Tensor, Tensor)",
        )
        backward.register_fake(lambda x, w, *_: (torch.empty_like(x), torch.empty_like(w)))

        def save(ctx, inputs, output):  # noqa: ARG001 (the names count)
            ctx.save_for_backward(*inputs)

        forward.register_autograd(
            lambda ctx, gradient: (*backward(*ctx.saved_tensors, gradient), None),
            setup_context=save,
        )
    return torch.ops.transformers.grouped_mm_fallback


def test_rows_of_experts(opaque):
    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 16, 32))
            self.input = nn.Linear(16, 16)

        def forward(self, x, offsets):
            return opaque(self.input(x), self.weight, offsets).square().sum()

    torch.manual_seed(0)
    model, x = Experts(), torch.randn(8, 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    traced = sdy.torch.trace_training(
        model,
        None,
        (x, OFFSETS),
        optimizer=optimizer,
        mesh=sdy.Mesh.of({"expert": 3}),
        shardings={"weight": ("expert", None, None)},
    )
    sdy.propagate(traced.module)
    program = sdy.partition(traced.module)
    # Both products of rows are completed; the gradient of the matrices stays on its devices.
    sent = sorted(one.nbytes_sent for one in program.collectives if one.nbytes_sent > 8)
    assert {one.kind for one in program.collectives} == {"all_reduce"}
    assert sent == [683, 1366]  # 4/3 of the bytes of 8 rows
    results = program.run(traced.inputs((x, OFFSETS)), "jit")
    loss = model(x, OFFSETS)
    loss.backward()
    optimizer.step()
    assert traced.loss(results) == pytest.approx(loss.item(), rel=1e-5)
    arrays = dict(zip(traced.results, results, strict=True))
    for name, parameter in model.named_parameters():
        ours = torch.from_numpy(arrays[name])
        torch.testing.assert_close(ours, parameter.detach(), rtol=1e-4, atol=1e-5)


def check(forward, inputs, **tolerance):
    traced = sdy.torch.trace(function(forward), *inputs)
    ours = traced.outputs(run_unpartitioned(traced.module, traced.inputs(*inputs)))
    torch.testing.assert_close(ours, forward(*inputs), **tolerance)


@pytest.mark.skipif(not hasattr(torch, "_grouped_mm"), reason="newer PyTorch")
@pytest.mark.parametrize(
    "shapes",
    [((32, 16), (3, 16, 24)), ((3, 24, 16), (16, 32)), ((16, 32), (32, 24))],
    ids=["rows", "columns", "contracted"],
)
def test_grouped_products(shapes):
    torch.manual_seed(0)
    lhs, rhs = (torch.randn(shape).bfloat16() for shape in shapes)
    offsets = torch.tensor([8, 16, 32], dtype=torch.int32)
    check(
        lambda lhs, rhs, offsets: torch._grouped_mm(lhs, rhs, offs=offsets),
        (lhs, rhs, offsets),
        rtol=2e-2,
        atol=1e-1,
    )


def by_groups(lhs, rhs, offs):
    """`torch._grouped_mm`, group by group."""
    ranges = list(zip([0, *offs.tolist()[:-1]], offs.tolist(), strict=True))
    if lhs.dim() == 3:
        products = [each @ rhs[:, a:b] for each, (a, b) in zip(lhs, ranges, strict=True)]
        return torch.cat(products, 1)
    if rhs.dim() == 3:
        return torch.cat([lhs[a:b] @ each for each, (a, b) in zip(rhs, ranges, strict=True)])
    return torch.stack([lhs[:, a:b] @ rhs[a:b] for a, b in ranges])


class Grouped(nn.Module):
    """Products with groups of rows, of columns, and of the contracted dimension."""

    def __init__(self):
        super().__init__()
        self.of_rows = nn.Parameter(torch.randn(4, 8, 12))
        self.of_columns = nn.Parameter(torch.randn(4, 12, 8))
        self.contracted = nn.Parameter(torch.randn(4, 8, 12))
        self.other = nn.Parameter(torch.randn(16, 12))

    def forward(self, x, offsets, multiply=None):
        multiply = multiply or torch._grouped_mm
        rows = multiply(x.tanh(), self.of_rows, offs=offsets)
        columns = multiply(self.of_columns, x.mT.tanh(), offs=offsets)
        contracted = multiply(x.mT.tanh(), self.other, offs=offsets) + self.contracted
        return sum(each.square().mean() for each in (rows, columns, contracted))


@pytest.mark.skipif(not hasattr(torch, "_grouped_mm"), reason="newer PyTorch")
@pytest.mark.parametrize("spec", [("x", None, None), (None, "x", None), (None, None, "x")])
def test_gradients_of_grouped_products(spec):
    torch.manual_seed(0)
    model, x = Grouped(), torch.randn(16, 8)
    offsets = torch.tensor([3, 3, 10, 16], dtype=torch.int32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    traced = sdy.torch.trace_training(
        model,
        None,
        (x, offsets),
        optimizer=optimizer,
        mesh=sdy.Mesh.of({"x": 4}),
        shardings={"of_*": spec, "contracted": spec},
    )
    sdy.propagate(traced.module)
    results = sdy.partition(traced.module).run(traced.inputs((x, offsets)), "jit")
    loss = model(x, offsets, by_groups)
    loss.backward()
    optimizer.step()
    assert traced.loss(results) == pytest.approx(loss.item(), rel=1e-5)
    arrays = dict(zip(traced.results, results, strict=True))
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(torch.from_numpy(arrays[name]), parameter.detach())


def test_slices_that_are_written():
    def forward(x):
        evens = torch.slice_scatter(x, torch.ones(8, 2), 1, 1, 2**63 - 1, 2)
        last = torch.slice_scatter(x, torch.ones(3, 4), 0, -3)
        inverse = torch.empty_like(x[0])
        inverse[torch.tensor([3, 1, 0, 2])] = x[1]
        return evens, last, inverse, torch.slice_scatter(x, torch.zeros(8, 4), 1, 0, 99)

    check(forward, (torch.randn(8, 4),))
