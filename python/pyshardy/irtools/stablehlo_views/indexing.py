# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of operations that slice, pad, rearrange or index tensors."""

from __future__ import annotations

from mlir_sdy.host import stablehlo
from pyshardy.irtools.stablehlo_views.fields import (
    DimensionNumbers,
    Integer,
    Integers,
    OperationView,
)


class SliceView(OperationView):
    """A `stablehlo.slice`, whose attributes have a number for each dimension.

    Attributes:
        start_indices: the first positions.
        limit_indices: the ends, exclusive.
        strides: the steps.
    """

    __slots__ = ()

    start_indices = Integers("start_indices")
    limit_indices = Integers("limit_indices")
    strides = Integers("strides")


class PadView(OperationView):
    """A `stablehlo.pad`, whose attributes have a number for each dimension.

    Attributes:
        edge_padding_low: the elements added before a dimension; negative if elements are removed.
        edge_padding_high: likewise after it.
        interior_padding: the elements between two of the operand.
    """

    __slots__ = ()

    edge_padding_low = Integers("edge_padding_low")
    edge_padding_high = Integers("edge_padding_high")
    interior_padding = Integers("interior_padding")

    @property
    def amounts(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the padding before, after and between the elements of each dimension."""
        return self.edge_padding_low, self.edge_padding_high, self.interior_padding


class DynamicSliceView(OperationView):
    """A `stablehlo.dynamic_slice`.

    Attributes:
        slice_sizes: the shape of the result.
    """

    __slots__ = ()

    slice_sizes = Integers("slice_sizes")


class GatherView(OperationView):
    """A `stablehlo.gather` or `stablehlo.dynamic_gather`.

    Attributes:
        dimension_numbers: the roles of the dimensions.
        slice_sizes: the sizes of a slice, for each dimension of the operand; `dynamic_gather`
            has an operand instead.
    """

    __slots__ = ()

    dimension_numbers = DimensionNumbers("dimension_numbers", stablehlo.GatherDimensionNumbers)
    slice_sizes = Integers("slice_sizes")


class ScatterView(OperationView):
    """A `stablehlo.scatter`.

    Attributes:
        scatter_dimension_numbers: the roles of the dimensions.
    """

    __slots__ = ()

    scatter_dimension_numbers = DimensionNumbers(
        "scatter_dimension_numbers", stablehlo.ScatterDimensionNumbers
    )


class ConcatenateView(OperationView):
    """A `stablehlo.concatenate`.

    Attributes:
        dimension: the dimension along which operands are concatenated.
    """

    __slots__ = ()

    dimension = Integer("dimension")


class DimensionSizeView(OperationView):
    """A `stablehlo.get_dimension_size` or `stablehlo.set_dimension_size`.

    Attributes:
        dimension: the dimension.
    """

    __slots__ = ()

    dimension = Integer("dimension")


class IotaView(OperationView):
    """A `stablehlo.iota`.

    Attributes:
        iota_dimension: the dimension along which numbers increase.
    """

    __slots__ = ()

    iota_dimension = Integer("iota_dimension")


class BroadcastView(OperationView):
    """A `stablehlo.broadcast_in_dim`.

    Attributes:
        broadcast_dimensions: the dimension of the result for each dimension of the operand.
    """

    __slots__ = ()

    broadcast_dimensions = Integers("broadcast_dimensions")


class LeadingBroadcastView(OperationView):
    """A `stablehlo.broadcast`.

    Attributes:
        broadcast_sizes: the sizes of the dimensions that are added in front.
    """

    __slots__ = ()

    broadcast_sizes = Integers("broadcast_sizes")


class TransposeView(OperationView):
    """A `stablehlo.transpose`.

    Attributes:
        permutation: the dimension of the operand for each dimension of the result.
    """

    __slots__ = ()

    permutation = Integers("permutation")


class ReverseView(OperationView):
    """A `stablehlo.reverse`.

    Attributes:
        dimensions: the dimensions whose order is reversed.
    """

    __slots__ = ()

    dimensions = Integers("dimensions")
