# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of reductions, windows, sorts and batch normalizations."""

from __future__ import annotations

from pyshardy.irtools.stablehlo_views.fields import (
    DefaultInteger,
    Integer,
    Integers,
    Number,
    OperationView,
    Paddings,
    PerDimension,
)


class ReduceView(OperationView):
    """A `stablehlo.reduce`.

    Attributes:
        dimensions: the reduced dimensions.
    """

    __slots__ = ()

    dimensions = Integers("dimensions")


class WindowsView(OperationView):
    """A `stablehlo.reduce_window` or a `stablehlo.select_and_scatter`, which has no dilations.

    Attributes:
        window_dimensions: the sizes of a window; empty for 1.
        window_strides: the distances of windows; empty for 1.
        base_dilations: the distances of the elements of the operand; empty for 1.
        window_dilations: the distances of the elements of a window; empty for 1.
        padding: the elements before and after each dimension; empty for 0.
    """

    __slots__ = ()

    window_dimensions = PerDimension("window_dimensions")
    window_strides = PerDimension("window_strides")
    base_dilations = PerDimension("base_dilations")
    window_dilations = PerDimension("window_dilations")
    padding = Paddings("padding")


class SortView(OperationView):
    """A `stablehlo.sort`.

    Attributes:
        dimension: the dimension that is sorted; -1, for the last, if the operation lacks it.
    """

    __slots__ = ()

    dimension = DefaultInteger("dimension", -1)


class TopKView(OperationView):
    """A `chlo.top_k`.

    Attributes:
        k: the number of elements that it returns of each row.
    """

    __slots__ = ()

    k = Integer("k")


class BatchNormView(OperationView):
    """A batch normalization of StableHLO.

    Attributes:
        feature_index: the dimension of the features.
        epsilon: the number added to variances.
    """

    __slots__ = ()

    feature_index = Integer("feature_index")
    epsilon = Number("epsilon")
