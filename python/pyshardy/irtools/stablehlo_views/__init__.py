# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Typed views of the attributes of StableHLO, CHLO and func operations.

`PadView(operation).edge_padding_low` reads an attribute as a Python value, and an assignment to it
writes the attribute. Only the views, the builder and the dialect look up attributes by their names;
`mlir_sdy.sdy` has such classes for the operations of the dialect, and `mlir_sdy.discardable` has
functions for discardable attributes.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from mlir_sdy.host import ir, stablehlo
from pyshardy.irtools.stablehlo_views.fields import (
    Boolean,
    DefaultInteger,
    Dictionaries,
    DimensionNumbers,
    EnumCase,
    EnumCases,
    FunctionTypeField,
    Integer,
    Integers,
    Number,
    OperationView,
    OptionalField,
    Paddings,
    PerDimension,
    Raw,
    Symbol,
    Symbols,
    Text,
    Unit,
)

# --- Functions, calls, and operations that name functions -----------------------------------------


class FunctionView(OperationView):
    """A `func.func`; `sym_name` also serves other symbols."""

    sym_name = Text("the name, without the `@`.")
    sym_visibility = OptionalField(
        Text(), "`public`, `private` or `nested`; public functions may lack it."
    )
    function_type = FunctionTypeField("the types of the arguments and results.")
    arg_attrs = Dictionaries("a dictionary for each argument; empty if no argument has attributes.")
    res_attrs = Dictionaries("likewise for the results.")


INTERFACE = (FunctionView.arg_attrs, FunctionView.res_attrs)
"""The attributes of functions, and of calls, that describe their arguments and results."""


class CallView(OperationView):
    """A `func.call`."""

    callee = Symbol("the name of the function.")


class CustomCallView(OperationView):
    """A `stablehlo.custom_call`."""

    call_target_name = Text("the target.")
    backend_config = OptionalField(
        Raw(), "the configuration, a string or a dictionary; may be missing."
    )
    api_version = OptionalField(
        Raw(), "the version of the calling convention, an i32 attribute; may be missing."
    )
    has_side_effect = Boolean("whether it has a side effect.")
    called_computations = Symbols("the names of the functions that it calls.")
    output_operand_aliases = OptionalField(
        Raw(), "an array of `OutputOperandAlias`; may be missing."
    )
    operand_layouts = Raw("the orders of the dimensions of operands in memory; may be missing.")
    result_layouts = Raw("likewise for the results.")


class CompositeView(OperationView):
    """A `stablehlo.composite`."""

    decomposition = Symbol("the name of the function that computes it.")


class TupleElementView(OperationView):
    """A `stablehlo.get_tuple_element`."""

    index = Integer("the position of the element, an i32 attribute.")


def symbol_name(symbol: ir.Operation) -> str:
    """Return the name of a function, a mesh or another symbol, without the `@`."""
    return FunctionView(symbol).sym_name


def callee_of(call: ir.Operation) -> str:
    """Return the name of the function that a `func.call` calls."""
    return CallView(call).callee


def function_type_of(function: ir.Operation) -> ir.FunctionType:
    """Return the type of a `func.func`."""
    return FunctionView(function).function_type


def target_of(call: ir.Operation) -> str:
    """Return the target of a `stablehlo.custom_call`."""
    return CustomCallView(call).call_target_name


# --- Collectives and reductions -------------------------------------------------------------------


COLLECTIVES = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "collective_permute",
        "collective_reduce",
        "reduce_scatter",
    )
)
"""The names of the collectives."""


class CollectiveView(OperationView):
    """A collective of StableHLO."""

    replica_groups = Raw(
        "the groups, `tensor<?x?xi64>` or a `ReplicaGroupMeshAxesAttr`; a permute has "
        "`source_target_pairs` instead."
    )
    source_target_pairs = Raw("the pairs of a permute, `tensor<?x2xi64>`.")
    channel_handle = OptionalField(
        DimensionNumbers(stablehlo.ChannelHandle), "the channel; may be missing."
    )
    use_global_device_ids = Unit("whether groups consist of device ids.")
    has_dynamic_root = Unit("whether the last operand is the root of a `collective_reduce`.")


