# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of programs: the examples of `partition.op_facts.fusion`."""

import pytest

import pyshardy as sdy
from pyshardy.timeline.durations import resource_use_of
from pyshardy.timeline.memory import kernels_in
from pyshardy.timeline.operation_table import OperationTable

ROWS, COLUMNS = 8, 64
LARGE, SMALL = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{ROWS}xf32>"


def unary(result: str, name: str, operand: str, of: str = LARGE) -> str:
    return f"%{result} = stablehlo.{name} %{operand} : {of}"


def binary(result: str, name: str, left: str, right: str, of: str = LARGE) -> str:
    return f"%{result} = stablehlo.{name} %{left}, %{right} : {of}"


def reduced(result: str, operand: str, name: str = "add") -> str:
    return (
        f"%{result} = stablehlo.reduce(%{operand} init: %z) applies stablehlo.{name} across "
        f"dimensions = [1] : ({LARGE}, tensor<f32>) -> {SMALL}"
    )


def spread(result: str, operand: str) -> str:
    return f"%{result} = stablehlo.broadcast_in_dim %{operand}, dims = [0] : ({SMALL}) -> {LARGE}"


def dot(result: str, operand: str) -> str:
    return (
        f"%{result} = stablehlo.dot_general %{operand}, %w, contracting_dims = [1] x [0] "
        f": ({LARGE}, tensor<{COLUMNS}xf32>) -> {SMALL}"
    )


SOFTMAX = [
    reduced("m", "x", "maximum"),
    spread("n", "m"),
    binary("d", "subtract", "x", "n"),
    unary("y", "exponential", "d"),
    reduced("s", "y"),
    spread("t", "s"),
    binary("r", "divide", "y", "t"),
]
NORMALIZATION = [
    binary("q", "multiply", "x", "x"),
    reduced("s", "q"),
    unary("i", "rsqrt", "s", SMALL),
    spread("t", "i"),
    binary("r", "multiply", "x", "t"),
]
VARIANCE = [
    reduced("m", "x"),
    spread("n", "m"),
    binary("d", "subtract", "x", "n"),
    binary("q", "multiply", "d", "d"),
    reduced("r", "q"),
]
CROSS_ENTROPY = [
    *SOFTMAX[:5],
    unary("l", "log", "s", SMALL),
    spread("t", "l"),
    binary("p", "subtract", "d", "t"),
    binary("q", "multiply", "p", "a"),
    reduced("r", "q"),
]
SUMS = [
    binary("y", "add", "x", "a"),
    *(unary(f"f{each}", name, "y") for each, name in enumerate(["tanh", "sine", "cosine"])),
    *(reduced(f"s{each}", f"f{each}") for each in range(3)),
    binary("u", "add", "s0", "s1", SMALL),
    binary("r", "add", "u", "s2", SMALL),
]


@pytest.mark.parametrize(
    ("lines", "result", "starts", "accesses"),
    [
        (
            [binary("d", "add", "x", "x"), unary("y", "exponential", "d"), reduced("r", "y")],
            SMALL,
            ["r"],
            1,
        ),
        (SOFTMAX, LARGE, ["m", "s", "r"], 4),
        (NORMALIZATION, LARGE, ["s", "r"], 3),
        (VARIANCE, SMALL, ["m", "r"], 2),
        (CROSS_ENTROPY, SMALL, ["m", "s", "r"], 4),
        (
            [
                unary("y", "tanh", "x"),
                binary("q", "multiply", "y", "y"),
                binary("r", "add", "q", "y"),
            ],
            LARGE,
            ["r"],
            2,
        ),
        ([unary("y", "tanh", "x"), dot("r", "y")], SMALL, ["y", "r"], 3),
        (SUMS, SMALL, ["y", "s0", "s1", "s2", "r"], 6),
    ],
    ids=[
        *("sum", "softmax", "normalization", "variance", "cross-entropy", "one-kernel", "dot"),
        "many-sums",
    ],
)
def test_kernels_and_their_accesses(lines, result, starts, accesses):
    body = "\n".join([*lines, f"return %r : {result}"])
    arguments = f"%x: {LARGE}, %a: {LARGE}, %w: tensor<{COLUMNS}xf32>, %z: tensor<f32>"
    module = sdy.parse(f"func.func @main({arguments}) -> {result} {{\n{body}\n}}")
    use = resource_use_of(module)
    names = [line.split()[0].removeprefix("%") for line in lines]
    (block,) = use.table.blocks_of(1)
    numbers = use.table.directly_in(block)
    found = [name for number, name in zip(numbers, names, strict=False) if number not in use.fused]
    assert found == starts
    nbytes = sum(each.nbytes for each in use.work.values())
    assert round(nbytes / (4 * ROWS * COLUMNS)) == accesses


def test_reshapes_are_fused_after_others_only():
    """A transpose of a dimension of size 1 is a reshape."""
    module = sdy.parse("""
        func.func @main(%x: tensor<8x1x4xf32>) -> (tensor<32xf32>, tensor<1x8x4xf32>) {
          %0 = stablehlo.tanh %x : tensor<8x1x4xf32>
          %1 = stablehlo.transpose %0, dims = [1, 0, 2]
            : (tensor<8x1x4xf32>) -> tensor<1x8x4xf32>
          %2 = stablehlo.negate %1 : tensor<1x8x4xf32>
          %3 = stablehlo.reshape %x : (tensor<8x1x4xf32>) -> tensor<32xf32>
          %4 = stablehlo.negate %3 : tensor<32xf32>
          return %4, %2 : tensor<32xf32>, tensor<1x8x4xf32>
        }""")
    use = resource_use_of(module)
    assert sorted(use.fused) == [2, 3]
    assert {number: work.nbytes for number, work in use.work.items()} == {4: 256, 6: 256}


def test_sums_of_many_tensors_are_in_memory():
    """Each kernel would else read all that was added before."""
    lines: list[str] = []
    for layer in range(6):
        lines += [
            binary(f"x{layer + 1}", "add", f"x{layer}", f"a{layer}"),
            reduced(f"s{layer}", f"x{layer + 1}"),
            reduced(f"m{layer}", f"x{layer + 1}", "maximum"),
        ]
    body = "\n".join([*lines, f"return %x6 : {LARGE}"])
    arguments = ", ".join(
        ["%z: tensor<f32>", f"%x0: {LARGE}", *(f"%a{n}: {LARGE}" for n in range(6))]
    )
    module = sdy.parse(f"func.func @main({arguments}) -> {LARGE} {{\n{body}\n}}")
    kernels = kernels_in(OperationTable.of(module))
    assert not kernels.fused
