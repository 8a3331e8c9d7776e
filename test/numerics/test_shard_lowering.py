# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`shard-to-stablehlo` does what the documentation of the dialect says: compared with NumPy."""

import numpy as np
import pytest
from shard_programs import SWAP_IN_BRANCHES, every_collective, halo_program, orders_of_axes

from mlir_sdy.assembly import parse
from pyshardy.backends import spmd_program
from pyshardy.local_program.process_groups import Layout
from pyshardy.pipeline import run_pipeline

GRIDS = ((3,), (2, 3), (3, 1), (2, 2, 3))
CASES = [(shape, axes) for shape in GRIDS for axes in orders_of_axes(len(shape))]

HALOS = {
    "one dimension": ((3,), ((0,),), ((1, 2),), (3, 2)),
    "low only": ((3,), ((0,),), ((2, 0),), (2, 2)),
    "second dimension": ((2, 2), ((), (1,)), ((1, 1),), (2, 3)),
    "corners": ((2, 3), ((0,), (1,)), ((1, 2), (2, 1)), (3, 4)),
    "corners, crossed": ((2, 3), ((1,), (0,)), ((1, 1), (1, 2)), (2, 2)),
    "three dimensions": ((2, 2, 2), ((0,), (2,), (1,)), ((1, 1), (0, 1), (1, 0)), (2, 1, 3)),
    "several axes": ((2, 3), ((1, 0),), ((1, 1),), (2, 2)),
    "one device": ((1, 2), ((0,),), ((1, 1),), (2, 2)),
}


def run(program, context, backend="interpreter", *, replicas=False):
    """What each device gives."""
    module = parse(program.text(), context)
    run_pipeline(module, f"shard-to-stablehlo{{replicas={str(replicas).lower()}}}")
    count = int(np.prod(program.shape))
    layout = Layout(count, 1) if replicas else Layout(1, count)
    return spmd_program(backend, module, layout).run(program.scattered())


@pytest.mark.parametrize(("shape", "axes"), CASES, ids=str)
def test_in_lockstep(shape, axes, context):
    program = every_collective(shape, axes)
    program.check(run(program, context))


@pytest.mark.parametrize(("shape", "axes"), [((2, 3), (1, 0)), ((2, 2, 3), (2, 0))], ids=str)
def test_as_replicas(shape, axes, context):
    program = every_collective(shape, axes, seed=1)
    program.check(run(program, context, replicas=True))


@pytest.mark.parametrize("backend", ["jit", "iree"])
def test_on_other_engines(backend, context):
    program = every_collective((2, 2), (1, 0), seed=3, double="f32")
    program.check(run(program, context, backend))


@pytest.mark.parametrize("replicas", [False, True])
def test_on_xla(replicas, context):
    program = every_collective((2, 3), (1, 0), seed=2, bits=False)
    program.check(run(program, context, "xla", replicas=replicas))


@pytest.mark.parametrize("name", HALOS)
def test_halos(name, context):
    program = halo_program(*HALOS[name])
    program.check(run(program, context))


# --- Indices ------------------------------------------------------------------------------------

QUERIES = """
shard.grid @grid(shape = 2x3x2)
func.func @main(%unused: tensor<f32>) -> (index, tensor<3xi32>, index, index, tensor<2xi64>,
                                          tensor<2x1xi64>, index, index, tensor<2xi8>) {
  %linear = shard.process_linear_index on @grid : index
  %i:3 = shard.process_multi_index on @grid : index, index, index
  %j:2 = shard.process_multi_index on @grid axes = [2, 1] : index, index
  %0 = arith.index_cast %i#0 : index to i32
  %1 = arith.index_cast %i#1 : index to i32
  %2 = arith.index_cast %i#2 : index to i32
  %place = tensor.from_elements %0, %1, %2 : tensor<3xi32>
  %down, %up = shard.neighbors_linear_indices on @grid[%i#0, %i#1, %i#2] split_axes = [1]
    : index, index
  %s:2 = shard.grid_shape @grid axes = [2, 1] : index, index
  %3 = arith.index_cast %s#0 : index to i64
  %4 = arith.index_cast %s#1 : index to i64
  %sizes = tensor.from_elements %3, %4 : tensor<2xi64>
  %sharding = shard.sharding @grid split_axes = [[1], [2, 0]] halo_sizes = [1, 0, 2, 1]
    : !shard.sharding
  %c7 = arith.constant 7 : index
  %d:2 = shard.shard_shape dims = [%c7, 10] sharding = %sharding device = [%i#0, %i#1, %i#2]
    : index, index
  %5 = arith.index_cast %d#0 : index to i64
  %6 = arith.index_cast %d#1 : index to i64
  %shape = tensor.from_elements %5, %6 : tensor<2x1xi64>
  %c2 = arith.constant 2 : index
  %isodd = arith.remui %linear, %c2 : index
  %c0 = arith.constant 0 : index
  %even = arith.cmpi eq, %isodd, %c0 : index
  %chosen = arith.select %even, %j#1, %c7 : index
  %7 = arith.index_cast %chosen : index to i8
  %splat = tensor.splat %7 : tensor<2xi8>
  return %linear, %place, %down, %up, %sizes, %shape, %j#0, %chosen, %splat
    : index, tensor<3xi32>, index, index, tensor<2xi64>, tensor<2x1xi64>, index, index, tensor<2xi8>
}
"""


