# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DTensors come in as shardings, and plans go out as placements.

PyTorch's fake process group stands for eight processes: it carries nothing, so that each test may
be any one of them.
"""

import itertools
import json
from contextlib import contextmanager

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import register_sharding
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.distributed.tensor.placement_types import _StridedShard
from torch.testing._internal.distributed.fake_pg import FakeStore

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError, collect
from mlir_sdy.values import argument_shardings
from pyshardy.forms import sharding as sharding_of
from pyshardy.frontends.torch.dtensors import (
    placements_of_sharding,
    sharding_of_placements,
)

MESH = sdy.Mesh.of({"data": 4, "model": 2})


@contextmanager
def process(rank, mesh=MESH):
    """A process of a group; yields its device mesh."""
    size = mesh.total_size
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=size)
    try:
        sizes = tuple(axis.size for axis in mesh.axes)
        yield init_device_mesh("cpu", sizes, mesh_dim_names=mesh.axis_names)
    finally:
        dist.destroy_process_group()


@pytest.fixture
def device_mesh():
    with process(0) as mesh:
        yield mesh


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


STYLES = {"up": ColwiseParallel(), "down": RowwiseParallel()}
X = torch.ones(8, 16)


def shardings_of(traced):
    entry = next(view for view in traced.module.body.operations if "main" in str(view.name))
    return dict(zip(traced.arguments, map(str, argument_shardings(entry)), strict=True))


def test_modules_that_were_parallelized(device_mesh):
    model = Block()
    expected = model(X)
    weights = dict(model.state_dict())
    parallelize_module(model, device_mesh["model"], STYLES)
    hooks = len(model.up._forward_pre_hooks)
    traced = sdy.torch.trace(model, X, shardings={"x": ("data", None)})
    assert shardings_of(traced) == {
        "up.weight": '<@mesh, [{"model"}, {}]>',
        "up.bias": '<@mesh, [{"model"}]>',
        "down.weight": '<@mesh, [{}, {"model"}]>',
        "down.bias": "<@mesh, [{}]>",
        "x": '<@mesh, [{"data"}, {}]>',
    }
    assert 'sdy.mesh @mesh = <["data"=4, "model"=2]>' in sdy.asm(traced.module)
    # The module is as it was.
    assert model.up.weight.placements == (Shard(0),)
    assert hooks
    assert len(model.up._forward_pre_hooks) == hooks
    sdy.propagate(traced.module)
    program = sdy.partition(traced.module)
    assert [(one.kind, one.axes) for one in program.collectives] == [("all_reduce", ("model",))]
    arrays = [{**weights, "x": X}[name].numpy() for name in traced.arguments]
    torch.testing.assert_close(traced.outputs(program.run(arrays)), expected)


def test_fully_sharded_modules(device_mesh):
    model = parallelize_module(Block(), device_mesh["model"], STYLES)
    fully_shard(model, mesh=device_mesh["data"])
    traced = sdy.torch.trace(model, X, shardings={"x": ("data", None)})
    found = shardings_of(traced)
    assert found["up.weight"] == '<@mesh, [{"model", "data"}, {}]>'
    assert found["down.weight"] == '<@mesh, [{"data"}, {"model"}]>'
    assert sdy.torch.placements(traced)["up.weight"] == model.up.weight.placements


def test_training_of_modules_that_were_parallelized(device_mesh):
    model = parallelize_module(Block(), device_mesh["model"], STYLES)
    shardings = {"x": ("data", None), "up.weight": (None, "data")}
    traced = sdy.torch.trace_training(model, nn.functional.mse_loss, X, X, shardings=shardings)
    found = shardings_of(traced)
    assert found["up.weight"] == '<@mesh, [{}, {"data"}]>'
    assert found["down.weight"] == '<@mesh, [{}, {"model"}]>'
    assert found["optimizer.down.weight.exp_avg"] == '<@mesh, [{}, {"model"}]>'


def test_inputs_tied_weights_and_explicit_shardings(device_mesh):
    model = nn.Sequential(nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False))
    placed = distribute_tensor(model[0].weight, device_mesh, [Replicate(), Shard(1)])
    model[0].weight = model[1].weight = nn.Parameter(placed)
    x = distribute_tensor(X, device_mesh, [Shard(0), Replicate()])
    traced = sdy.torch.trace(model, x)
    assert shardings_of(traced) == {
        "0.weight": '<@mesh, [{}, {"model"}]>',
        "1.weight": '<@mesh, [{}, {"model"}]>',
        "input": '<@mesh, [{"data"}, {}]>',
    }
    assert traced.state["0.weight"] is model[0].weight
    assert traced.inputs(x)[2].shape == (8, 16)
    larger = sdy.Mesh.of({"data": 4, "expert": 3, "model": 2})
    traced = sdy.torch.trace(model, x, mesh=larger, shardings={"*.weight": ("model", "expert")})
    assert shardings_of(traced)["0.weight"] == '<@mesh, [{"model"}, {"expert"}]>'
    assert shardings_of(traced)["input"] == '<@mesh, [{"data"}, {}]>'


def test_meshes_that_differ(device_mesh):
    model = parallelize_module(Block(), device_mesh["model"], STYLES)
    with pytest.raises(UsageError, match=r'"model" of size 2, but the mesh is <\["model"=4\]>'):
        sdy.torch.trace(model, X, mesh=sdy.Mesh.of({"model": 4}))
    with pytest.raises(UsageError, match=r'on the mesh dimension "model", which the mesh .* lacks'):
        sdy.torch.trace(model, X, mesh=sdy.Mesh.of({"tensor": 2}))
    unnamed = init_device_mesh("cpu", (8,))
    with pytest.raises(UsageError, match=r"no names of dimensions; create it with mesh_dim_names"):
        sdy.torch.trace(nn.Identity(), distribute_tensor(X, unnamed, [Shard(0)]))


# --- Placements ---------------------------------------------------------------------------------

THREE = sdy.Mesh.of({"a": 2, "b": 3, "c": 2})
ORDERS = [
    [list(order[:end]), list(order[end:split])]
    for order in itertools.permutations("abc")
    for end in range(4)
    for split in range(end, 4)
]


def test_shards_are_those_of_pytorch():
    """Each process has the shards that PyTorch gives it, for all orders of axes."""
    table = torch.arange(24 * 12).reshape(24, 12)
    shardings = {str(each): sharding_of(each) for each in ORDERS}
    for rank in range(THREE.total_size):
        place = dict(zip("abc", np.unravel_index(rank, (2, 3, 2)), strict=True))
        with process(rank, THREE) as device_mesh:
            for sharding in shardings.values():
                chosen = placements_of_sharding(sharding, THREE, table.shape, "x")
                assert sharding_of_placements(chosen, THREE, 2, "x") == sharding
                shard = distribute_tensor(table, device_mesh, chosen, src_data_rank=None)
                expected = table
                for dim, axes in enumerate(sharding.dim_axes):
                    for axis in axes:
                        expected = expected.chunk(THREE.axis_size(axis.name), dim)[place[axis.name]]
                assert torch.equal(shard.to_local(), expected), (rank, sharding)


def test_local_shapes_are_those_of_the_program():
    traced = sdy.torch.trace(
        Block(), X, mesh=MESH,
        shardings={"up.weight": (("model", "data"), None), "x": ("data", None)},
    )  # fmt: skip
    sdy.propagate(traced.module)
    program = sdy.partition(traced.module)
    found = sdy.torch.placements(program)
    assert found == sdy.torch.placements(traced)
    for rank in (0, 5):
        with process(rank) as device_mesh:
            model = Block()
            weight = model.up.weight.detach()
            parallelize_module(model, device_mesh, sdy.torch.parallelize_plan(traced))
            tensors = {**dict(model.named_parameters()), "x": X}
            for port in program.inputs:
                tensor = tensors[port.name]
                if port.name == "x":
                    tensor = distribute_tensor(tensor, device_mesh, found["x"])
                assert tensor.placements == found[port.name]
                assert tuple(tensor.to_local().shape) == port.local_spec.shape
            assert model.up.weight.requires_grad
            assert weight.shape == model.up.weight.shape
            assert sdy.torch.placements(sdy.torch.trace(model, X, mesh=MESH)) == {
                **found, "x": (Replicate(), Replicate()),
            }  # fmt: skip


def test_uneven_shards():
    sharding = sdy.sharding('<@mesh, [{"data"}, {}]>')
    for rank in (0, 4, 7):
        with process(rank) as device_mesh:
            chosen = placements_of_sharding(sharding, MESH, (10, 3), "x")
            local = distribute_tensor(torch.ones(10, 3), device_mesh, chosen).to_local()
            row = rank // 2 * sharding.local_shape((10, 3), MESH)[0]
            assert local.shape[0] == min(3, max(0, 10 - row))


def test_partial_sums():
    sharding = sdy.sharding('<@mesh, [{"model"}, {}], unreduced={"data"}>')
    assert placements_of_sharding(sharding, MESH, (4, 4), "x") == (Partial("sum"), Shard(0))
    assert sharding_of_placements((Partial("sum"), Shard(0)), MESH, 2, "x") == sharding


@pytest.mark.parametrize(
    ("sharding", "message"),
    [
        (
            '<@mesh, [{"data":(1)2}, {}]>',
            r"by the sub-axis \"data\":\(1\)2, which placements can't express; "
            r'split "data" into two axes in the mesh',
        ),
        (
            '<@mesh, [{"data", "model"}, {}]>',
            "dimension 0 of size 12 is not divisible by 8, and PyTorch splits it by one axis after",
        ),
    ],
)
def test_shardings_that_placements_cannot_express(sharding, message):
    with pytest.raises(UsageError, match=message):
        placements_of_sharding(sdy.sharding(sharding), MESH, (12, 12), "weight")


@pytest.mark.parametrize(
    ("placements", "message"),
    [
        ((Partial("max"), Replicate()), r"only sums of shards can be expressed"),
        ((_StridedShard(0, split_factor=3), Shard(0)), r"split its dimension 0 by .*not into 3"),
    ],
)
def test_placements_that_shardings_cannot_express(placements, message):
    with pytest.raises(UsageError, match=message):
        sharding_of_placements(placements, MESH, 2, "weight")


def test_plans_as_json(tmp_path):
    traced = sdy.torch.trace(
        nn.Linear(16, 8), X, mesh=MESH, shardings={"weight": (("model", "data"), None)}
    )
    sdy.torch.write_placements(traced, tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text()) == {
        "format": "pyshardy.placements",
        "version": 1,
        "mesh": {"dim_names": ["data", "model"], "shape": [4, 2]},
        "arguments": {
            "weight": {"shape": [8, 16], "placements": ["_S(0, 2)", "S(0)"]},
            "bias": {"shape": [8], "placements": ["R", "R"]},
            "input": {"shape": [8, 16], "placements": ["R", "R"]},
        },
    }


def test_wrong_plans(device_mesh):
    traced = sdy.torch.trace(nn.Linear(16, 8), X, mesh=MESH)
    plan = sdy.torch.parallelize_plan(traced)
    with pytest.raises(UsageError, match=r"the plan is for the mesh .*, got: DeviceMesh"):
        parallelize_module(nn.Linear(16, 8), device_mesh["model"], plan)
    with pytest.raises(UsageError, match="the plan has no weight of Block"):
        parallelize_module(Block(), device_mesh, plan)
    with pytest.raises(UsageError, match="has no mesh; placements are on one device mesh"):
        sdy.torch.placements(sdy.torch.trace(nn.Linear(16, 8), X))
    with pytest.raises(UsageError, match="expected a traced module or a partitioned program"):
        sdy.torch.placements(nn.Linear(16, 8))


def test_own_strategies_are_not_used():
    propagator = DTensor._op_dispatcher.sharding_propagator
    operation = torch.ops.aten.tanh.default
    before = dict(propagator.op_strategy_funcs)
    try:

        @register_sharding(operation)
        def replicated(_):
            return [([Replicate()], [Replicate()])]

        with collect() as found:
            sdy.torch.trace(nn.Tanh(), torch.ones(4))
            sdy.torch.trace(nn.ReLU(), torch.ones(4))
    finally:
        propagator.op_strategy_funcs.clear()
        propagator.op_strategy_funcs.update(before)
    (message,) = found
    assert "register_sharding lists for 'aten.tanh.default' are not used" in message.message
    assert message.location.filename == __file__
