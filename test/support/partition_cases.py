# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs by hand for the partitioner: operations, control flow, element types and manual parts.

`PRELUDE` names the meshes and shardings that all of them use.
"""

import itertools

import numpy as np

from mlir_sdy.host import ir
from pyshardy.irtools.modules import copy_of
from pyshardy.pipeline import run_pipeline

PRELUDE = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @permuted = <["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>
sdy.mesh @wide = <["x"=4]>
sdy.mesh @single = <[], device_ids=[2]>
#x = #sdy.sharding<@mesh, [{"x"}]>
#y = #sdy.sharding<@mesh, [{"y"}]>
#rows = #sdy.sharding<@mesh, [{"x"}, {}]>
#columns = #sdy.sharding<@mesh, [{}, {"x"}]>
#tiles = #sdy.sharding<@mesh, [{"x"}, {"y"}]>
#flipped = #sdy.sharding<@mesh, [{"y"}, {"x"}]>
#fine_rows = #sdy.sharding<@mesh, [{"x", "y"}, {}]>
#fine_columns = #sdy.sharding<@mesh, [{}, {"y", "x"}]>
#whole = #sdy.sharding<@mesh, [{}, {}]>
#permuted_tiles = #sdy.sharding<@permuted, [{"x"}, {"y"}]>
#permuted_rows = #sdy.sharding<@permuted, [{"x"}, {}]>
#half_rows = #sdy.sharding<@wide, [{"x":(1)2}, {}]>
#half_tiles = #sdy.sharding<@wide, [{"x":(2)2}, {"x":(1)2}]>
"""

SHARDINGS_OF_MATRICES = (
    "rows",
    "columns",
    "tiles",
    "flipped",
    "fine_rows",
    "fine_columns",
    "whole",
    "permuted_tiles",
)


def sharded(name: str) -> str:
    """The attributes of an argument or a function's result."""
    return f"{{sdy.sharding = #{name}}}"


def localised(module: ir.Module, options: str) -> ir.Module:
    """The local program of a propagated module, made with options."""
    local = copy_of(module)
    run_pipeline(local, f"sdy-partition-pipeline{{{options}}}")
    return local