@pytest.mark.parametrize("backend", ["interpreter", "xla"])
def test_queries(backend, context):
    module = parse(QUERIES, context)
    run_pipeline(module, "shard-to-stablehlo")
    inputs = [[np.float32(0)]] * 12
    found = spmd_program(backend, module, Layout(1, 12)).run(inputs)
    for device, outputs in enumerate(found):
        x, y, z = (int(at) for at in np.unravel_index(device, (2, 3, 2)))
        down, up = (device - 2 if y else -1), (device + 2 if y < 2 else -1)
        # 7 elements over 3 devices are 2, 2 and 3; 10 over 4 are 2, 2, 3 and 3.
        rows, columns = [2, 2, 3][y] + 1, [2, 2, 3, 3][z * 2 + x] + 3
        chosen = 7 if device % 2 else y
        expected = [device, [x, y, z], down, up, [2, 3], [[rows], [columns]], z, chosen]
        assert [array.tolist() for array in outputs] == [*expected, [chosen] * 2]


# --- Messages -----------------------------------------------------------------------------------

RING = """
shard.grid @grid(shape = 2x3)
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %i = shard.process_multi_index on @grid axes = [1] : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %after = arith.addi %i, %c1 : index
  %next = arith.remui %after, %c3 : index
  %before = arith.addi %i, %c2 : index
  %previous = arith.remui %before, %c3 : index
  %0 = shard.send %a on @grid grid_axes = [1] destination = [%next]
    : (tensor<2xf32>, index) -> tensor<2xf32>
  %1 = shard.recv %a on @grid grid_axes = [1] source = [%previous]
    : (tensor<2xf32>, index) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""

ONE_PAIR = """
shard.grid @grid(shape = 2x3)
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = shard.send %a on @grid grid_axes = [1, 0] destination = [2, 1]
    : (tensor<2xf32>) -> tensor<2xf32>
  %1 = shard.recv %a on @grid grid_axes = [1, 0] source = [1, 0]
    : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""

ONLY_SOME_SEND = """
shard.grid @grid(shape = 2x3)
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %i = shard.process_linear_index on @grid : index
  %c4 = arith.constant 4 : index
  %is = arith.cmpi eq, %i, %c4 : index
  scf.if %is {
    %0 = shard.send %a on @grid grid_axes = [0, 1] destination = [0, 2]
      : (tensor<2xf32>) -> tensor<2xf32>
  }
  %c2 = arith.constant 2 : index
  %waits = arith.cmpi eq, %i, %c2 : index
  %r = scf.if %waits -> tensor<2xf32> {
    %1 = shard.recv %a on @grid grid_axes = [0, 1] source = [1, 1]
      : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  } else {
    scf.yield %a : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
"""

# What each device gets: the number of the sender, doubled by some; 0 for nothing.
MESSAGES = {
    "ring": (RING, [3, 1, 2, 6, 4, 5]),
    "one pair": (ONE_PAIR, [0, 0, 0, 0, 0, 2]),
    "swap in branches": (SWAP_IN_BRANCHES, [8, 10, 12, 1, 2, 3]),
    "only some send": (ONLY_SOME_SEND, [1, 2, 5, 4, 5, 6]),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name, context):
    text, expected = MESSAGES[name]
    module = parse(text, context)
    run_pipeline(module, "shard-to-stablehlo")
    inputs = [[np.full(2, device + 1, np.float32)] for device in range(6)]
    found = spmd_program("interpreter", module, Layout(1, 6)).run(inputs)
    assert [outputs[0].tolist() for outputs in found] == [[value] * 2 for value in expected]


ROOT_AT_RUN_TIME = """
shard.grid @grid(shape = 2x3)
func.func @main(%a: tensor<2xf32>, %b: tensor<6xf32>, %row: tensor<i32>)
    -> (tensor<2xf32>, tensor<1xf32>) {
  %element = tensor.extract %row[] : tensor<i32>
  %i = arith.index_cast %element : i32 to index
  %0 = shard.broadcast %a on @grid grid_axes = [0, 1] root = [%i, 2]
    : (tensor<2xf32>, index) -> tensor<2xf32>
  %1 = shard.scatter %b on @grid grid_axes = [1, 0] scatter_dim = 0 root = [0, %i]
    : (tensor<6xf32>, index) -> tensor<1xf32>
  return %0, %1 : tensor<2xf32>, tensor<1xf32>
}
"""


@pytest.mark.parametrize("row", [0, 1])
def test_root_that_the_program_computes(row, context):
    module = parse(ROOT_AT_RUN_TIME, context)
    run_pipeline(module, "shard-to-stablehlo")
    inputs = [
        [
            np.full(2, device, np.float32),
            np.arange(6, dtype=np.float32) + 10 * device,
            np.int32(row),
        ]
        for device in range(6)
    ]
    found = spmd_program("interpreter", module, Layout(1, 6)).run(inputs)
    order = [0, 2, 4, 1, 3, 5]  # the place of each device in its group along [1, 0]
    for device, (broadcast, scattered) in enumerate(found):
        assert broadcast.tolist() == [3 * row + 2] * 2
        assert scattered.tolist() == [30 * row + order[device]]
