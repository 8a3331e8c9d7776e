# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, and the k greatest elements."""

from __future__ import annotations

import math

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from mlir_sdy.uses import replace_by
from pyshardy.cost.op_work import SizedOperation, counted_work
from pyshardy.irtools.stablehlo_builder import i64_attribute
from pyshardy.irtools.stablehlo_views import SortView, TopKView
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape
from pyshardy.partition.function_context import sharding_of
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.record import Neutral, PartitionRecord, signature_of
from pyshardy.partition.partial.reductions import completion_by_itself
from pyshardy.partition.types.local_builder import LocalBuilder, axes_of
from pyshardy.partition.types.neutral_elements import neutral_element
from pyshardy.rules.builder import NEED_REPLICATION, REDUCTION, RuleBuilder

_FEW = 16
"""The minimum ratio of the elements of the dimension and k. Each device sends k elements."""


def _top_k_rule(operation: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return a rule by which devices select the greatest elements of their shards, if few.

    Example:
        chlo.top_k(%a, k = 2) : tensor<4x64xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
        // ([i, j])->([i, k], [i, k]) {i=4, j=64, k=2} reduction={j} need_replication={k}
    """
    *batch, size = ir.RankedTensorType(operation.operands[0].type).shape
    count = TopKView(operation).k
    if _FEW * count > size:
        return rule
    last = len(batch)
    builder = RuleBuilder(signature_of(operation)).pointwise(batch)
    builder.factor(size, (last,), kind=REDUCTION)
    return builder.factor(count, (), (last, last), NEED_REPLICATION).build()


def convert_top_k(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert a selection: of the k greatest elements of each shard, the k greatest are taken.

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
    wanted = TopKView(operation).k
    values, indices = _top_k(operand, min(wanted, size), builder)
    index_type = element_type_of(indices.type)
    offset = builder.convert(builder.offset(mesh, axes, size), index_type)
    shape = ir.RankedTensorType(indices.type).shape
    indices = builder.binary("add", indices, builder.broadcast_in_dim(offset, shape))
    values, indices = (builder.all_gather(each, last, axes, mesh) for each in (values, indices))
    greatest, places = _top_k(values, wanted, builder)
    found = _taken(indices, places, builder)
    replace_by(operation, *(greatest, found))


def _top_k(value: ir.Value, count: int, builder: LocalBuilder) -> tuple[ir.Value, ir.Value]:
    tensor = ir.RankedTensorType(value.type)
    shape = [*tensor.shape[:-1], count]
    integer = ir.IntegerType.get_signless(32)
    types = [ir.RankedTensorType.get(shape, each) for each in (tensor.element_type, integer)]
    attributes = {TopKView.k.name: i64_attribute(count)}
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
    return builder.gather(
        value, places, numbers, [1] * tensor.rank, tensor.shape, indices_are_sorted=False
    )


def _least_number(operation: ir.Operation) -> dict[int, Neutral] | None:
    """Return the least element: of equal ones the first are selected, and padding is last.

    NaN with a sign is less than minus infinity; the one with all bits is the least. IREE takes all
    NaN of bf16 to be the greatest.
    """
    element = element_type_of(operation.results[0].type)
    if isinstance(element, ir.FloatType) and not isinstance(element, ir.BF16Type):
        scalar = with_shape(operation.results[0].type, ())
        text = f"dense<0x{2**element.width - 1:X}> : {scalar}"
        return {0: ir.DenseElementsAttr(ir.Attribute.parse(text, element.context))}
    least = neutral_element("stablehlo.maximum", element)
    return None if least is None else {0: least}


def _num_operations_of_sort(sized: SizedOperation) -> int:
    """Return n log n for each sorted dimension of n elements."""
    shape = shape_of(sized.operation.operands[0].type)
    dim = SortView(sized.operation).dimension
    length = max(shape[dim], 2) if shape else 2
    return int(sum(size.elements for size in sized.operands) * math.log2(length))


RECORDS = {
    "chlo.top_k": PartitionRecord(
        rule_on_shards=_top_k_rule,
        completion=completion_by_itself,
        local_form=convert_top_k,
        neutral_values=_least_number,
    ),
    "stablehlo.sort": PartitionRecord(
        local_form=retype_only, work=counted_work(_num_operations_of_sort)
    ),
}
