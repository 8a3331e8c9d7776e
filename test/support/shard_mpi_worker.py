# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One process of an MPI job that checks programs; started by `test_shard_mpi.py`.

The first process prints a line for each program that gives what it must. A process ends with the
first that doesn't.
"""

import numpy as np
from partition_cases import CONTROL_FLOW, PRELUDE
from programs import ProgramWriter, random_module_with_calls
from shard_programs import SWAP_IN_BRANCHES, every_collective, halo_program, orders_of_axes

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.api import propagate
from pyshardy.backends import CompileOptions, spmd_program
from pyshardy.backends.arrays.comparison import compare, random_inputs
from pyshardy.backends.mpi_library import mpi_library
from pyshardy.local_program.process_groups import Layout
from pyshardy.program import partition, run_unpartitioned

FAST_TO_COMPILE = CompileOptions(optimization=0)
PROCESSES = 4
HALOS = (
    ((2, 2), ((0,), (1,)), ((1, 2), (2, 1)), (3, 4)),
    ((2, 2), ((1, 0),), ((1, 1),), (2, 2)),
)
FROM_CONTROL_FLOW = (
    "while",
    "case",
    "if",
    "named computation",
    "several parameters of one all-to-all",
    "sub-axes",
    "a single device beside the mesh",
    "reshards of users",
    "meshes whose devices are ordered differently",
)
MESH = Mesh((MeshAxis("a", 2), MeshAxis("b", 2)))
ELEMENTS = """
shard.grid @grid(shape = 2x2)
func.func @main(%a: tensor<2xbf16>, %b: tensor<2xui16>, %c: tensor<2xi1>)
    -> (tensor<2xbf16>, tensor<4xui16>, tensor<2xi1>, tensor<4xi1>, tensor<4xbf16>) {
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<2xbf16> -> tensor<2xbf16>
  %1 = shard.all_gather %b on @grid grid_axes = [1] gather_axis = 0
    : tensor<2xui16> -> tensor<4xui16>
  %2 = shard.all_reduce %c on @grid grid_axes = [0, 1] reduction = bitwise_xor
    : tensor<2xi1> -> tensor<2xi1>
  %3 = shard.all_gather %c on @grid grid_axes = [0] gather_axis = 0 : tensor<2xi1> -> tensor<4xi1>
  %4 = shard.all_gather %a on @grid grid_axes = [0] gather_axis = 0
    : tensor<2xbf16> -> tensor<4xbf16>
  return %0, %1, %2, %3, %4
    : tensor<2xbf16>, tensor<4xui16>, tensor<2xi1>, tensor<4xi1>, tensor<4xbf16>
}
"""


class Writer(ProgramWriter):
    """Writes operations that are exact on whole numbers."""

    sizes = (8, 16, 6)
    unary_operations = ("negate", "abs", "floor")
    binary_operations = ("add", "multiply", "maximum", "subtract")


def check_collectives(context):
    programs = [every_collective((2, 2), axes) for axes in orders_of_axes(2)]
    programs += [halo_program(*arguments) for arguments in HALOS]
    for program in programs:
        module = parse(program.text(), context)
        compiled = spmd_program("mpi", module, Layout(1, PROCESSES), FAST_TO_COMPILE)
        program.check(compiled.run(program.scattered()))
        yield program.lines[0]


def check_elements(context):
    """Elements that MPI lacks, or takes for others."""
    program = spmd_program("mpi", parse(ELEMENTS, context), Layout(1, PROCESSES), FAST_TO_COMPILE)
    inputs = [
        [
            np.array([device, 0.5], np.float32),
            np.array([65535 - device, device], np.uint16),
            np.array([device in {0, 1, 3}, device == 2]),
        ]
        for device in range(PROCESSES)
    ]
    for device, outputs in enumerate(program.run(inputs)):
        row, column = divmod(device, 2)
        left = 2 * row
        sums, numbers, parity, flags, floats = (array.tolist() for array in outputs)
        assert sums == [2 * column + 2, 1.0]
        assert numbers == [65535 - left, left, 65534 - left, left + 1]
        assert parity == [True, True]
        assert flags == [True, False, bool(column), not column]
        assert floats == [column, 0.5, column + 2, 0.5]
    yield "elements"


def check_messages(context):
    """Two halves of the devices swap what they have, one of them doubled."""
    module = parse(SWAP_IN_BRANCHES.replace("2x3", "2x2"), context)
    program = spmd_program("mpi", module, Layout(1, PROCESSES), FAST_TO_COMPILE)
    found = program.run([[np.full(2, device + 1, np.float32)] for device in range(PROCESSES)])
    assert [outputs[0].tolist() for outputs in found] == [[6] * 2, [8] * 2, [1] * 2, [2] * 2]
    yield "messages"


LOOP = """
shard.grid @grid(shape = 2x2)
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %count = stablehlo.constant dense<2100> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %r:2 = stablehlo.while(%x = %a, %i = %zero) : tensor<4xf32>, tensor<i32> cond {
    %c = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = shard.all_reduce %x on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %t = stablehlo.multiply %s, %half : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %t, %j : tensor<4xf32>, tensor<i32>
  }
  return %r#0 : tensor<4xf32>
}
"""


def check_communicators(context):
    """A library has 2048 of them, and a loop may run longer."""
    program = spmd_program("mpi", parse(LOOP, context), Layout(1, PROCESSES), FAST_TO_COMPILE)
    found = program.run([[np.full(4, device, np.float32)] for device in range(PROCESSES)])
    assert [outputs[0].tolist() for outputs in found] == [[1] * 4, [2] * 4, [1] * 4, [2] * 4]
    yield "communicators"


def check_partitioned(context):
    texts = {f"random {seed}": random_text(seed) for seed in (0, 3)}
    texts |= {name: PRELUDE + CONTROL_FLOW[name] for name in FROM_CONTROL_FLOW}
    for name, text in texts.items():
        module = parse(text, context)
        propagate(module)
        program = partition(module)
        inputs = random_inputs([port.spec for port in program.inputs], seed=0)
        inputs = [np.trunc(3 * each) if each.dtype.kind == "f" else each for each in inputs]
        found = program.run(inputs, "mpi", FAST_TO_COMPILE)
        expected = run_unpartitioned(module, inputs)
        for port, ours, wanted in zip(program.outputs, found, expected, strict=True):
            assert compare(ours, wanted, port.spec).is_small, (name, port.name)
        yield name


def random_text(seed):
    return random_module_with_calls(seed, meshes=(MESH,), writer_class=Writer)


def main():
    context = Context()
    is_first = mpi_library().rank == 0
    checks = check_collectives, check_elements, check_messages, check_communicators
    for check in (*checks, check_partitioned):
        for name in check(context):
            if is_first:
                print("right:", name)


if __name__ == "__main__":
    main()