class AllGatherView(CollectiveView):
    """A `stablehlo.all_gather`."""

    all_gather_dim = Integer("the dimension along which shards are concatenated.")


class AllToAllView(CollectiveView):
    """A `stablehlo.all_to_all`."""

    split_dimension = Integer("the dimension that is split.")
    concat_dimension = Integer("the dimension along which received parts are concatenated.")
    split_count = Integer("the number of parts.")


class ReduceScatterView(CollectiveView):
    """A `stablehlo.reduce_scatter`."""

    scatter_dimension = Integer("the dimension that is split between devices.")


# --- Reductions -----------------------------------------------------------------------------------


class ReduceView(OperationView):
    """A `stablehlo.reduce`."""

    dimensions = Integers("the reduced dimensions.")


class WindowsView(OperationView):
    """A `stablehlo.reduce_window` or a `stablehlo.select_and_scatter`, which has no dilations."""

    window_dimensions = PerDimension("the sizes of a window; empty for 1.")
    window_strides = PerDimension("the distances of windows; empty for 1.")
    base_dilations = PerDimension("the distances of the elements of the operand; empty for 1.")
    window_dilations = PerDimension("the distances of the elements of a window; empty for 1.")
    padding = Paddings("the elements before and after each dimension; empty for 0.")


class SortView(OperationView):
    """A `stablehlo.sort`."""

    dimension = DefaultInteger(
        -1, "the dimension that is sorted; -1, for the last, if the operation lacks it."
    )


class TopKView(OperationView):
    """A `chlo.top_k`."""

    k = Integer("the number of elements that it returns of each row.")


class BatchNormView(OperationView):
    """A batch normalization of StableHLO."""

    feature_index = Integer("the dimension of the features.")
    epsilon = Number("the number added to variances.")


# --- Constants, comparisons, and operations that slice, pad, rearrange or index tensors -----------


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


# --- Contractions, convolutions, solvers and transforms -------------------------------------------


_Dims = tuple[int, ...]


class ProductView(OperationView):
    """A product of two operands: a contraction or a convolution."""

    precision_config = EnumCases("the precisions of both operands; empty for the default.")


