# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, other operations that move a window over a tensor, and reductions."""

from __future__ import annotations

from mlir_sdy.host import stablehlo
from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, PERMUTATION, REDUCTION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature

_READS = ("dimension_numbers", "batch_group_count", "feature_group_count")


class _Convolution:
    """The factors of a convolution: input, kernel -> output."""

    def __init__(self, op: OperationSignature):
        self.numbers = op.dimension_numbers(stablehlo.ConvDimensionNumbers)
        self.builder = RuleBuilder(op)
        self._input, self._kernel = op.operand_shape(0), op.operand_shape(1)
        self._output = op.result_shape()
        self._batch_groups = op.integer("batch_group_count")
        self._feature_groups = op.integer("feature_group_count")

    def add_batch(self) -> None:
        """Add the factors of the batch: groups, each with its own kernels, and the rest."""
        numbers = self.numbers
        if self._batch_groups > 1:
            self.builder.factor(
                self._batch_groups,
                (numbers.input_batch_dimension, numbers.kernel_output_feature_dimension),
                (numbers.output_feature_dimension,),
            )
        self.builder.factor(
            self._output[numbers.output_batch_dimension],
            (numbers.input_batch_dimension,),
            (numbers.output_batch_dimension,),
        )

    def add_features(self) -> None:
        """Add the factors of features: groups, contracted input features and output features."""
        numbers = self.numbers
        if self._feature_groups > 1:
            self.builder.factor(
                self._feature_groups,
                (numbers.input_feature_dimension, numbers.kernel_output_feature_dimension),
                (numbers.output_feature_dimension,),
            )
        self.builder.factor(
            self._kernel[numbers.kernel_input_feature_dimension],
            (numbers.input_feature_dimension, numbers.kernel_input_feature_dimension),
            kind=REDUCTION,
        )
        features = self._output[numbers.output_feature_dimension]
        rest = features // (self._batch_groups * self._feature_groups)
        if rest > 1:
            self.builder.factor(
                rest,
                (None, numbers.kernel_output_feature_dimension),
                (numbers.output_feature_dimension,),
            )

    def add_spatial(self) -> None:
        """Add the factors of a spatial dimension: windows of the output and elements of a window.

        1. The larger of the two is major; the other one gets the rest of the input dimension.
        2. Shards of windows exchange elements; elements of a window are contracted.
        3. If there is no rest, the dimension of the output or of the kernel has a permutation
           factor of its own.
        """
        for input_dim, kernel_dim, output_dim in self._spatial_dims():
            windows, window = self._output[output_dim], self._kernel[kernel_dim]
            left = self._input[input_dim]
            for of_windows in (True, False) if windows >= window else (False, True):
                wanted = windows if of_windows else window
                size = min(left, wanted)
                if size > 1:
                    left //= size
                    if of_windows:
                        self.builder.factor(size, (input_dim,), (output_dim,), PERMUTATION)
                    else:
                        self.builder.factor(size, (input_dim, kernel_dim), kind=REDUCTION)
                elif wanted > 1:
                    if of_windows:
                        self.builder.factor(wanted, (), (output_dim,), PERMUTATION)
                    else:
                        self.builder.factor(wanted, (None, kernel_dim), kind=PERMUTATION)

    def add_whole_spatial(self) -> None:
        """Add need-replication factors for the spatial dimensions of operands and result."""
        for input_dim, kernel_dim, output_dim in self._spatial_dims():
            builder, kind = self.builder, NEED_REPLICATION
            builder.factor(self._input[input_dim], (input_dim,), kind=kind)
            builder.factor(self._kernel[kernel_dim], (None, kernel_dim), kind=kind)
            builder.factor(self._output[output_dim], (), (output_dim,), kind)

    def _spatial_dims(self) -> list[tuple[int, int, int]]:
        numbers = self.numbers
        return list(
            zip(
                numbers.input_spatial_dimensions,
                numbers.kernel_spatial_dimensions,
                numbers.output_spatial_dimensions,
                strict=True,
            )
        )


