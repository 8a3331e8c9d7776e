# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batch normalisation in sums and products."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.element_types import is_narrow
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor
from pyshardy.irtools.stablehlo_views import BatchNormView


@dataclass(frozen=True)
class _Batch:
    """Data with a feature dimension, in an element type that is precise enough for sums."""

    data: Tensor
    feature: int
    epsilon: float

    @property
    def count(self) -> int:
        """The number of elements of each feature."""
        return math.prod(self.data.shape) // self.data.shape[self.feature]

    def sum(self, data: Tensor) -> Tensor:
        """The sum of each feature."""
        return data.sum([dim for dim in range(data.rank) if dim != self.feature])

    def mean(self, data: Tensor) -> Tensor:
        """The mean of each feature."""
        return self.sum(data) / self.count

    def spread(self, vector: Tensor) -> Tensor:
        """A vector with an element for each feature, broadcast to the shape of the data."""
        return vector.broadcast_in_dim(self.data.shape, [self.feature])

    def normalised(self, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        """`scale (data - mean) / sqrt(variance + epsilon) + offset`."""
        centred = self.data - self.spread(mean)
        factor = scale / (variance + self.epsilon).sqrt()
        return centred * self.spread(factor) + self.spread(offset)


@decomposition("batch_norm_inference")
def decompose_inference(operation: ir.Operation) -> list[Tensor]:
    """Normalise by the mean and the variance in the operands."""
    batch, vectors = _batch(operation)
    return _rounded(operation, [batch.normalised(*vectors)])


@decomposition("batch_norm_training")
def decompose_training(operation: ir.Operation) -> list[Tensor]:
    """Normalise by the mean and the variance of the batch, which are results as well."""
    batch, (scale, offset) = _batch(operation)
    mean = batch.mean(batch.data)
    centred = batch.data - batch.spread(mean)
    variance = batch.mean(centred * centred)
    result = batch.normalised(scale, offset, mean, variance)
    return _rounded(operation, [result, mean, variance])


@decomposition("batch_norm_grad")
def decompose_grad(operation: ir.Operation) -> list[Tensor]:
    """The gradients of the data, the scale and the offset.

    With d the gradient of the output, c the data minus its mean, n the count of a feature, and

        s = sum(d)    t = sum(d c)    v = variance + epsilon

    they are `scale / sqrt(v) / n * (n d - s - c t / v)`, `t / sqrt(v)` and `s`.
    """
    batch, (scale, mean, variance, gradient) = _batch(operation)
    centred = batch.data - batch.spread(mean)
    total, weighted = batch.sum(gradient), batch.sum(gradient * centred)
    variance = variance + batch.epsilon
    deviation = variance.sqrt()
    inner = gradient * batch.count - batch.spread(total)
    inner = inner - centred * batch.spread(weighted / variance)
    of_data = inner * batch.spread(scale / deviation / batch.count)
    return _rounded(operation, [of_data, weighted / deviation, total])


def _batch(operation: ir.Operation) -> tuple[_Batch, list[Tensor]]:
    """The batch, and the other operands."""
    data, *others = (_wide(Tensor(operand)) for operand in operation.operands)
    view = BatchNormView(operation)
    return _Batch(data, view.feature_index, view.epsilon), others


def _wide(tensor: Tensor) -> Tensor:
    return tensor.to(ir.F32Type.get()) if is_narrow(tensor) else tensor


def _rounded(operation: ir.Operation, tensors: list[Tensor]) -> list[Tensor]:
    """Tensors of the types of the results."""
    return [
        tensor.to(Tensor(result).element)
        for tensor, result in zip(tensors, operation.results, strict=True)
    ]
