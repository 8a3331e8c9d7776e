# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Building each operation of the dialect from Python."""

from typing import NamedTuple

import pytest

import pyshardy as sdy
from mlir_sdy.host import ir
from mlir_sdy.ods.shard_tables import OPERATIONS
from mlir_sdy.shard.reading import axis_lists, grid_axes, index_list, shard_operations

TEXT = """
shard.grid @g(shape = 2x3)
shard.grid @unknown(shape = 2x?)
func.func @f(%a: tensor<12x6xf32>, %i: index, %h: i64) {
  return
}
"""


class Values(NamedTuple):
    """The arguments of the function: a tensor, an index and an i64."""

    a: ir.Value
    i: ir.Value
    h: ir.Value


# What is built, and its text.
CASES = {
    "sharding": (
        lambda v: sdy.shard.sharding("g", [[0], [1]], halo_sizes=[1, 2, v.h, 0]),
        "shard.sharding @g split_axes = [[0], [1]] halo_sizes = [1, 2, %h, 0] : !shard.sharding",
    ),
    "offsets": (
        lambda v: sdy.shard.sharding("g", [[0]], sharded_dims_offsets=[0, v.h, 12]),
        "shard.sharding @g split_axes = [[0]] sharded_dims_offsets = [0, %h, 12] : !shard.sharding",
    ),
    "no axes": (
        lambda _: sdy.shard.sharding("g", []),
        "shard.sharding @g split_axes = [[]] : !shard.sharding",
    ),
    "sharding of a value": (
        lambda _: sdy.shard.sharding_of(sdy.shard.GridSharding("g", ((), (1,)))),
        "shard.sharding @g split_axes = [[], [1]] : !shard.sharding",
    ),
    "grid_shape": (
        lambda _: sdy.shard.grid_shape("g")[0],
        "shard.grid_shape @g : index, index",
    ),
    "process_multi_index": (
        lambda _: sdy.shard.process_multi_index("g", [1])[0],
        "shard.process_multi_index on @g axes = [1] : index",
    ),
    "process_linear_index": (
        lambda _: sdy.shard.process_linear_index("g"),
        "shard.process_linear_index on @g : index",
    ),
    "neighbors_linear_indices": (
        lambda v: sdy.shard.neighbors_linear_indices("g", [v.i, v.i], [0])[0],
        "shard.neighbors_linear_indices on @g[%i, %i] split_axes = [0] : index, index",
    ),
    "get_sharding": (
        lambda v: sdy.shard.get_sharding(v.a),
        "shard.get_sharding %a : tensor<12x6xf32> -> !shard.sharding",
    ),
    "all_gather": (
        lambda v: sdy.shard.all_gather(v.a, "g", 0, grid_axes=[1, 0]),
        "shard.all_gather %a on @g grid_axes = [1, 0] gather_axis = 0 "
        ": tensor<12x6xf32> -> tensor<72x6xf32>",
    ),
    "all_gather along unknown sizes": (
        lambda v: sdy.shard.all_gather(v.a, "unknown", 0, grid_axes=[1]),
        "shard.all_gather %a on @unknown grid_axes = [1] gather_axis = 0 "
        ": tensor<12x6xf32> -> tensor<?x6xf32>",
    ),
    "all_reduce": (
        lambda v: sdy.shard.all_reduce(
            v.a,
            "g",
            grid_axes=[0],
            reduction=sdy.shard.ReductionKind.MAX,
            element_type=ir.F64Type.get(),
        ),
        "shard.all_reduce %a on @g grid_axes = [0] reduction = max "
        ": tensor<12x6xf32> -> tensor<12x6xf64>",
    ),
    "all_slice": (
        lambda v: sdy.shard.all_slice(v.a, "g", 1, grid_axes=[1]),
        "shard.all_slice %a on @g grid_axes = [1] slice_axis = 1 "
        ": tensor<12x6xf32> -> tensor<12x2xf32>",
    ),
    "all_to_all": (
        lambda v: sdy.shard.all_to_all(v.a, "g", 0, 1, grid_axes=[0]),
        "shard.all_to_all %a on @g grid_axes = [0] split_axis = 0 concat_axis = 1 "
        ": tensor<12x6xf32> -> tensor<6x12xf32>",
    ),
    "all_to_all within a dimension": (
        lambda v: sdy.shard.all_to_all(v.a, "g", 1, 1, grid_axes=[1]),
        "shard.all_to_all %a on @g grid_axes = [1] split_axis = 1 concat_axis = 1 "
        ": tensor<12x6xf32> -> tensor<12x6xf32>",
    ),
    "broadcast": (
        lambda v: sdy.shard.broadcast(v.a, "g", [0, v.i], grid_axes=[0, 1]),
        "shard.broadcast %a on @g grid_axes = [0, 1] root = [0, %i] "
        ": (tensor<12x6xf32>, index) -> tensor<12x6xf32>",
    ),
    "gather": (
        lambda v: sdy.shard.gather(v.a, "g", 1, [1], grid_axes=[0]),
        "shard.gather %a on @g grid_axes = [0] gather_axis = 1 root = [1] "
        ": (tensor<12x6xf32>) -> tensor<12x12xf32>",
    ),
    "reduce": (
        lambda v: sdy.shard.reduce(v.a, "g", [2], grid_axes=[1]),
        "shard.reduce %a on @g grid_axes = [1] root = [2] : (tensor<12x6xf32>) -> tensor<12x6xf32>",
    ),
    "reduce_scatter": (
        lambda v: sdy.shard.reduce_scatter(v.a, "g", 0, grid_axes=[0]),
        "shard.reduce_scatter %a on @g grid_axes = [0] scatter_dim = 0 "
        ": tensor<12x6xf32> -> tensor<6x6xf32>",
    ),
    "scatter": (
        lambda v: sdy.shard.scatter(v.a, "g", 1, [v.i], grid_axes=[0]),
        "shard.scatter %a on @g grid_axes = [0] scatter_dim = 1 root = [%i] "
        ": (tensor<12x6xf32>, index) -> tensor<12x3xf32>",
    ),
    "send": (
        lambda v: sdy.shard.send(v.a, "g", [1], grid_axes=[0]),
        "shard.send %a on @g grid_axes = [0] destination = [1] "
        ": (tensor<12x6xf32>) -> tensor<12x6xf32>",
    ),
    "recv": (
        lambda v: sdy.shard.recv(v.a, "g", [1], grid_axes=[0]),
        "shard.recv %a on @g grid_axes = [0] source = [1] : (tensor<12x6xf32>) -> tensor<12x6xf32>",
    ),
    "shift": (
        lambda v: sdy.shard.shift(v.a, "g", 1, -2, grid_axes=[1], rotate=True),
        "shard.shift %a on @g grid_axes = [1] shift_axis = 1 offset = -2 rotate "
        ": tensor<12x6xf32> -> tensor<12x6xf32>",
    ),
    "update_halo": (
        lambda v: sdy.shard.update_halo(v.a, "g", [[0], [1]], [1, 1, v.h, 1]),
        "shard.update_halo %a on @g split_axes = [[0], [1]] halo_sizes = [1, 1, %h, 1] "
        ": tensor<12x6xf32>",
    ),
}

