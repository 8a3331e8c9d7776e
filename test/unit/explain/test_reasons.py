# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reasons of collectives whose origin isn't a plain reshard or reduction."""

import pyshardy as sdy

MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>'


def reasons(text):
    """Return pairs of the kind and the reason of each collective."""
    found = sdy.explain(f"{MESH}\n{text}").collectives
    return [(each.collective.kind, each.reason) for each in found]


def test_sums_that_are_completed_together():
    text = """
        func.func @main(
            %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
            %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
            %c: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
            -> tensor<8x8xf32> {
          %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
            : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
          %1 = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0]
            : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
          %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
          return %2 : tensor<8x8xf32>
        }"""
    reason = (
        "result 0 of stablehlo.dot_general is a reduction over a dimension sharded along x of "
        "%a and %b"
    )
    assert reasons(text) == [("all_reduce", reason)]


def test_arguments_of_loops():
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %end = stablehlo.constant dense<3> : tensor<i32>
          %0:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<8xf32>
          cond {
            %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %1 : tensor<i1>
          } do {
            %1 = "stablehlo.sort"(%v) <{dimension = 0 : i64}> ({
            ^bb0(%l: tensor<f32>, %r: tensor<f32>):
              %3 = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
              stablehlo.return %3 : tensor<i1>
            }) : (tensor<8xf32>) -> tensor<8xf32>
            %2 = stablehlo.add %i, %one : tensor<i32>
            stablehlo.return %2, %1 : tensor<i32>, tensor<8xf32>
          }
          return %0#1 : tensor<8xf32>
        }"""
    (gather,) = [reason for kind, reason in reasons(text) if kind == "all_gather"]
    assert gather == "result 1 of stablehlo.while must be resharded for operand 0 of stablehlo.sort"


def test_collectives_of_the_program():
    text = """
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> tensor<8xf32> {
          %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>]
              out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x", "y"} (%b: tensor<2xf32>) {
            %1 = "stablehlo.collective_permute"(%b) <{
              channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
              source_target_pairs = dense<[[0, 2], [2, 0]]> : tensor<2x2xi64>}>
              : (tensor<2xf32>) -> tensor<2xf32>
            sdy.return %1 : tensor<2xf32>
          } : (tensor<8xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }"""
    expected = "stablehlo.collective_permute is an operation of the program"
    assert expected in [reason for _, reason in reasons(text)]
