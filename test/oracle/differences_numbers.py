# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases for rows of `docs/differences.md` that name several operations: one for each of these."""

from difference import PRELUDE, Case, Numbers
from differences_wrong import reduce_rows, scatter_constants

REDUCTION = "a `stablehlo.reduce` or `stablehlo.scatter` by a reduction other than a sum"
STATISTICS = "`stablehlo.batch_norm_training` and `batch_norm_grad` of a sharded batch"
SIZES = "operations with sizes as operands"


def on_rows(body: str, result: str, sharding: str = "") -> str:
    """Return a program of a matrix that is sharded by rows."""
    given = f" {{sdy.sharding = {sharding}}}" if sharding else ""
    return f"""{PRELUDE}
    func.func @main(%x: !t {{sdy.sharding = #rows}}) -> ({result}{given}) {{
      %eight = stablehlo.constant dense<8> : tensor<2xi64>
      {body}
      return %0 : {result}
    }}"""


SELECTING = f"""{PRELUDE}
    func.func @main(%a: tensor<8x8xi32> {{sdy.sharding = #rows}}) -> tensor<8xi32> {{
      %c = stablehlo.constant dense<1> : tensor<i32>
      %0 = "stablehlo.reduce"(%a, %c) <{{dimensions = array<i64: 0>}}> ({{
        ^bb0(%p: tensor<i32>, %q: tensor<i32>):
          %1 = stablehlo.multiply %p, %q : tensor<i32>
          %2 = stablehlo.add %1, %q : tensor<i32>
          stablehlo.return %2 : tensor<i32>
        }}) : (tensor<8x8xi32>, tensor<i32>) -> tensor<8xi32>
      return %0 : tensor<8xi32>
    }}"""

CASES: dict[str, Case] = {
    "or of rows": Numbers(REDUCTION, reduce_rows("or", 0)),
    "exclusive or of rows": Numbers(REDUCTION, reduce_rows("xor", 0)),
    "neither combines nor selects": Numbers(REDUCTION, SELECTING),
    "initial value of a product": Numbers(
        "an initial value other than zero of a sum", reduce_rows("multiply", 2)
    ),
    "identity of unsigned minimum": Numbers(
        "the identities of `stablehlo.scatter`", scatter_constants("minimum", "ui32", "4294967295")
    ),
    "identity of float minimum": Numbers(
        "the identities of `stablehlo.scatter`", scatter_constants("minimum", "f32", "0x7F800000")
    ),
    "gradient of batch statistics": Numbers(
        STATISTICS,
        on_rows(
            """%s = stablehlo.constant dense<1.0> : tensor<8xf32>
            %r:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %x) <{
              epsilon = 0.001 : f32, feature_index = 1 : i64}>
              : (!t, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, !t)
              -> (!t, tensor<8xf32>, tensor<8xf32>)
            %0 = stablehlo.reshape %r#2 : (tensor<8xf32>) -> tensor<8xf32>""",
            "tensor<8xf32>",
        ),
        "'stablehlo.batch_norm_grad' op inferred type(s)",
    ),
    "dynamic reshape": Numbers(
        SIZES,
        on_rows(
            "%0 = stablehlo.dynamic_reshape %x, %eight : (!t, tensor<2xi64>) -> !t", "!t", "#rows"
        ),
        "output shape [8, 8] is incompatible with return type",
    ),
    "dynamic iota": Numbers(
        SIZES,
        on_rows(
            """%i = stablehlo.dynamic_iota %eight, dim = 0 : (tensor<2xi64>) -> !t
            %0 = stablehlo.add %i, %x : !t""",
            "!t",
            "#rows",
        ),
        "output shape [8, 8] is incompatible with return type",
    ),
    "dynamic gather": Numbers(
        SIZES,
        on_rows(
            """%i = stablehlo.constant dense<[[1], [3]]> : tensor<2x1xi64>
            %n = stablehlo.constant dense<[1, 8]> : tensor<2xi64>
            %0 = "stablehlo.dynamic_gather"(%x, %i, %n) <{
              dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
                start_index_map = [0], index_vector_dim = 1>}>
              : (!t, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x8xf32>""",
            "tensor<2x8xf32>",
        ),
        "should both hold",
    ),
}
