# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batch normalization on shards, with statistics over all shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, OpShardingRule
from mlir_sdy.uses import replace_by
from pyshardy.irtools.stablehlo_views import BatchNormView
from pyshardy.irtools.tensor_types import element_type_of, shape_of
from pyshardy.partition.function_context import sharding_of
from pyshardy.partition.local.arithmetic import neutral, retype_only
from pyshardy.partition.op_facts.record import PartitionRecord
from pyshardy.partition.padding.replicated import is_everywhere
from pyshardy.partition.types.local_builder import LocalBuilder


def _batch_norm_rule(_: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return a rule by which statistics are computed over all shards of the batch.

    Example:
        "stablehlo.batch_norm_training"(%a, %b, %c) <{epsilon = 0.0 : f32,
            feature_index = 1 : i64}>
            : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
            -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
        // ([i, j], [j], [j])->([i, j], [j], [j]) {i=4, j=6}
    """
    return replace(rule, need_replication_factors=())


def _factors_of_statistics(_: ir.Operation, rule: OpShardingRule) -> Iterator[int]:
    """Yield the factors that some tensors lack, as statistics count the elements along them."""
    yield from (factor for factor in range(rule.num_factors) if not is_everywhere(factor, rule))


class _Features:
    """Computations for each feature of a sharded batch."""

    def __init__(
        self, data: ir.Value, dim: int, axes: Sequence[AxisRef], mesh: Mesh, builder: LocalBuilder
    ):
        self.shape = shape_of(data.type)
        self.dim = dim
        self.axes = axes
        self.mesh = mesh
        self.builder = builder
        rest = [size for at, size in enumerate(self.shape) if at != dim]
        self.count = int(np.prod(rest)) * mesh.axes_size(axes)

    def sum(self, data: ir.Value) -> ir.Value:
        """Build the sum of each feature over all shards."""
        builder = self.builder
        dims = [dim for dim in range(len(self.shape)) if dim != self.dim]
        zero = neutral(builder, "stablehlo.add", element_type_of(data.type))
        added = builder.reduce(data, zero, dims, "stablehlo.add")
        return builder.all_reduce(added, "stablehlo.add", self.axes, self.mesh)

    def mean(self, data: ir.Value) -> ir.Value:
        """Build the mean of each feature over all shards."""
        total = self.sum(data)
        return self.builder.binary("divide", total, self.number(total, self.count))

    def spread(self, vector: ir.Value) -> ir.Value:
        """Broadcast a number for each feature to the shape of the batch."""
        return self.builder.broadcast_in_dim(vector, self.shape, [self.dim])

    def number(self, like: ir.Value, number: float) -> ir.Value:
        """Build a splat constant of the shape of a tensor."""
        tensor = ir.RankedTensorType(like.type)
        literal = ir.DenseElementsAttr.get_splat(
            tensor, ir.FloatAttr.get(tensor.element_type, number)
        )
        return self.builder.literal(literal)


def convert_batch_norm_training(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Compute mean and variance over all shards, and replace training by inference with them."""
    features = _features(operation, builder)
    if features is None:
        return
    data, scale, offset = operation.operands
    wide = _wide(data, builder)
    mean = features.mean(wide)
    centred = builder.binary("subtract", wide, features.spread(mean))
    variance = features.mean(builder.binary("multiply", centred, centred))
    mean, variance = (
        builder.convert(each, element_type_of(scale.type)) for each in (mean, variance)
    )
    kept = (BatchNormView.epsilon.name, BatchNormView.feature_index.name)
    normalised = builder.create(
        "stablehlo.batch_norm_inference",
        (data, scale, offset, mean, variance),
        (operation.results[0].type,),
        {name: each for name, each in operation.attributes.items() if name in kept},
    ).result
    replace_by(operation, *(normalised, mean, variance))


def convert_batch_norm_grad(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Compute the gradient with sums over all shards.

    With d the gradient of the output, c the data minus its mean, n their number, and

        s = sum(d)    t = sum(d c)    v = variance + epsilon

    the gradient of the data is `scale / sqrt(v) / n * (n d - s - c t / v)`, that of the scale is
    `t / sqrt(v)`, and that of the offset is `s`.
    """
    features = _features(operation, builder)
    if features is None:
        return
    data, scale, mean, variance, gradient = (_wide(each, builder) for each in operation.operands)

    def combine(name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return builder.binary(name, lhs, rhs)

    centred = combine("subtract", data, features.spread(mean))
    total = features.sum(gradient)
    weighted = features.sum(combine("multiply", gradient, centred))
    epsilon = features.number(variance, BatchNormView(operation).epsilon)
    variance = combine("add", variance, epsilon)
    deviation = builder.unary("sqrt", variance)
    inner = combine("multiply", gradient, features.number(gradient, features.count))
    inner = combine("subtract", inner, features.spread(total))
    slope = features.spread(combine("divide", weighted, variance))
    inner = combine("subtract", inner, combine("multiply", centred, slope))
    factor = combine("divide", scale, deviation)
    factor = combine("divide", factor, features.number(factor, features.count))
    of_data = combine("multiply", features.spread(factor), inner)
    gradients = (of_data, combine("divide", weighted, deviation), total)
    narrow = [
        builder.convert(value, element_type_of(result.type))
        for value, result in zip(gradients, operation.results, strict=True)
    ]
    replace_by(operation, *narrow)


def _features(operation: ir.Operation, builder: LocalBuilder) -> _Features | None:
    """Return the features of a batch that is sharded along another dimension; else None."""
    data = operation.operands[0]
    feature = BatchNormView(operation).feature_index
    sharding = sharding_of(data)
    if sharding is None:
        return None
    axes = [axis for dim, held in enumerate(sharding.dim_axes) if dim != feature for axis in held]
    if not axes:
        return None
    return _Features(data, feature, axes, builder.mesh_of(sharding), builder)


def _wide(value: ir.Value, builder: LocalBuilder) -> ir.Value:
    """Convert a tensor to a type in which sums of many elements are exact enough."""
    element_type = element_type_of(value.type)
    is_narrow = isinstance(element_type, ir.FloatType) and element_type.width < 32
    return builder.convert(value, ir.F32Type.get()) if is_narrow else value


_WITH_STATISTICS = PartitionRecord(
    rule_on_shards=_batch_norm_rule, unpaddable_factors=_factors_of_statistics
)

RECORDS = {
    "stablehlo.batch_norm_grad": replace(_WITH_STATISTICS, local_form=convert_batch_norm_grad),
    "stablehlo.batch_norm_inference": PartitionRecord(local_form=retype_only),
    "stablehlo.batch_norm_training": replace(
        _WITH_STATISTICS, local_form=convert_batch_norm_training
    ),
}
