# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions."""

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
