# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of `docs/differences.md` that show in what devices send to each other."""

import pytest
from difference import both_partitioned, program

MIDDLE = 'tensor<1x16x1xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}, {}]>}'


COLLECTIVES = {
    "dynamic slice": (
        program(
            "%x: !t {sdy.sharding = #rows}",
            "tensor<3x8xf32>",
            """
            %c = stablehlo.constant dense<0> : tensor<i32>
            %d = stablehlo.constant dense<3> : tensor<i32>
            %0 = stablehlo.dynamic_slice %x, %d, %c, sizes = [3, 8]
                : (!t, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
            return %0 : tensor<3x8xf32>""",
        ),
        ["all_to_all", "all_gather"],
        ["all_reduce"],
    ),
    "dynamic update slice": (
        program(
            "%x: !t {sdy.sharding = #rows}",
            "!t {sdy.sharding = #rows}",
            """
            %c = stablehlo.constant dense<0> : tensor<i32>
            %d = stablehlo.constant dense<3> : tensor<i32>
            %u = stablehlo.constant dense<7.0> : tensor<2x8xf32>
            %0 = stablehlo.dynamic_update_slice %x, %u, %d, %c
                : (!t, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> !t
            return %0 : !t""",
        ),
        ["all_gather"],
        [],
    ),
    "convolution": (
        program(
            f"%x: {MIDDLE}, %k: tensor<3x1x1xf32>",
            MIDDLE,
            """
            %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
                window = {pad = [[1, 1]]} {batch_group_count = 1 : i64,
                feature_group_count = 1 : i64}
                : (tensor<1x16x1xf32>, tensor<3x1x1xf32>) -> tensor<1x16x1xf32>
            return %0 : tensor<1x16x1xf32>""",
        ),
        ["all_gather"],
        ["collective_permute", "collective_permute"],
    ),
}
CALLS = (
    "Cholesky",
    "CompactWyHelper",
    "InvertDiagBlocksLowerTriangular",
    "InvertDiagBlocksUpperTriangular",
    "_SPMDInternalOp_MultiRotate",
    "_SPMDInternalOp_RotateRight",
)
COLLECTIVES |= {
    call: (
        program(
            "%x: !t {sdy.sharding = #rows}",
            "!t {sdy.sharding = #rows}",
            f"%0 = stablehlo.custom_call @{call}(%x) : (!t) -> !t\nreturn %0 : !t",
        ),
        [],
        ["all_gather"],
    )
    for call in CALLS
}
COLLECTIVES |= {
    "Eigh": (
        program(
            "%x: !t {sdy.sharding = #rows}",
            "!t {sdy.sharding = #rows}",
            """
            %0:2 = stablehlo.custom_call @Eigh(%x) : (!t) -> (!t, tensor<8xf32>)
            return %0#0 : !t""",
        ),
        [],
        ["all_gather"],
    ),
    "ApproxTopK": (
        program(
            "%x: !t {sdy.sharding = #columns}, %i: tensor<8x8xi32>",
            "tensor<8x2xf32>",
            """
            %f = stablehlo.constant dense<0.0> : tensor<f32>
            %c = stablehlo.constant dense<0> : tensor<i32>
            %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %f, %c)
                : (!t, tensor<8x8xi32>, tensor<f32>, tensor<i32>)
                -> (tensor<8x2xf32>, tensor<8x2xi32>)
            return %0#0 : tensor<8x2xf32>""",
        ),
        [],
        ["all_gather", "all_gather"],
    ),
}
ADDING = """({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
              %r = stablehlo.add %p, %q : tensor<f32>
              stablehlo.return %r : tensor<f32> }"""
HALOS = {
    "slice": (
        "%0 = stablehlo.slice %x [2:16] : (!v) -> tensor<14xf32>",
        "tensor<14xf32> {sdy.sharding = #vector}",
        [("collective_permute", 32)],
        [("collective_permute", 4)],
    ),
    "concatenation": (
        "%0 = stablehlo.concatenate %x, %x, dim = 0 : (!v, !v) -> tensor<32xf32>",
        "tensor<32xf32> {sdy.sharding = #vector}",
        [("all_gather", 32)] * 2,
        [("collective_permute", 32)] * 2,
    ),
    "window": (
        f"""%f = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = "stablehlo.reduce_window"(%x, %f) <{{window_dimensions = array<i64: 3>,
            padding = dense<1> : tensor<1x2xi64>}}> {ADDING}) : (!v, tensor<f32>) -> !v""",
        "!v {sdy.sharding = #vector}",
        [("all_gather", 32)],
        [("collective_permute", 4)] * 2,
    ),
    "gradient of a window": (
        f"""%f = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = "stablehlo.select_and_scatter"(%x, %s, %f) <{{window_dimensions = array<i64: 3>,
            window_strides = array<i64: 1>, padding = dense<1> : tensor<1x2xi64>}}> ({{
            ^bb0(%p: tensor<f32>, %q: tensor<f32>):
              %r = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
              stablehlo.return %r : tensor<i1> }}, {ADDING[1:]}) : (!v, !v, tensor<f32>) -> !v""",
        "!v {sdy.sharding = #vector}",
        [("all_gather", 32)] * 2,
        [*[("collective_permute", 8)] * 2, *[("collective_permute", 4)] * 2],
    ),
}
"""What shards of 32 bytes send to each other: kinds and bytes, of C++ Shardy and of pyshardy."""


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", HALOS)
def test_halos(shardy, context, name):
    body, result, *expected = HALOS[name]
    text = program(
        "%x: !v {sdy.sharding = #vector}, %s: !v {sdy.sharding = #vector}",
        result,
        f"{body}\nreturn %0 : {result.split()[0]}",
    ).replace("!t = ", "!v = tensor<16xf32>\n!t = ", 1)
    programs = both_partitioned(shardy, context, text)
    found = [[(each.kind, each.nbytes) for each in program.collectives] for program in programs]
    assert found == expected


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives(shardy, context, name):
    text, *expected = COLLECTIVES[name]
    programs = both_partitioned(shardy, context, text)
    found = [[each.kind for each in program.collectives] for program in programs]
    assert found == expected