CONTROL_FLOW = {
    "while": """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #rows},
                %b: tensor<8x8xf32> {sdy.sharding = #columns})
    -> (tensor<8x8xf32> {sdy.sharding = #tiles}, tensor<8x8xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %p = %a, %q = %b)
      : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32> cond {
    %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %product = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0]
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %turned = stablehlo.transpose %q, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %next, %product, %turned : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %r#1, %r#2, %r#0 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32>
}""",
    "while of which nothing but the inside is sharded": """
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %p = %a) : tensor<i32>, tensor<8x8xf32> cond {
    %sum = stablehlo.reduce(%p init: %zero_f) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %more = stablehlo.compare LT, %sum, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %s = sdy.sharding_constraint %p <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
    %t = stablehlo.add %s, %ones {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
        : tensor<8x8xf32>
    stablehlo.return %next, %t : tensor<i32>, tensor<8x8xf32>
  }
  return %r#1 : tensor<8x8xf32>
}""".replace(
        "%r:2 =",
        """%zero_f = stablehlo.constant dense<0.0> : tensor<f32>
  %limit = stablehlo.constant dense<99.0> : tensor<f32>
  %ones = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %r:2 =""",
        1,
    ),
    "case": """
func.func @main(%which: tensor<i32>, %a: tensor<8x8xf32> {sdy.sharding = #rows},
                %b: tensor<8x8xf32> {sdy.sharding = #columns})
    -> (tensor<8x8xf32> {sdy.sharding = #tiles}, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = "stablehlo.case"(%which) ({
    %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    stablehlo.return %a, %sum : tensor<8x8xf32>, tensor<8xf32>
  }, {
    %sum = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    stablehlo.return %b, %sum : tensor<8x8xf32>, tensor<8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>, <@mesh, [{"y"}]>]>}
      : (tensor<i32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  return %r#0, %r#1 : tensor<8x8xf32>, tensor<8xf32>
}""",
    "if": """
func.func @main(%p: tensor<i1>, %a: tensor<8x8xf32> {sdy.sharding = #rows},
                %b: tensor<8x8xf32> {sdy.sharding = #fine_columns})
    -> (tensor<8x8xf32> {sdy.sharding = #tiles}) {
  %r = "stablehlo.if"(%p) ({
    %s = stablehlo.add %a, %b : tensor<8x8xf32>
    stablehlo.return %s : tensor<8x8xf32>
  }, {
    stablehlo.return %b : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}""",
    "barriers": """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #rows},
                %b: tensor<8x8xf32> {sdy.sharding = #columns})
    -> (tensor<8x8xf32> {sdy.sharding = #columns}, tensor<8x8xf32>) {
  %r:2 = stablehlo.optimization_barrier
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>, <@mesh, [{}, {"x"}]>]>}
      %a, %b : tensor<8x8xf32>, tensor<8x8xf32>
  %p = sdy.propagation_barrier %r#0 allowed_direction=NONE : tensor<8x8xf32>
  %s = stablehlo.add %p, %r#1 : tensor<8x8xf32>
  return %s, %p : tensor<8x8xf32>, tensor<8x8xf32>
}""",
    "calls of differently sharded functions": """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #rows})
    -> (tensor<8x8xf32> {sdy.sharding = #columns}, tensor<8x8xf32>) {
  %0:2 = call @callee(%a, %a) {sdy.sharding =
      #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %1:2 = call @callee(%0#1, %0#0)
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %1#0, %1#1 : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func private @callee(%a: tensor<8x8xf32> {sdy.sharding = #fine_columns},
                          %b: tensor<8x8xf32>)
    -> (tensor<8x8xf32> {sdy.sharding = #flipped}, tensor<8x8xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0, %a : tensor<8x8xf32>, tensor<8x8xf32>
}""",
    "named computation": """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #rows}) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %0:2 = sdy.named_computation<"inner">(%a)
      in_shardings=[<@mesh, [{"y"}, {"x"}]>]
      out_shardings=[<@mesh, [{}, {"y"}]>, <@mesh, [{"x"}]>] (%b: tensor<8x8xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    sdy.return %b, %sum : tensor<8x8xf32>, tensor<8xf32>
  } : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8x8xf32>, tensor<8xf32>
}""",
    "arguments returned": """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #rows}, %b: tensor<8x8xf32>, %c: tensor<f32>)
    -> (tensor<8x8xf32> {sdy.sharding = #columns}, tensor<8x8xf32>,
        tensor<8x8xf32> {sdy.sharding = #tiles}, tensor<f32>) {
  return %a, %a, %b, %c : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>
}""",
    "reshards of users": """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #rows})
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %2 = sdy.all_slice [{"x"}, {}] %1 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %3 = sdy.all_gather [{"x"}, {"y"}] %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %4 = sdy.collective_permute %2 out_sharding=<@permuted, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %0, %1, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}""",
    "several parameters of one all-to-all": """
func.func @main(%a: tensor<4x8x4x8xf32> {sdy.sharding =
    #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) -> tensor<4x8x4x8xf32> {
  %0 = sdy.all_to_all [{"x"}: 0->1, {"y"}: 2->3] %a
      out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<4x8x4x8xf32>
  return %0 : tensor<4x8x4x8xf32>
}""",
    "a single device beside the mesh": """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #rows}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.add %a, %a : tensor<8x8xf32>
  %1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@single, []>]>}
      dense<1.0> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}""",
    "sub-axes": """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #half_rows},
                %b: tensor<8x8xf32> {sdy.sharding = #half_tiles})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@wide, [{"x"}, {}]>}, tensor<8x8xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}""",
    "meshes whose devices are ordered differently": """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #tiles},
                %b: tensor<8x8xf32> {sdy.sharding = #permuted_tiles})
    -> (tensor<8x8xf32> {sdy.sharding = #permuted_rows}, tensor<8x8xf32> {sdy.sharding = #tiles}) {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0, %b : tensor<8x8xf32>, tensor<8x8xf32>
}""",
}
"""Programs in which values flow through regions, calls and collectives."""

