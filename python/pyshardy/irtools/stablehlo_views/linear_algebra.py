# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of contractions, convolutions, solvers and transforms."""

from __future__ import annotations

from mlir_sdy.host import stablehlo
from pyshardy.irtools.ragged_dot_numbers import RaggedDotNumbers
from pyshardy.irtools.stablehlo_views.fields import (
    DimensionNumbers,
    EnumCase,
    EnumCases,
    Flag,
    Integer,
    Integers,
    OperationView,
    Paddings,
    PerDimension,
)


class ProductView(OperationView):
    """A product of two operands: a contraction or a convolution.

    Attributes:
        precision_config: the precisions of both operands; empty for the default.
    """

    __slots__ = ()

    precision_config = EnumCases("precision_config")


class RaggedDotView(ProductView):
    """A `chlo.ragged_dot`.

    Attributes:
        ragged_dot_dimension_numbers: the roles of the dimensions of both operands.
    """

    __slots__ = ()

    ragged_dot_dimension_numbers = DimensionNumbers(
        "ragged_dot_dimension_numbers", lambda attribute: RaggedDotNumbers.parse(str(attribute))
    )


class DotView(OperationView):
    """A `stablehlo.dot_general`.

    Attributes:
        dot_dimension_numbers: the batching and contracting dimensions of both operands.
    """

    __slots__ = ()

    dot_dimension_numbers = DimensionNumbers("dot_dimension_numbers", stablehlo.DotDimensionNumbers)


class ConvolutionView(OperationView):
    """A `stablehlo.convolution`.

    Attributes:
        dimension_numbers: the roles of the dimensions.
        feature_group_count: the number of groups of features.
        batch_group_count: the number of groups of the batch.
        window_strides: the distances of windows; empty for 1.
        lhs_dilation: the distances of the elements of the operand; empty for 1.
        rhs_dilation: the distances of the elements of the kernel; empty for 1.
        padding: the elements before and after each dimension; empty for 0.
        window_reversal: whether the kernel is reversed along each dimension; empty for no.
    """

    __slots__ = ()

    dimension_numbers = DimensionNumbers("dimension_numbers", stablehlo.ConvDimensionNumbers)
    feature_group_count = Integer("feature_group_count")
    batch_group_count = Integer("batch_group_count")
    window_strides = PerDimension("window_strides")
    lhs_dilation = PerDimension("lhs_dilation")
    rhs_dilation = PerDimension("rhs_dilation")
    padding = Paddings("padding")
    window_reversal = PerDimension("window_reversal")


class TriangularSolveView(OperationView):
    """A `stablehlo.triangular_solve`.

    Attributes:
        left_side: whether the matrix is the left operand of the product that it solves for.
        lower: whether the lower triangle of the matrix is used.
        unit_diagonal: whether the diagonal is taken as ones.
        transpose_a: `NO_TRANSPOSE`, `TRANSPOSE` or `ADJOINT`.
    """

    __slots__ = ()

    left_side = Flag("left_side")
    lower = Flag("lower")
    unit_diagonal = Flag("unit_diagonal")
    transpose_a = EnumCase("transpose_a")


class CholeskyView(OperationView):
    """A `stablehlo.cholesky`.

    Attributes:
        lower: whether the lower triangle is used and returned.
    """

    __slots__ = ()

    lower = Flag("lower")


class FftView(OperationView):
    """A `stablehlo.fft`.

    Attributes:
        fft_type: `FFT`, `IFFT`, `RFFT` or `IRFFT`.
        fft_length: the sizes of the transformed dimensions.
    """

    __slots__ = ()

    fft_type = EnumCase("fft_type")
    fft_length = Integers("fft_length")
