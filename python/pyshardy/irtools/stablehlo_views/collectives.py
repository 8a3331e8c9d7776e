# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of collectives and reductions."""

from __future__ import annotations

from mlir_sdy.host import stablehlo
from pyshardy.irtools.stablehlo_views.fields import (
    DefaultInteger,
    DimensionNumbers,
    Integer,
    Integers,
    Number,
    OperationView,
    OptionalField,
    Paddings,
    PerDimension,
    Raw,
    Unit,
)

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