OPERATIONS = {
    # Reductions whose initial value is not the identity, and of several operands.
    **{
        f"reduce {kind} across {dims} from {init}": f"""
  %init = stablehlo.constant dense<{init}> : tensor<f32>
  %r = stablehlo.reduce(%a init: %init) applies stablehlo.{kind} across dimensions = {dims}
      : (tensor<8x8xf32>, tensor<f32>) -> tensor<{shape}f32>"""
        for kind, init, (dims, shape) in itertools.product(
            ("add", "maximum", "minimum", "multiply"),
            ("0.0", "1.5"),
            (("[0]", "8x"), ("[0, 1]", "")),
        )
    },
    "reduce by a general body": """
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%a init: %init) across dimensions = [1]
      : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      reducer(%p: tensor<f32>, %q: tensor<f32>) {
    %absolute = stablehlo.abs %q : tensor<f32>
    %s = stablehlo.add %p, %absolute : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }""",
    "reduce by a body that swaps its arguments": """
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%a init: %init) across dimensions = [1]
      : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      reducer(%p: tensor<f32>, %q: tensor<f32>) {
    %s = stablehlo.add %q, %p : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }""",
    "argmax": """
  %least = stablehlo.constant dense<-9.0> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %index = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %both:2 = stablehlo.reduce(%a init: %least), (%index init: %none) across dimensions = [1]
      : (tensor<8x8xf32>, tensor<8x8xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<8xf32>, tensor<8xi32>)
      reducer(%p: tensor<f32>, %q: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %first = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %value = stablehlo.select %first, %p, %q : tensor<i1>, tensor<f32>
    %at = stablehlo.select %first, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %value, %at : tensor<f32>, tensor<i32>
  }
  %r = stablehlo.convert %both#1 : (tensor<8xi32>) -> tensor<8xf32>""",
    # Values out of nothing.
    "splat constant": """
  %c = stablehlo.constant dense<2.5> : tensor<8x8xf32>
  %r = stablehlo.add %a, %c : tensor<8x8xf32>""",
    "constant": f"""
  %c = stablehlo.constant dense<{[[8.0 * i + j for j in range(8)] for i in range(8)]}>
      : tensor<8x8xf32>
  %r = stablehlo.add %a, %c : tensor<8x8xf32>""",
    **{
        f"iota {dim}": f"""
  %c = stablehlo.iota dim = {dim} : tensor<8x8xf32>
  %r = stablehlo.add %a, %c : tensor<8x8xf32>"""
        for dim in (0, 1)
    },
    "iota 1 of integers": """
  %c = stablehlo.iota dim = 1 : tensor<8x8xui8>
  %d = stablehlo.convert %c : (tensor<8x8xui8>) -> tensor<8x8xf32>
  %r = stablehlo.add %a, %d : tensor<8x8xf32>""",
    # Operations that have a local form.
    "transpose": """
  %r = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>""",
    "product": """
  %r = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>""",
    "broadcast": """
  %r = stablehlo.broadcast_in_dim %a, dims = [2, 0]
      : (tensor<8x8xf32>) -> tensor<8x4x8xf32>""",
    "reshape that splits": """
  %r = stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<2x4x4x2xf32>""",
    "reshape that merges": """
  %r = stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<64xf32>""",
    "reshape that does both": """
  %r = stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<4x16xf32>""",
    "select": """
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %p = stablehlo.compare GT, %a, %zero : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
  %r = stablehlo.select %p, %a, %zero : tensor<8x8xi1>, tensor<8x8xf32>""",
    "select by a scalar, and clamp": """
  %p = stablehlo.constant dense<true> : tensor<i1>
  %low = stablehlo.constant dense<-0.5> : tensor<f32>
  %high = stablehlo.constant dense<0.5> : tensor<f32>
  %s = stablehlo.select %p, %a, %a : tensor<i1>, tensor<8x8xf32>
  %r = stablehlo.clamp %low, %s, %high
      : (tensor<f32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>""",
    # Element types.
    "bf16": """
  %b = stablehlo.convert %a : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %c = stablehlo.transpose %b, dims = [1, 0] : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %d = stablehlo.add %b, %c : tensor<8x8xbf16>
  %r = stablehlo.convert %d : (tensor<8x8xbf16>) -> tensor<8x8xf32>""",
    "complex": """
  %b = stablehlo.complex %a, %a : tensor<8x8xcomplex<f32>>
  %c = stablehlo.transpose %b, dims = [1, 0]
      : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  %d = stablehlo.multiply %b, %c : tensor<8x8xcomplex<f32>>
  %r = stablehlo.imag %d : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xf32>""",
    "integers": """
  %b = stablehlo.convert %a : (tensor<8x8xf32>) -> tensor<8x8xi8>
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %c = stablehlo.reduce(%b init: %zero) applies stablehlo.maximum across dimensions = [1]
      : (tensor<8x8xi8>, tensor<i8>) -> tensor<8xi8>
  %r = stablehlo.convert %c : (tensor<8xi8>) -> tensor<8xf32>""",
    "booleans": """
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %p = stablehlo.compare GT, %a, %zero : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
  %r = stablehlo.reduce(%p init: %no) applies stablehlo.or across dimensions = [0]
      : (tensor<8x8xi1>, tensor<i1>) -> tensor<8xi1>""",
    "sum of booleans": """
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %p = stablehlo.compare GT, %a, %zero : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
  %r = stablehlo.reduce(%p init: %no) applies stablehlo.add across dimensions = [0]
      : (tensor<8x8xi1>, tensor<i1>) -> tensor<8xi1>""",
    # Operations without a rule.
    "sort": """
  %r = "stablehlo.sort"(%a) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %less = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>""",
    "cumulative sum": """
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%a, %zero) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 8>, padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>}
      : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>""",
    "convolution": """
  %i = stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<2x4x4x2xf32>
  %k = stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<2x2x2x8xf32>
  %r = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<2x4x4x2xf32>, tensor<2x2x2x8xf32>) -> tensor<2x3x3x8xf32>""",
    "gather": """
  %which = stablehlo.constant dense<[[3], [0], [7], [3]]> : tensor<4x1xi64>
  %r = "stablehlo.gather"(%a, %which) {
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
          start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 8>} : (tensor<8x8xf32>, tensor<4x1xi64>) -> tensor<4x8xf32>""",
    "scatter": """
  %which = stablehlo.constant dense<[[3], [0], [7], [3]]> : tensor<4x1xi64>
  %new = stablehlo.constant dense<1.5> : tensor<4x8xf32>
  %r = "stablehlo.scatter"(%a, %which, %new) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
      : (tensor<8x8xf32>, tensor<4x1xi64>, tensor<4x8xf32>) -> tensor<8x8xf32>""",
    "concatenate": """
  %r = stablehlo.concatenate %a, %a, dim = 1
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>""",
    "pad": """
  %value = stablehlo.constant dense<7.0> : tensor<f32>
  %r = stablehlo.pad %a, %value, low = [2, 0], high = [-1, 3], interior = [1, 0]
      : (tensor<8x8xf32>, tensor<f32>) -> tensor<16x11xf32>""",
    "slice": """
  %r = stablehlo.slice %a [1:7:2, 0:8] : (tensor<8x8xf32>) -> tensor<3x8xf32>""",
    "reverse": """
  %r = stablehlo.reverse %a, dims = [0, 1] : tensor<8x8xf32>""",
    "dynamic_slice": """
  %at = stablehlo.constant dense<3> : tensor<i32>
  %r = stablehlo.dynamic_slice %a, %at, %at, sizes = [4, 8]
      : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>""",
    "dynamic_update_slice": """
  %at = stablehlo.constant dense<3> : tensor<i32>
  %new = stablehlo.constant dense<1.5> : tensor<2x8xf32>
  %r = stablehlo.dynamic_update_slice %a, %new, %at, %at
      : (tensor<8x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>""",
}
"""What computes `%r` from `%a`, a matrix of 8 by 8 numbers."""