REFUSED = {
    "slice_axis 5 is out of range": lambda a: sdy.shard.all_slice(a, "g", 5, grid_axes=[1]),
    "there is no grid '@h' in the module; it has: '@g', '@unknown'": lambda a: sdy.shard.all_gather(
        a, "h", 0
    ),
    "axis 7 is out of range: grid '@g' has 2 axes": lambda a: sdy.shard.all_gather(
        a, "g", 0, grid_axes=[7]
    ),
    "grid_axes contains axis 1 twice": lambda a: sdy.shard.all_reduce(a, "g", grid_axes=[1, 1]),
    "coordinate 3 of root is out of range": lambda a: sdy.shard.broadcast(
        a, "g", [3], grid_axes=[1]
    ),
    "split_axes contains axis 2": lambda _: sdy.shard.sharding("g", [[2]]),
    "dimension 1 of size 2 is not divisible by 3 devices": lambda a: sdy.shard.all_slice(
        sdy.shard.all_slice(a, "g", 1, grid_axes=[1]), "g", 1, grid_axes=[1]
    ),
}


@pytest.fixture
def place(context):
    """A module, and a place to build at."""
    module = sdy.parse(TEXT, context)
    block = module.body.operations[2].regions[0].blocks[0]
    with context, ir.Location.unknown(), ir.InsertionPoint.at_block_begin(block):
        yield module, list(block.arguments)


@pytest.mark.parametrize("name", CASES)
def test_text(name, place):
    module, arguments = place
    build, text = CASES[name]
    operation = build(Values(*arguments)).owner.operation
    for value, shown in zip(arguments, "aih", strict=True):
        text = text.replace(f"%{shown}", value.get_name())
    assert str(operation).partition(" = ")[2] == text
    sdy.verify(module)


def test_annotations(place):
    _, (tensor, *_) = place
    sharding = sdy.shard.sharding("g", [[0]])
    made = sdy.shard.shard(tensor, sharding)
    used = sdy.shard.shard(made, sharding, annotate_for_users=True)
    assert "annotate_for_users" not in made.owner.operation.attributes
    assert "annotate_for_users" in used.owner.operation.attributes
    sizes = sdy.shard.shard_shape([12, 6], sharding, [1, 2])
    assert [str(size.type) for size in sizes] == ["index", "index"]


def test_every_operation_is_built():
    assert {name.removeprefix("shard.") for name in OPERATIONS} <= set(sdy.shard.__all__)


@pytest.mark.parametrize("message", REFUSED)
def test_what_breaks_a_rule_is_not_left_behind(message, place):
    module, (tensor, *_) = place
    with pytest.raises(sdy.SdyError, match=message.replace("(", r"\(")):
        REFUSED[message](tensor)
    sdy.verify(module)


def test_reading(place):
    module, (tensor, index, halo) = place
    sdy.shard.sharding("g", [[1, 0], []], halo_sizes=[halo, 2])
    sdy.shard.broadcast(tensor, "g", [1, index], grid_axes=[1, 0])
    *_, sharding, broadcast = shard_operations(module)
    assert sdy.shard.read_sharding(sharding) == sdy.shard.GridSharding(
        "g", ((1, 0), ()), (sdy.shard.DYNAMIC, 2)
    )
    assert axis_lists(sharding.attributes["split_axes"]) == ((1, 0), ())
    assert grid_axes(broadcast) == (1, 0)
    assert index_list(broadcast, "root", 1) == (1, index)
    grids = sdy.shard.grids_of(module)
    assert grids["g"] == sdy.shard.Grid((2, 3))
    assert not grids["unknown"].is_static
