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
    """A collective of StableHLO.

    Attributes:
        replica_groups: the groups, `tensor<?x?xi64>` or a `ReplicaGroupMeshAxesAttr`; a
            permute has `source_target_pairs` instead.
        source_target_pairs: the pairs of a permute, `tensor<?x2xi64>`.
        channel_handle: the channel; may be missing.
        use_global_device_ids: whether groups consist of device ids.
        has_dynamic_root: whether the last operand is the root of a `collective_reduce`.
    """

    __slots__ = ()

    replica_groups = Raw("replica_groups")
    source_target_pairs = Raw("source_target_pairs")
    channel_handle = OptionalField(DimensionNumbers("channel_handle", stablehlo.ChannelHandle))
    use_global_device_ids = Unit("use_global_device_ids")
    has_dynamic_root = Unit("has_dynamic_root")


class AllGatherView(CollectiveView):
    """A `stablehlo.all_gather`.

    Attributes:
        all_gather_dim: the dimension along which shards are concatenated.
    """

    __slots__ = ()

    all_gather_dim = Integer("all_gather_dim")


class AllToAllView(CollectiveView):
    """A `stablehlo.all_to_all`.

    Attributes:
        split_dimension: the dimension that is split.
        concat_dimension: the dimension along which received parts are concatenated.
        split_count: the number of parts.
    """

    __slots__ = ()

    split_dimension = Integer("split_dimension")
    concat_dimension = Integer("concat_dimension")
    split_count = Integer("split_count")


class ReduceScatterView(CollectiveView):
    """A `stablehlo.reduce_scatter`.

    Attributes:
        scatter_dimension: the dimension that is split between devices.
    """

    __slots__ = ()

    scatter_dimension = Integer("scatter_dimension")


# --- Reductions -----------------------------------------------------------------------------------


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
