# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`chlo.top_k` on shards."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.partition.local.arithmetic import binary, broadcast, convert, element_type_of
from pyshardy.partition.local.builder import LocalBuilder, axes_of
from pyshardy.partition.local.registry import converts
from pyshardy.partition.op_facts.sharding_cache import sharding_of


@converts("chlo.top_k")
def convert_top_k(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert the selection of the k greatest elements, and of their indices.

    1. A device selects the k greatest of its shard.
    2. Those of all shards are gathered in order, so that the order of equal elements is kept.
    3. The k greatest of these are selected.
    """
    operand = operation.operands[0]
    last = ir.RankedTensorType(operand.type).rank - 1
    sharding = sharding_of(operand)
    axes = axes_of(sharding, last)
    if sharding is None or not axes:
        return
    mesh = builder.mesh_of(sharding)
    size = ir.RankedTensorType(operand.type).shape[last]
    wanted: int = operation.attributes["k"].value
    values, indices = _top_k(operand, min(wanted, size), builder)
    index_type = element_type_of(indices)
    offset = convert(builder, builder.offset(mesh, axes, size), index_type)
    shape = ir.RankedTensorType(indices.type).shape
    indices = binary(builder, "add", indices, broadcast(builder, offset, shape))
    values, indices = (builder.all_gather(each, last, axes, mesh) for each in (values, indices))
    greatest, places = _top_k(values, wanted, builder)
    found = _taken(indices, places, builder)
    for result, new in zip(operation.results, (greatest, found), strict=True):
        result.replace_all_uses_with(new)
    operation.erase()


def _top_k(value: ir.Value, count: int, builder: LocalBuilder) -> tuple[ir.Value, ir.Value]:
    tensor = ir.RankedTensorType(value.type)
    shape = [*tensor.shape[:-1], count]
    integer = ir.IntegerType.get_signless(32)
    types = [ir.RankedTensorType.get(shape, each) for each in (tensor.element_type, integer)]
    attributes = {"k": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), count)}
    found = builder.create("chlo.top_k", (value,), types, attributes)
    return found.results[0], found.results[1]


def _taken(value: ir.Value, places: ir.Value, builder: LocalBuilder) -> ir.Value:
    """Build a gather of elements of the last dimension at some positions."""
    tensor = ir.RankedTensorType(places.type)
    last = tensor.rank - 1
    batch = list(range(last))
    numbers = ir.Attribute.parse(
        f"#stablehlo.gather<collapsed_slice_dims = [{last}], operand_batching_dims = {batch}, "
        f"start_indices_batching_dims = {batch}, start_index_map = [{last}], "
        f"index_vector_dim = {tensor.rank}>"
    )
    return builder.create(
        "stablehlo.gather",
        (value, places),
        (ir.RankedTensorType.get(list(tensor.shape), element_type_of(value)),),
        {
            "dimension_numbers": numbers,
            "slice_sizes": ir.DenseI64ArrayAttr.get([1] * tensor.rank),
            "indices_are_sorted": ir.BoolAttr.get(False),
        },
    ).result
