# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of constants, comparisons, and operations that slice, pad, rearrange or index tensors."""

from __future__ import annotations

from mlir_sdy.host import stablehlo
from pyshardy.irtools.stablehlo_views.fields import (
    Boolean,
    DimensionNumbers,
    EnumCase,
    Integer,
    Integers,
    OperationView,
    OptionalField,
    Raw,
)


class ConstantView(OperationView):
    """A `stablehlo.constant`, `sdy.constant`, or a constant of another dialect."""

    value = Raw("the elements; a `DenseElementsAttr` in StableHLO.")


class CompareView(OperationView):
    """A `stablehlo.compare`."""

    comparison_direction = EnumCase("`EQ`, `NE`, `GE`, `GT`, `LE` or `LT`.")
    compare_type = OptionalField(
        EnumCase(), "`FLOAT`, `TOTALORDER`, `SIGNED` or `UNSIGNED`; may be missing."
    )


class CmpiView(OperationView):
    """An `arith.cmpi`."""

    predicate = Integer("the number of the comparison.")


class SliceView(OperationView):
    """A `stablehlo.slice`, whose attributes have a number for each dimension."""

    start_indices = Integers("the first positions.")
    limit_indices = Integers("the ends, exclusive.")
    strides = Integers("the steps.")


class PadView(OperationView):
    """A `stablehlo.pad`, whose attributes have a number for each dimension."""

    edge_padding_low = Integers(
        "the elements added before a dimension; negative if elements are removed."
    )
    edge_padding_high = Integers("likewise after it.")
    interior_padding = Integers("the elements between two of the operand.")

    @property
    def amounts(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the padding before, after and between the elements of each dimension."""
        return self.edge_padding_low, self.edge_padding_high, self.interior_padding


class DynamicSliceView(OperationView):
    """A `stablehlo.dynamic_slice`."""

    slice_sizes = Integers("the shape of the result.")


class GatherView(OperationView):
    """A `stablehlo.gather` or `stablehlo.dynamic_gather`."""

    dimension_numbers = DimensionNumbers(
        stablehlo.GatherDimensionNumbers, "the roles of the dimensions."
    )
    slice_sizes = Integers(
        "the sizes of a slice, for each dimension of the operand; `dynamic_gather` has an operand "
        "instead."
    )


class ScatterView(OperationView):
    """A `stablehlo.scatter`."""

    scatter_dimension_numbers = DimensionNumbers(
        stablehlo.ScatterDimensionNumbers, "the roles of the dimensions."
    )
    indices_are_sorted = Boolean("whether the indices are known to increase.")


class ConcatenateView(OperationView):
    """A `stablehlo.concatenate`."""

    dimension = Integer("the dimension along which operands are concatenated.")


class DimensionSizeView(OperationView):
    """A `stablehlo.get_dimension_size` or `stablehlo.set_dimension_size`."""

    dimension = Integer("the dimension.")


class IotaView(OperationView):
    """A `stablehlo.iota`."""

    iota_dimension = Integer("the dimension along which numbers increase.")


class BroadcastView(OperationView):
    """A `stablehlo.broadcast_in_dim`."""

    broadcast_dimensions = Integers(
        "the dimension of the result for each dimension of the operand."
    )


class LeadingBroadcastView(OperationView):
    """A `stablehlo.broadcast`."""

    broadcast_sizes = Integers("the sizes of the dimensions that are added in front.")


class TransposeView(OperationView):
    """A `stablehlo.transpose`."""

    permutation = Integers("the dimension of the operand for each dimension of the result.")


class ReverseView(OperationView):
    """A `stablehlo.reverse`."""

    dimensions = Integers("the dimensions whose order is reversed.")
