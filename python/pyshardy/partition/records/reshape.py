# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshapes, transposes and broadcasts: each element moves within its shard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, OpShardingRule, mesh_of, place_data_alike
from mlir_sdy.values import get_sharding
from pyshardy.cost.op_work import SizedOperation, Work, moving_work, no_work
from pyshardy.irtools.stablehlo_views import LeadingBroadcastView
from pyshardy.irtools.tensor_types import padded_shape_of, shape_of
from pyshardy.partition.local.arithmetic import fit_only, retype_only
from pyshardy.partition.op_facts.fusion import is_reshape
from pyshardy.partition.op_facts.record import PartitionRecord, signature_of
from pyshardy.partition.partial.linear_operations import first_operand, moving
from pyshardy.partition.types.reshapes import pads_alike
from pyshardy.rules.families.reshape import reshape_factors


def _reshape_rule(operation: ir.Operation, _: OpShardingRule) -> OpShardingRule:
    """Return a rule by which shards hold the same data on both sides, after an exchange.

    Example:
        stablehlo.reshape %a : (tensor<4x9xf32>) -> tensor<6x6xf32>
        // ([ij, ln])->([ik, mn]) {i=2, j=2, k=3, l=3, m=2, n=3}
    """
    return reshape_factors(signature_of(operation))


def fit_broadcast(operation: ir.Operation) -> None:
    """Set the sizes of the added dimensions to those of the result."""
    result = shape_of(operation.results[0].type)
    added = len(result) - len(shape_of(operation.operands[0].type))
    LeadingBroadcastView(operation).broadcast_sizes = result[:added]


def _work_of_transpose(sized: SizedOperation) -> Work:
    return Work() if is_reshape(sized.operation) else moving_work(sized)


_MOVING = PartitionRecord(linearity=moving(0), local_form=retype_only, work=moving_work)
_FOLLOWED = replace(_MOVING, linear_operands=first_operand)


def _reshapes_padding(reshape: ir.Operation, meshes: Mapping[str, Mesh]) -> bool:
    """Whether a reshape is valid between padded types, on each shard by itself.

    1. Shards of operand and result hold the same data, on one mesh.
    2. Their padding corresponds (see `pads_alike`).

    Example: on a mesh `<["x"=4]>`, `(6) -> (3, 2)` with `[{"x"}]` and `[{"x"}, {}]`. Both have
    shards of 2 elements; it becomes `(8) -> (4, 2)`.
    """
    operand, result = reshape.operands[0], reshape.results[0]
    source, target = get_sharding(operand), get_sharding(result)
    mesh = None if source is None else mesh_of(source, meshes)
    if source is None or target is None or mesh is None or mesh.is_maximal:
        return False
    before, after = shape_of(operand.type), shape_of(result.type)
    return place_data_alike(source, before, target, after, mesh) and pads_alike(
        before, padded_shape_of(operand, meshes), after, padded_shape_of(result, meshes)
    )


RECORDS = {
    "stablehlo.bitcast_convert": PartitionRecord(local_form=retype_only, work=no_work),
    "stablehlo.broadcast": replace(
        _MOVING, local_form=fit_only(fit_broadcast), fit_sizes=fit_broadcast
    ),
    "stablehlo.broadcast_in_dim": _FOLLOWED,
    "stablehlo.reshape": replace(
        _FOLLOWED,
        rule_on_shards=_reshape_rule,
        keeps_padding=_reshapes_padding,
        work=no_work,
    ),
    "stablehlo.torch_index_select": PartitionRecord(local_form=retype_only),
    "stablehlo.transpose": replace(_FOLLOWED, work=_work_of_transpose),
}
