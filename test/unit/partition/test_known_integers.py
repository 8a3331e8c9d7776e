# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers that are computed from constants, and bounds of indices."""

import numpy as np
import pytest

import pyshardy as sdy
from pyshardy.partition.op_facts.known_integers import bounds_of_indices, known_integers

I32 = "tensor<6xi32>"


def returned(body, arguments=""):
    module = sdy.parse(f"func.func @main({arguments}) -> {I32} {{ {body} return %r : {I32} }}")
    block = module.body.operations[0].regions[0].blocks[0]
    return module, block, list(block.operations)[-1].operation.operands[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"%r = stablehlo.iota dim = 0 : {I32}", range(6)),
        (
            f"""%a = stablehlo.constant dense<[-7, 7, -6, 6, 1, 0]> : {I32}
            %b = stablehlo.constant dense<4> : {I32}
            %r = stablehlo.divide %a, %b : {I32}""",
            [-1, 1, -1, 1, 0, 0],
        ),
        (
            f"""%a = stablehlo.constant dense<[-7, 7, -6, 6, 1, 0]> : {I32}
            %b = stablehlo.constant dense<4> : {I32}
            %r = stablehlo.remainder %a, %b : {I32}""",
            [-3, 3, -2, 2, 1, 0],
        ),
        (
            f"""%a = stablehlo.iota dim = 0 : {I32}
            %b = stablehlo.constant dense<3> : {I32}
            %c = stablehlo.compare GE, %a, %b : ({I32}, {I32}) -> tensor<6xi1>
            %d = stablehlo.not %c : tensor<6xi1>
            %r = stablehlo.convert %d : (tensor<6xi1>) -> {I32}""",
            [1, 1, 1, 0, 0, 0],
        ),
        (
            f"""%a = stablehlo.constant dense<[9, 4, 5]> : tensor<3xi32>
            %b = stablehlo.constant dense<[[2], [-1], [1], [0], [8], [2]]> : tensor<6x1xi32>
            %r = "stablehlo.gather"(%a, %b) <{{dimension_numbers = #stablehlo.gather<
                collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
                slice_sizes = array<i64: 1>}}> : (tensor<3xi32>, tensor<6x1xi32>) -> {I32}""",
            [5, 9, 4, 9, 5, 5],
        ),
    ],
)
def test_known(body, expected):
    _module, _, value = returned(body)
    np.testing.assert_array_equal(known_integers(value), list(expected))


@pytest.mark.parametrize(
    "body",
    [
        f"""%a = stablehlo.constant dense<2147483647> : {I32}
        %r = stablehlo.add %a, %a : {I32}""",  # wraps around
        f"""%a = stablehlo.iota dim = 0 : {I32}
        %r = stablehlo.divide %a, %a : {I32}""",  # 0 / 0
        f"%r = stablehlo.negate %x : {I32}",
    ],
)
def test_unknown(body):
    _module, _, value = returned(body, f"%x: {I32}")
    assert known_integers(value) is None


def test_given_values():
    _module, block, value = returned(f"%r = stablehlo.multiply %x, %x : {I32}", f"%x: {I32}")
    given = {block.arguments[0]: np.arange(6)}
    np.testing.assert_array_equal(known_integers(value, given), np.arange(6) ** 2)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            f"""%v, %i = chlo.top_k(%s, k = 2) : tensor<3x5xf32>
                -> (tensor<3x2xf32>, tensor<3x2xi32>)
            %r = stablehlo.reshape %i : (tensor<3x2xi32>) -> {I32}""",
            (0, 4),
        ),
        (
            f"""%a = stablehlo.constant dense<[3, -2]> : tensor<2xi32>
            %b = stablehlo.iota dim = 0 : tensor<4xi32>
            %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xi32>, tensor<4xi32>) -> {I32}""",
            (-2, 3),
        ),
        (f"%r = stablehlo.negate %x : {I32}", None),
        (f"%r = stablehlo.maximum %x, %x : {I32}", None),
    ],
)
def test_bounds(body, expected):
    _module, _, value = returned(body, f"%x: {I32}, %s: tensor<3x5xf32>")
    assert bounds_of_indices(value) == expected
