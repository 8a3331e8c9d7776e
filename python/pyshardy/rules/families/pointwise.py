# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations whose tensors all have the dimensions of the result; and random numbers."""

from __future__ import annotations

import re

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, RuleBuilder, pointwise
from pyshardy.rules.registry import CUSTOM_CALL, sharding_rule
from pyshardy.rules.signature import OperationSignature

POINTWISE_OPERATIONS = (
    "sdy.sharding_constraint",
    *(
        f"stablehlo.{name}"
        for name in """
            abs add all_reduce and atan2 cbrt ceil collective_broadcast collective_permute compare
            complex convert cosine count_leading_zeros cross-replica-sum divide exponential
            exponential_minus_one floor imag is_finite log log_plus_one logistic maximum minimum
            multiply negate not or popcnt power real reduce_precision remainder round_nearest_afz
            round_nearest_even rsqrt shift_left shift_right_arithmetic shift_right_logical sign
            sine sqrt subtract tan tanh xor
        """.split()  # noqa: SIM905 (a list would be taller than the screen)
    ),
)
"""Operations with one factor for each dimension, shared by all operands and results."""

POINTWISE_BEYOND_SHARDY = (
    "stablehlo.collective_reduce",
    "stablehlo.map",
    *(
        f"chlo.{name}"
        for name in """
            _asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e conj constant_like cosh
            digamma erf erf_inv erfc is_inf is_neg_inf is_pos_inf lgamma mulhi next_after polygamma
            sinh square tan zeta
        """.split()  # noqa: SIM905
    ),
)
"""Point-wise operations for which C++ Shardy has no rule."""

POINTWISE_CUSTOM_CALLS = (
    "annotate_device_placement",
    "Cholesky",
    "CompactWyHelper",
    "InspectSharding",
    "InvertDiagBlocksLowerTriangular",
    "InvertDiagBlocksUpperTriangular",
    "LayoutConstraint",
    "mhlo.erf",
    "MoveToDevice",
    "MoveToHost",
    "X64SplitHigh",
    "X64SplitLow",
    "xla.megascale.provide_metadata",
    "_SPMDInternalOp_MultiPad",
    "_SPMDInternalOp_MultiRotate",
    "_SPMDInternalOp_MultiSlice",
    "_SPMDInternalOp_RotateRight",
    "_SPMDInternalOp_Wrap",
)
"""Targets of point-wise custom calls."""


@sharding_rule(*POINTWISE_OPERATIONS, reads=())
@sharding_rule(*POINTWISE_BEYOND_SHARDY, reads=(), beyond_shardy=True)
def pointwise_rule(op: OperationSignature) -> OpShardingRule | None:
    """A factor for each dimension of the first result.

    Example:
        stablehlo.add %a, %b : tensor<4x6xf32>
        // ([i, j], [i, j])->([i, j]) {i=4, j=6}
        chlo.erf_inv %a : tensor<4x6xf32> -> tensor<4x6xf32>
        // ([i, j])->([i, j]) {i=4, j=6}
    """
    return pointwise(op)


for _target in POINTWISE_CUSTOM_CALLS:
    sharding_rule(CUSTOM_CALL, target=_target, reads=(), if_fits=True)(pointwise_rule)


@sharding_rule("stablehlo.clamp", reads=())
def clamp_rule(op: OperationSignature) -> OpShardingRule:
    """The bounds may be scalars.

    Example:
        stablehlo.clamp %a, %b, %c : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
        // ([], [i, j], [])->([i, j]) {i=4, j=6}
    """
    return RuleBuilder(op).pointwise(op.operand_shape(1)).build()


@sharding_rule("stablehlo.select", reads=())
def select_rule(op: OperationSignature) -> OpShardingRule:
    """The predicate may be a scalar.

    Example:
        "stablehlo.select"(%a, %b, %c)
            : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
        // ([], [i, j], [i, j])->([i, j]) {i=4, j=6}
    """
    return RuleBuilder(op).pointwise(op.result_shape()).build()


# --- Conversions of elements ----------------------------------------------------------------------


@sharding_rule("stablehlo.bitcast_convert", reads=())
def bitcast_convert_rule(op: OperationSignature) -> OpShardingRule:
    """Conversions between element sizes have an extra last dimension of smaller elements.

    Example:
        stablehlo.bitcast_convert %a : (tensor<4x6xf32>) -> tensor<4x6x2xf16>
        // ([i, j])->([i, j, k]) {i=4, j=6, k=2} need_replication={k}
    """
    operand, result = op.operand_shape(), op.result_shape()
    builder = RuleBuilder(op).pointwise(min(result, operand, key=len))
    if len(result) > len(operand):
        builder.factor(result[-1], (), (len(result) - 1,), NEED_REPLICATION)
    elif len(operand) > len(result):
        builder.factor(operand[-1], (len(operand) - 1,), kind=NEED_REPLICATION)
    return builder.build()


_QUANTIZED_DIMS = re.compile(r"!quant\.uniform<[^:<>]*:[^:,<>{]+:(\{[^{}]*\}|\d+)")


@sharding_rule(
    "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize", reads=(), beyond_shardy=True
)
def quantization_rule(op: OperationSignature) -> OpShardingRule:
    """Point-wise; a dimension with a scale for each of its elements needs replication.

    The element type contains all scales, so the type of a shard would differ between devices.

    Example:
        stablehlo.uniform_quantize %a
            : (tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i8:f32:1, {0.1,0.2}>>
        // ([i, j])->([i, j]) {i=4, j=2} need_replication={j}
    """
    quantized = {dim for tensor in op.tensors if tensor for dim in _quantized(tensor.element_type)}
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.point_factor(dim, size, NEED_REPLICATION if dim in quantized else PASS_THROUGH)
    return builder.build()


def _quantized(element_type: str) -> list[int]:
    """Return the dimensions with several scales: `i8:f32:1` or, in blocks, `i8:f32:{0:2, 1:4}`.

    A single scale follows a comma: `i8:f32, 0.1`.
    """
    found = _QUANTIZED_DIMS.match(element_type)
    if found is None:
        return []
    if found[1].isdigit():
        return [int(found[1])]
    return [int(dim) for dim in re.findall(r"(\d+)\s*:", found[1])]


# --- Random numbers -------------------------------------------------------------------------------


@sharding_rule("stablehlo.rng_bit_generator", reads=())
def rng_bit_generator_rule(op: OperationSignature) -> OpShardingRule:
    """The state needs replication; the output shares no factors with it.

    Example:
        stablehlo.rng_bit_generator %a, algorithm = THREE_FRY
            : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui32>)
        // ([i])->([i], [j, k]) {i=2, j=4, k=6} need_replication={i} blocked_propagation={i}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.operand_shape()):
        builder.factor(size, (dim,), (dim,), NEED_REPLICATION, blocked=True)
    for dim, size in enumerate(op.result_shape(1)):
        builder.factor(size, (), (None, dim))
    return builder.build()


@sharding_rule("stablehlo.rng", reads=(), beyond_shardy=True)
def rng_rule(op: OperationSignature) -> OpShardingRule:
    """Numbers are independent; all devices need the shape.

    Example:
        stablehlo.rng %a, %b, %c, distribution = UNIFORM
            : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
        // ([], [], [k])->([i, j]) {i=4, j=6, k=2} need_replication={k}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.factor(size, (), (dim,))
    return builder.replicated_operands(2).build()