_SUM = """({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    })"""

PER_DEVICE = {
    "manual computation": (
        f"""
func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #rows}}) -> tensor<8x4xf32> {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>]
      out_shardings=[<@mesh, [{{"x"}}, {{}}]>] manual_axes={{"x", "y"}} (%b: tensor<4x4xf32>) {{
    %1 = "stablehlo.all_reduce"(%b) {_SUM} {{
        replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids,
        channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}}
        : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  }} : (tensor<8x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}}""",
        lambda a: a[:, :4] + a[:, 4:],
    ),
    "manual computation with free axes": (
        """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #columns}) -> tensor<4x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>]
      out_shardings=[<@mesh, [{}, {"x", "y"}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}, {}]> : tensor<8x4xf32>
    %3 = stablehlo.dot_general %b, %2, contracting_dims = [1] x [0]
        : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    sdy.return %3 : tensor<4x4xf32>
  } : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}""",
        lambda a: np.hstack([half @ half.T for half in (a[:4], a[4:])]),
    ),
    "nested manual computations": (
        f"""
func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #tiles}}) -> tensor<4x8xf32> {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{"x"}}, {{}}]>]
      out_shardings=[<@mesh, [{{}}, {{}}]>] manual_axes={{"x"}} (%b: tensor<4x8xf32>) {{
    %1 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{{}}, {{"y"}}]>]
        out_shardings=[<@mesh, [{{}}, {{"y"}}]>] manual_axes={{"y"}} (%c: tensor<4x4xf32>) {{
      %2 = stablehlo.reverse %c, dims = [1] : tensor<4x4xf32>
      %3 = "stablehlo.all_reduce"(%2) {_SUM} {{
          replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}}
          : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %3 : tensor<4x4xf32>
    }} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.add %1, %1 : tensor<4x8xf32>
    sdy.return %4 : tensor<4x8xf32>
  }} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}}""",
        lambda a: 2 * (a[:4] + a[4:])[:, [3, 2, 1, 0, 7, 6, 5, 4]],
    ),
    "a permutation beside a manual axis": (
        """
sdy.mesh @cube = <["z"=2, "m"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@cube, [{"m"}, {"y"}]>]
      out_shardings=[<@cube, [{"m"}, {"z"}]>] manual_axes={"m"} (%b: tensor<4x8xf32>) {
    %1 = stablehlo.add %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@cube, [{}, {"z"}]>]>}
        : tensor<4x8xf32>
    %2 = sdy.reshard %b <@cube, [{}, {"z"}]> : tensor<4x8xf32>
    %3 = stablehlo.add %1, %2 : tensor<4x8xf32>
    sdy.return %3 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}""",
        lambda a: 3 * a,
    ),
    "manual computation of a loop": (
        """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #rows}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %p = %b) : tensor<i32>, tensor<4x8xf32> cond {
      %more = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %c = sdy.sharding_constraint %p <@mesh, [{"y"}, {}]> : tensor<4x8xf32>
      %d = stablehlo.reverse %c, dims = [0] : tensor<4x8xf32>
      %e = stablehlo.add %c, %d : tensor<4x8xf32>
      stablehlo.return %next, %e : tensor<i32>, tensor<4x8xf32>
    }
    sdy.return %r#1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}""",
        lambda a: 2 * np.vstack([half + half[::-1] for half in (a[:4], a[4:])]),
    ),
    "manual computation that depends on the device": (
        """
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@permuted, [{"x"}, {"y"}]>]
      out_shardings=[<@permuted, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%b: tensor<4x4xf32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %3 = stablehlo.add %b, %2 : tensor<4x4xf32>
    sdy.return %3 : tensor<4x4xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}""",
        lambda a: a + np.kron([[3, 1], [0, 2]], np.ones((4, 4))),
    ),
    **{
        f"all-reduce {kind} of copies": (
            f"""
func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #rows}}) -> tensor<8x8xf32> {{
  %0 = sdy.all_reduce {kind} {{"y"}} %a out_sharding=<@mesh, [{{"x"}}, {{}}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}""",
            lambda a: a,
        )
        for kind in ("max", "min")
    },
    "all-reduce of what one device has": (
        """
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #rows}) -> tensor<8x8xf32> {
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}>
      : tensor<8x8xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}""",
        lambda a: a,
    ),
    **{
        f"reduce-scatter {axes} of what one device has": (
            f"""
func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #whole}}) -> tensor<8x8xf32> {{
  %0 = sdy.replicated_to_unreduced {{"x", "y"}} %a
      out_sharding=<@mesh, [{{}}, {{}}], unreduced={{"x", "y"}}> : tensor<8x8xf32>
  %1 = sdy.reduce_scatter {axes} %0 out_sharding=<@mesh, {axes}{rest}> : tensor<8x8xf32>
  %2 = sdy.reshard %1 <@mesh, {axes}> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}}""",
            lambda a: a,
        )
        for axes, rest in (
            ('[{"x"}, {}]', ', unreduced={"y"}'),
            ('[{"y"}, {"x"}]', ""),
            ('[{}, {"y", "x"}]', ""),
        )
    },
}
"""Programs that say what each device does, and what they compute from a matrix."""
