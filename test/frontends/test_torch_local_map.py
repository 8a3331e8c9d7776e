# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`local_map` of DTensor computes on shards, as its placements say."""

import itertools
import random

import numpy as np
import pytest
import torch
import torch.distributed as dist
from case_counts import cases
from torch import nn
from torch.distributed import _functional_collectives as functional_collectives
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import (
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
)
from torch.distributed.tensor.experimental import local_map
from torch.testing._internal.distributed.fake_pg import FakeStore

import pyshardy as sdy
from mlir_sdy.diagnostics import PassError, UsageError

SIZES = 4, 2
R, P, S0, S1 = Replicate(), Partial(), Shard(0), Shard(1)
X = torch.randn(16, 8, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def device_mesh():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=8)
    try:
        yield init_device_mesh("cpu", SIZES, mesh_dim_names=("data", "model"))
    finally:
        dist.destroy_process_group()


def shard_of(tensor, placements, device):
    for size, placement, index in zip(SIZES, placements, device, strict=True):
        if placement.is_shard():
            tensor = tensor.chunk(size, placement.dim)[index]
    return tensor


def on_shards(function, results, arguments, *tensors):
    """Return the results of all devices, put together."""
    made = {
        device: function(*map(shard_of, tensors, arguments, itertools.repeat(device)))
        for device in itertools.product(*map(range, SIZES))
    }

    def combined(index, placements, device=()):
        if len(device) == len(SIZES):
            return made[device][index]
        axis = len(device)
        parts = [combined(index, placements, (*device, i)) for i in range(SIZES[axis])]
        if placements[axis].is_shard():
            return torch.cat(parts, placements[axis].dim)
        return sum(parts) if placements[axis].is_partial() else parts[0]

    return [combined(index, placements) for index, placements in enumerate(results)]


def normalized(x, w):
    product = x @ w
    return (product / product.abs().sum(),)


CASES = {  # function, placements of results, of arguments, of the gradients of arguments
    "rows": (normalized, [(S0, R)], [(S0, R), (R, R)], [(S0, R), (P, R)]),
    "rows and columns": (
        lambda x, w: (torch.tanh(x @ w),),
        [(S0, S1)],
        [(S0, R), (R, S1)],
        [(S0, P), (P, S1)],
    ),
    "a partial result": (
        lambda x, w: (x @ w,),
        [(S0, P)],
        [(S0, S1), (R, S0)],
        [(S0, S1), (P, S0)],
    ),
    "two partial axes": (
        lambda x, w: (x.sum(0, keepdim=True) @ w,),
        [(P, P)],
        [(S0, S1), (R, S0)],
        [(S0, S1), (P, S0)],
    ),
    "two results": (
        lambda x, w: (x.cumsum(0) + w.sum(), x.sum(0, keepdim=True)),
        [(S0, S0), (S0, S0)],
        [(S0, S0), (R, R)],
        [(S0, S0), (P, P)],
    ),
}


def product(x, w):
    """Multiply as many columns of `x` as `w` has rows; shards of both may be small."""
    size = min(x.shape[1], w.shape[0])
    return x[:, :size] @ w[:size]


FUNCTIONS = (
    lambda x, w: torch.tanh(product(x, w)) * w.mean(),
    lambda x, w: x.cumsum(0) - w.sum(),
    lambda x, w: (x / x.abs().sum(1, keepdim=True)) * w[0, 0],
    lambda x, w: product(torch.softmax(x, 0), w),
    lambda x, w: x.flip(0) * torch.sigmoid(w).std(),
    lambda x, w: torch.cat([x, x * w.square().sum()], 1),
)


def random_case(rng):
    """Return a function of shards, with placements that DTensor can give and take.

    Devices along an axis have equal results if no argument is sharded along it. Then the gradients
    of replicated arguments are complete; otherwise they are addends.
    """
    results, first, second, of_first, of_second = [], [], [], [], []
    for _ in SIZES:
        placement, other = rng.choice([R, S0, S1]), rng.choice([R, R, S0, S1])
        is_alike = placement.is_replicate() and other.is_replicate()
        results.append(R if is_alike else rng.choice([S0, S1, P]))
        first.append(placement)
        second.append(other)
        of_first.append(P if placement.is_replicate() and not is_alike else placement)
        of_second.append(P if other.is_replicate() and not is_alike else other)
    function = rng.choice(FUNCTIONS)
    arguments = [tuple(first), tuple(second)]
    gradients = [tuple(of_first), tuple(of_second)]
    return lambda x, w: (function(x, w),), [tuple(results)], arguments, gradients


