# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of reductions, windows, sorts and batch normalizations."""

from __future__ import annotations

from pyshardy.irtools.stablehlo_views.fields import (
    DefaultInteger,
    Integer,
    Integers,
    Number,
    OperationView,
    OptionalField,
    Raw,
)


class ReduceView(OperationView):
    """A `stablehlo.reduce`.

    Attributes:
        dimensions: the reduced dimensions.
    """

    __slots__ = ()

    dimensions = Integers("dimensions")


class ReduceWindowView(OperationView):
    """A `stablehlo.reduce_window`.

    Attributes:
        window_dimensions: the sizes of a window.
        window_strides: the distances of windows; may be missing, for 1.
        base_dilations: the distances of the elements of the operand; may be missing, for 1.
        window_dilations: the distances of the elements of a window; may be missing, for 1.
        padding: the elements before and after each dimension, `tensor<?x2xi64>`; may be missing.
    """

    __slots__ = ()

    window_dimensions = Integers("window_dimensions")
    window_strides = OptionalField(Integers("window_strides"))
    base_dilations = OptionalField(Integers("base_dilations"))
    window_dilations = OptionalField(Integers("window_dilations"))
    padding = OptionalField(Raw("padding"))


class SelectAndScatterView(OperationView):
    """A `stablehlo.select_and_scatter`.

    Attributes:
        window_dimensions: the sizes of a window; may be missing, for 1.
        window_strides: the distances of windows; may be missing, for 1.
        padding: the elements before and after each dimension, `tensor<?x2xi64>`; may be missing.
    """

    __slots__ = ()

    window_dimensions = OptionalField(Integers("window_dimensions"))
    window_strides = OptionalField(Integers("window_strides"))
    padding = OptionalField(Raw("padding"))


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