@dataclass(frozen=True, slots=True)
class RaggedDotNumbers:
    """The roles of the dimensions of both operands.

    Attributes:
        lhs_batching: the batching dimensions of the left operand.
        rhs_batching: those of the right operand.
        lhs_contracting: the contracting dimensions of the left operand.
        rhs_contracting: those of the right operand.
        lhs_ragged: the dimension of the left operand that is cut into groups.
        rhs_group: the dimension of groups of the right operand, unless the cut dimension is
            contracting.
    """

    lhs_batching: _Dims
    rhs_batching: _Dims
    lhs_contracting: _Dims
    rhs_contracting: _Dims
    lhs_ragged: _Dims
    rhs_group: _Dims

    @classmethod
    def parse(cls, text: str) -> RaggedDotNumbers:
        """Read the text of the attribute."""
        return cls(*(_dims(text, field.name) for field in dataclasses.fields(cls)))

    @property
    def is_contracting(self) -> bool:
        """Whether the cut dimension is contracting: the result has a dimension of groups, first."""
        return not set(self.lhs_ragged).isdisjoint(self.lhs_contracting)

    @property
    def is_batching(self) -> bool:
        """Whether the cut dimension is a batching one: the result doesn't depend on the groups."""
        return not set(self.lhs_ragged).isdisjoint(self.lhs_batching)

    def lhs_free(self, rank: int) -> _Dims:
        """Return the dimensions of the left operand that are neither batching nor contracting."""
        used = {*self.lhs_batching, *self.lhs_contracting}
        return tuple(dim for dim in range(rank) if dim not in used)

    def rhs_free(self, rank: int) -> _Dims:
        """Return those of the right operand, without its dimension of groups."""
        used = {*self.rhs_batching, *self.rhs_contracting, *self.rhs_group}
        return tuple(dim for dim in range(rank) if dim not in used)

    def sized_apart(self, rank: int) -> _Dims:
        """Return the dimensions of the left operand along which groups may have sizes of their own.

        If the sizes have several dimensions, their first ones are these, in this order.

        Args:
            rank: the rank of the left operand.
        """
        (ragged,) = self.lhs_ragged
        if self.is_batching:
            outer, cut = (), self.lhs_batching
        else:
            outer = self.lhs_batching
            cut = self.lhs_contracting if self.is_contracting else self.lhs_free(rank)
        return (*outer, *cut[: cut.index(ragged)])

    def rhs_dim(self, lhs_dim: int) -> int | None:
        """Return the dimension of the right operand that is paired with one of the left operand."""
        pairs = zip(
            (*self.lhs_batching, *self.lhs_contracting),
            (*self.rhs_batching, *self.rhs_contracting),
            strict=True,
        )
        return dict(pairs).get(lhs_dim)

    def result_dim(self, lhs_dim: int, rank: int) -> int | None:
        """Return the dimension of the result that a dimension of the left operand becomes.

        Args:
            lhs_dim: the dimension.
            rank: the rank of the left operand.
        """
        kept = (*self.lhs_batching, *self.lhs_free(rank))
        return kept.index(lhs_dim) + self.is_contracting if lhs_dim in kept else None


def _dims(text: str, name: str) -> _Dims:
    found = re.search(rf"{name}_dimensions = \[([\d, ]*)\]", text)
    return tuple(map(int, found[1].split(","))) if found and found[1] else ()


class RaggedDotView(ProductView):
    """A `chlo.ragged_dot`."""

    ragged_dot_dimension_numbers = DimensionNumbers(
        lambda attribute: RaggedDotNumbers.parse(str(attribute)),
        "the roles of the dimensions of both operands.",
    )


class DotView(OperationView):
    """A `stablehlo.dot_general`."""

    dot_dimension_numbers = DimensionNumbers(
        stablehlo.DotDimensionNumbers, "the batching and contracting dimensions of both operands."
    )


class ConvolutionView(OperationView):
    """A `stablehlo.convolution`."""

    dimension_numbers = DimensionNumbers(
        stablehlo.ConvDimensionNumbers, "the roles of the dimensions."
    )
    feature_group_count = Integer("the number of groups of features.")
    batch_group_count = Integer("the number of groups of the batch.")
    window_strides = PerDimension("the distances of windows; empty for 1.")
    lhs_dilation = PerDimension("the distances of the elements of the operand; empty for 1.")
    rhs_dilation = PerDimension("the distances of the elements of the kernel; empty for 1.")
    padding = Paddings("the elements before and after each dimension; empty for 0.")
    window_reversal = PerDimension(
        "whether the kernel is reversed along each dimension; empty for no."
    )


class TriangularSolveView(OperationView):
    """A `stablehlo.triangular_solve`."""

    left_side = Boolean("whether the matrix is the left operand of the product that it solves for.")
    lower = Boolean("whether the lower triangle of the matrix is used.")
    unit_diagonal = Boolean("whether the diagonal is taken as ones.")
    transpose_a = EnumCase("`NO_TRANSPOSE`, `TRANSPOSE` or `ADJOINT`.")


class CholeskyView(OperationView):
    """A `stablehlo.cholesky`."""

    lower = Boolean("whether the lower triangle is used and returned.")


class FftView(OperationView):
    """A `stablehlo.fft`."""

    fft_type = EnumCase("`FFT`, `IFFT`, `RFFT` or `IRFFT`.")
    fft_length = Integers("the sizes of the transformed dimensions.")
