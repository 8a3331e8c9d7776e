# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of contractions, convolutions, solvers and transforms."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from mlir_sdy.host import stablehlo
from pyshardy.irtools.stablehlo_views.fields import (
    Boolean,
    DimensionNumbers,
    EnumCase,
    EnumCases,
    Integer,
    Integers,
    OperationView,
    Paddings,
    PerDimension,
)

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
        return cls(*(_dims(text, field.name) for field in fields(cls)))

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
