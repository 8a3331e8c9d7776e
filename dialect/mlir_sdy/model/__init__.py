# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Axes, meshes, shardings and sharding rules as plain frozen values, with their algebra.

This package does not depend on MLIR. Each value has the parameters of the attribute of the same
name, in the same order, and its `str` is the attribute's body text. Values are immutable and
hashable, and compare by their fields. Sizes of sub-axes depend on the mesh, which is then an
argument.

| module                | contents                                                             |
|-----------------------|----------------------------------------------------------------------|
| `enums`               | directions, kinds of reductions, of edge ends and of factors         |
| `axes`                | references to axes and sub-axes: containment, overlap, order         |
| `mesh`                | the mesh: its checks, kinds, sizes and devices                       |
| `axis_lists`          | lists of refs: merge, cut, subtract                                  |
| `axis_prefix`         | whether a list is a prefix of another, which may end within a ref    |
| `sharding`            | shardings of dimensions and tensors: queries, builders, shapes       |
| `equivalence`         | equivalence of shardings; the common mesh of several shardings       |
| `mesh_change`         | conversion of shardings to another mesh of the same devices          |
| `manual_axes`         | shardings inside and outside of a manual computation                 |
| `reshape_equivalence` | whether a tensor and its reshape have their data on the same devices |
| `devices`             | coordinates of devices along axes, shard indices, replica groups     |
| `placement`           | the slice of a tensor that each device holds                         |
| `rule`                | sharding rules and the names of factors                              |
| `collectives`         | the axes of a collective's result, and the moves of an all-to-all    |
| `edges`               | the record of propagation steps                                      |
| `errors`              | the exception of this package                                        |
| `hashing`             | values with a cached hash                                            |
| `text`                | the MLIR text of the values of this package                          |
| `value_list`          | values that consist of a list                                        |

Invalid values and arguments raise `ModelError`.
"""

from mlir_sdy.model.axes import AxisRef, AxisRefList, ListOfAxisRefLists, SubAxisInfo
from mlir_sdy.model.axis_lists import (
    AxisTuple,
    add_or_merge,
    common_prefix,
    dividing_axes,
    first_overlapping,
    intersection,
    lists_overlap,
    ordered_refs,
    prefix_without_overlap,
    set_difference,
    sort_and_merge,
    truncate_by_removing_overlaps,
)
from mlir_sdy.model.axis_prefix import (
    PrefixStatus,
    axis_list_key,
    expanded_size,
    is_strict_prefix,
    prefix_status,
)
from mlir_sdy.model.collectives import AllToAllParam, AllToAllParamList
from mlir_sdy.model.devices import (
    coordinates,
    device_position,
    replica_groups,
    shard_index,
    shard_indices,
)
from mlir_sdy.model.edges import (
    AxisToPropagationDetails,
    EdgeValueRef,
    PropagationEdges,
    PropagationOneStep,
)
from mlir_sdy.model.enums import EdgeNodeType, FactorType, PropagationDirection, ReductionOp
from mlir_sdy.model.equivalence import (
    are_equivalent,
    are_equivalent_if_given,
    common_mesh,
    complete_shardings,
    mesh_of,
)
from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.manual_axes import (
    ManualAxes,
    add_free_axes,
    count_manual_axes,
    erase_free_axes,
    erase_manual_axes,
)
from mlir_sdy.model.mesh import Mesh, MeshAxis
from mlir_sdy.model.placement import device_slices
from mlir_sdy.model.reshape_equivalence import place_data_alike
from mlir_sdy.model.rule import (
    DimMapping,
    OpShardingRule,
    TensorMapping,
    factor_indices,
    factor_name,
)
from mlir_sdy.model.sharding import DimensionSharding, Shape, TensorSharding, TensorShardingPerValue

__all__ = [
    "AllToAllParam",
    "AllToAllParamList",
    "AxisRef",
    "AxisRefList",
    "AxisToPropagationDetails",
    "AxisTuple",
    "DimMapping",
    "DimensionSharding",
    "EdgeNodeType",
    "EdgeValueRef",
    "FactorType",
    "ListOfAxisRefLists",
    "ManualAxes",
    "Mesh",
    "MeshAxis",
    "ModelError",
    "OpShardingRule",
    "PrefixStatus",
    "PropagationDirection",
    "PropagationEdges",
    "PropagationOneStep",
    "ReductionOp",
    "Shape",
    "SubAxisInfo",
    "TensorMapping",
    "TensorSharding",
    "TensorShardingPerValue",
    "add_free_axes",
    "add_or_merge",
    "are_equivalent",
    "are_equivalent_if_given",
    "axis_list_key",
    "common_mesh",
    "common_prefix",
    "complete_shardings",
    "coordinates",
    "count_manual_axes",
    "device_position",
    "device_slices",
    "dividing_axes",
    "erase_free_axes",
    "erase_manual_axes",
    "expanded_size",
    "factor_indices",
    "factor_name",
    "first_overlapping",
    "intersection",
    "is_strict_prefix",
    "lists_overlap",
    "mesh_of",
    "ordered_refs",
    "place_data_alike",
    "prefix_status",
    "prefix_without_overlap",
    "replica_groups",
    "set_difference",
    "shard_index",
    "shard_indices",
    "sort_and_merge",
    "truncate_by_removing_overlaps",
]