class Mapped(nn.Module):
    """A function of a product and a weight, on shards."""

    def __init__(self, case, device_mesh, *, in_grad_placements=True):
        super().__init__()
        torch.manual_seed(0)
        self.v, self.w = nn.Parameter(torch.randn(8, 8)), nn.Parameter(torch.randn(8, 8))
        self.case = case
        function, results, arguments, gradients = case
        self.mapped = local_map(
            function,
            out_placements=tuple(results),
            in_placements=tuple(arguments),
            in_grad_placements=tuple(gradients) if in_grad_placements else None,
            device_mesh=device_mesh,
        )

    def forward(self, x):
        return sum(each.square().sum() for each in self.mapped(x @ self.v, self.w))

    def expected(self, x):
        """Return the value of `forward`, from the shards of each device."""
        function, results, arguments, _ = self.case
        made = on_shards(function, results, arguments, x @ self.v, self.w)
        return sum(each.square().sum() for each in made)


@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients(device_mesh, name):
    check(CASES[name], device_mesh)


@pytest.mark.parametrize("seed", range(cases(1)))
def test_random_functions(device_mesh, seed):
    check(random_case(random.Random(seed)), device_mesh)


def check(case, device_mesh):
    plain = Mapped(case, device_mesh)
    model = distribute_module(Mapped(case, device_mesh), device_mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    traced = sdy.torch.trace_training(model, None, X, optimizer=optimizer)
    assert "sdy.manual_computation" in sdy.asm(traced.module)
    values = {"x": X, "optimizer.lr": torch.tensor(1.0), **dict(plain.named_parameters())}
    sdy.propagate(traced.module)
    arrays = [values[name].detach().numpy() for name in traced.arguments]
    program = sdy.partition(traced.module)
    results = dict(zip(traced.results, program.run(arrays, backend="xla"), strict=True))
    loss = plain.expected(X)
    loss.backward()
    np.testing.assert_allclose(results["loss"], loss.item(), rtol=1e-4)
    gradients = [parameter.grad for parameter in plain.parameters()]
    largest = max(each.abs().max().item() for each in gradients if each is not None)
    for path, parameter in plain.named_parameters():
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        found = results.get(path, parameter.detach())  # no result if it is unchanged
        # Where addends cancel, the gradient is what rounding leaves of larger ones.
        scale = max(gradient.abs().max().item(), 0.1 * largest)
        expected = (parameter - gradient).detach()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * scale)


def test_inference(device_mesh):
    model = distribute_module(Mapped(CASES["rows"], device_mesh), device_mesh)
    traced = sdy.torch.trace(model, distribute_tensor(X, device_mesh, [S0, R]))
    sdy.propagate(traced.module)
    plain = Mapped(CASES["rows"], device_mesh)
    arrays = [plain.v.detach().numpy(), plain.w.detach().numpy(), X.numpy()]
    (found,) = sdy.partition(traced.module).run(arrays, backend="interpreter")
    np.testing.assert_allclose(found, plain.expected(X).item(), rtol=1e-4)


def test_without_dtensors_the_function_is_called_as_it_is(device_mesh):
    """PyTorch does the same."""
    traced = sdy.torch.trace(Mapped(CASES["rows"], device_mesh), X)
    assert "sdy.manual_computation" not in sdy.asm(traced.module)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"in_placements": None}, "'local_map' has no 'in_placements'"),
        ({"in_placements": ([P, R], [R, R])}, "argument 0 of local_map is a partial sum"),
        ({"in_placements": ([S0], [R])}, "has 1 placements, and the mesh 2 axes"),
        ({"out_placements": ([S0, R], [R, R])}, "2 'out_placements', and its function 1 results"),
        ({"in_placements": ([R, R], [R, S1])}, "dimension 1 of size 7 has 2 shards"),
    ],
)
def test_refusals(device_mesh, changes, message):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(8, 7))

        def forward(self, x):
            given = {"in_placements": ([S0, R], [R, R]), "out_placements": [S0, R]} | changes
            mapped = local_map(lambda x, w: x @ w, device_mesh=device_mesh, **given)
            return mapped(x[:, :7] @ self.w.T, self.w)

    model = distribute_module(Model(), device_mesh)
    with pytest.raises(UsageError, match=message) as caught:
        sdy.torch.trace(model, X)
    assert caught.value.diagnostics[0].location.filename == __file__


def test_gradients_of_replicated_arguments_need_placements(device_mesh):
    model = Mapped(CASES["rows"], device_mesh, in_grad_placements=False)
    model = distribute_module(model, device_mesh)
    with pytest.raises(UsageError, match="pass 'in_grad_placements' to local_map"):
        sdy.torch.trace_training(model, None, X, optimizer="sgd")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, w: (x @ w) * dist.get_rank(), "asks for the rank of its device"),
        (lambda x, w: torch.dropout(x @ w, 0.5, True), "draws random numbers"),
        (lambda x, w: x.mul_(2) @ w, "changes an argument in place"),
        (
            lambda x, w: functional_collectives.all_reduce(x @ w, "sum", "0"),
            "give results of local_map placements such as Partial",
        ),
    ],
)
def test_functions_that_need_their_device(device_mesh, function, message):
    model = distribute_module(
        Mapped((function, [(S0, R)], *CASES["rows"][2:]), device_mesh), device_mesh
    )
    with pytest.raises((UsageError, PassError), match=message):
        sdy.torch.trace(model, distribute_tensor(X, device_mesh, [S0, R]))