@sharding_rule("stablehlo.convolution", reads=_READS)
def convolution_rule(op: OperationSignature) -> OpShardingRule:
    """Batch and features with their groups, and, unless conservative, windows.

    Example:
        stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
            window = {stride = [2, 3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<3x5x20x22xf32>, tensor<6x5x4x4xf32>) -> tensor<3x6x9x7xf32>
        // ([i, n, jk, lm], [o, n, k, m])->([i, o, j, l])
        //     {i=3, j=9, k=2, l=7, m=3, n=5, o=6} reduction={k, m, n} permutation={j, l}
        // conservative: ([i, j, l, m], [k, j, n, o])->([i, k, p, q])
        //     {i=3, j=5, k=6, l=1, m=1, n=1, o=1, p=1, q=1} reduction={j}
    """
    convolution = _Convolution(op)
    convolution.add_batch()
    if not op.conservative:
        convolution.add_spatial()
    convolution.add_features()
    return convolution.builder.build()


@sharding_rule("stablehlo.dynamic_conv", reads=_READS, beyond_shardy=True)
def dynamic_convolution_rule(op: OperationSignature) -> OpShardingRule:
    """Same rule as for the static operation, but spatial dimensions need replication.

    Example:
        "stablehlo.dynamic_conv"(%a, %b, %c) <{batch_group_count = 1 : i64,
            feature_group_count = 1 : i64,
            dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<2x8x3xf32>, tensor<3x3x5xf32>, tensor<1x2xi32>) -> tensor<2x6x5xf32>
        // ([i, l, j], [m, j, k], [o, p])->([i, n, k]) {i=2, j=3, k=5, l=8, m=3, n=6, o=1, p=2}
        //     reduction={j} need_replication={l, m, n, o, p}
    """
    convolution = _Convolution(op)
    convolution.add_batch()
    convolution.add_features()
    convolution.add_whole_spatial()
    return convolution.builder.replicated_operands(2).build()


_WINDOW = ("window_dimensions", "window_strides", "padding")


@sharding_rule("stablehlo.reduce_window", reads=_WINDOW)
def reduce_window_rule(op: OperationSignature) -> OpShardingRule:
    """Windows extend into neighboring shards along the dimensions that they move over.

    Example:
        "stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 1, 3>,
            padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %0 = stablehlo.maximum %x, %y : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
        // ([i, j], [])->([i, j]) {i=4, j=6} permutation={j}
        // conservative: ([i, j], [])->([i, j]) {i=4, j=6} permutation={j} blocked_propagation={j}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        if _is_untouched(op, dim):
            builder.point_factor(dim, size)
        else:
            builder.point_factor(dim, size, PERMUTATION, blocked=op.conservative)
    return builder.build()


@sharding_rule("stablehlo.select_and_scatter", reads=_WINDOW)
def select_and_scatter_rule(op: OperationSignature) -> OpShardingRule:
    """A source element is scattered to one position in its window of the operand.

    Example:
        "stablehlo.select_and_scatter"(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>,
            window_strides = array<i64: 1, 2>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %0 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %0 : tensor<i1>
        }, {
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %0 = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
        // ([i, k], [i, j], [])->([i, k]) {i=4, j=3, k=6} need_replication={j} permutation={k}
    """
    blocked = op.conservative
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        if _is_untouched(op, dim):
            builder.point_factor(dim, size)
        else:
            source_size = op.operand_shape(1)[dim]
            builder.factor(source_size, (None, dim), kind=NEED_REPLICATION, blocked=blocked)
            builder.factor(size, (dim,), (dim,), PERMUTATION, blocked=blocked)
    return builder.build()


def _is_untouched(op: OperationSignature, dim: int) -> bool:
    """Whether windows are single elements along a dimension: size and stride 1, no padding."""
    padding = op.integers("padding")[2 * dim : 2 * dim + 2]
    sizes = op.integers("window_dimensions")[dim : dim + 1]
    strides = op.integers("window_strides")[dim : dim + 1]
    return not any(padding) and all(number == 1 for number in (*sizes, *strides))


# --- Reductions over dimensions -------------------------------------------------------------------


@sharding_rule("stablehlo.reduce", reads=("dimensions",))
def reduce_rule(op: OperationSignature) -> OpShardingRule:
    """Inputs and results share the dimensions that are not reduced; initial values are scalars.

    Example:
        stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1]
            : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x8xf32>
        // ([i, j, k], [])->([i, k]) {i=4, j=6, k=8} reduction={j}
    """
    reduced = op.integers("dimensions")
    num_inputs = len(op.results)
    builder = RuleBuilder(op)
    result_dim = 0
    for dim, size in enumerate(op.operand_shape()):
        if dim in reduced:
            builder.factor(size, (dim,) * num_inputs, kind=REDUCTION)
        else:
            builder.factor(size, (dim,) * num_inputs, (result_dim,) * num_inputs)
            result_dim += 1
    return builder.build()
