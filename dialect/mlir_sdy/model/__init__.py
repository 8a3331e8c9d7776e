# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Axes, meshes, shardings and sharding rules as plain frozen values.

Nothing here knows MLIR: a value has the parameters of the attribute of the same name, and its
`str` is the attribute's body text.
"""

from mlir_sdy.model.all_to_all import AllToAllParam, AllToAllParamList
from mlir_sdy.model.axes import AxisRef, AxisRefList, ListOfAxisRefLists, SubAxisInfo
from mlir_sdy.model.edges import (
    AxisToPropagationDetails,
    EdgeValueRef,
    PropagationEdges,
    PropagationOneStep,
)
from mlir_sdy.model.enums import EdgeNodeType, FactorType, PropagationDirection, ReductionOp
from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.manual_axes import ManualAxes
from mlir_sdy.model.mesh import Mesh, MeshAxis
from mlir_sdy.model.rule import DimMapping, OpShardingRule, TensorMapping, factor_name
from mlir_sdy.model.sharding import DimensionSharding, TensorSharding, TensorShardingPerValue

__all__ = [
    "AllToAllParam",
    "AllToAllParamList",
    "AxisRef",
    "AxisRefList",
    "AxisToPropagationDetails",
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
    "PropagationDirection",
    "PropagationEdges",
    "PropagationOneStep",
    "ReductionOp",
    "SubAxisInfo",
    "TensorMapping",
    "TensorSharding",
    "TensorShardingPerValue",
    "factor_name",
]
