# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants and iota, which each device computes for its shard."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh
from mlir_sdy.values import get_sharding
from pyshardy.cost.op_work import moving_work, no_work
from pyshardy.irtools.constants import filled, is_one_value
from pyshardy.irtools.stablehlo_views import ConstantView, IotaView
from pyshardy.partition.op_facts.record import PartitionRecord
from pyshardy.partition.types.local_builder import LocalBuilder


def convert_constant(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert a constant: a shard of a splat is a smaller constant, any other one a slice."""
    literal = ConstantView(operation).value
    result = operation.results[0]
    local_type = ir.RankedTensorType(result.type)
    # The elements of a quantized constant are its storage integers.
    stored = ir.RankedTensorType(literal.type)
    if local_type.shape == stored.shape:
        value = literal
    elif isinstance(literal, ir.DenseElementsAttr) and literal.is_splat:
        stored_locally = ir.RankedTensorType.get(local_type.shape, stored.element_type)
        value = filled(stored_locally, literal.get_splat_value())
    else:
        sharding = get_sharding(result)
        assert sharding is not None, "only the type of a sharded value is another one locally"
        type_ = ir.RankedTensorType.get(stored.shape, local_type.element_type)
        full = builder.literal(literal, type_)
        mesh = builder.mesh_of(sharding)
        result.replace_all_uses_with(builder.slice_shard(full, mesh, sharding.dim_axes))
        operation.erase()
        return
    result.replace_all_uses_with(builder.literal(value, local_type))
    operation.erase()


def _is_splat(operation: ir.Operation, _: Mapping[str, Mesh]) -> bool:
    """Whether all elements are equal."""
    return is_one_value(operation)


def fit_splat(operation: ir.Operation) -> None:
    """Set the shape of a splat to that of the result."""
    view, result_type = ConstantView(operation), operation.results[0].type
    view.value = filled(result_type, view.value.get_splat_value())


def convert_iota(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert an iota: along a sharded dimension, shards begin at the offset of the device."""
    result = operation.results[0]
    sharding = get_sharding(result)
    dim = IotaView(operation).iota_dimension
    if sharding is None or not sharding.dim_shardings[dim].axes:
        return
    mesh = builder.mesh_of(sharding)
    local_type = ir.RankedTensorType(result.type)
    axes = sharding.dim_shardings[dim].axes
    offset = builder.offset(mesh, axes, local_type.shape[dim])
    offset = builder.convert(offset, local_type.element_type)
    spread = builder.broadcast_in_dim(offset, local_type.shape)
    moved = builder.binary("add", builder.iota(local_type, dim), spread)
    result.replace_all_uses_with(moved)
    operation.erase()


def _is_paddable(_: ir.Operation, __: Mapping[str, Mesh]) -> bool:
    """Whether padding continues the sequence, as it always does."""
    return True


_CONSTANT = PartitionRecord(
    local_form=convert_constant,
    creates_any_shard=True,
    fit_sizes=fit_splat,
    keeps_padding=_is_splat,
    work=no_work,
)

RECORDS = {
    "sdy.constant": _CONSTANT,
    "stablehlo.constant": _CONSTANT,
    "stablehlo.iota": PartitionRecord(
        local_form=convert_iota,
        creates_any_shard=True,
        keeps_padding=_is_paddable,
        work=moving_work,
    ),
}
