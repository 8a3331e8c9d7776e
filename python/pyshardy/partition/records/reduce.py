# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions on shards."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp, TensorSharding
from pyshardy.cost.op_work import SizedOperation, counted_work
from pyshardy.irtools.stablehlo_views import ReduceView
from pyshardy.irtools.tensor_types import element_type_of
from pyshardy.partition.function_context import sharding_of
from pyshardy.partition.local.arithmetic import is_first, neutral, value_where
from pyshardy.partition.local.completing import all_reduce_product, reduce_again
from pyshardy.partition.op_facts.record import (
    Completion,
    Linearity,
    Neutral,
    PartitionRecord,
)
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.partial.linear_operations import has_booleans, is_zero
from pyshardy.partition.partial.reductions import (
    completion_by_body,
    completion_of,
    counts_any_number_of_times,
    is_neutral,
)
from pyshardy.partition.types.local_builder import REDUCTION_OPERATIONS, LocalBuilder
from pyshardy.partition.types.neutral_elements import neutral_element

# --- Partial results ----------------------------------------------------------------------------


def _completion(operation: ir.Operation) -> Completion | None:
    """Return the all-reduce of its body, or the reduction of all partial results by its body."""
    return completion_by_body(operation, completes_selections=True)


def _linearity(operation: ir.Operation, kind: ReductionOp) -> Linearity | None:
    names = combining_operations(operation.regions[0].blocks[0])
    is_alike = names is not None and all(each == REDUCTION_OPERATIONS.get(kind) for each in names)
    return Linearity(tuple(range(len(operation.operands))), together=True) if is_alike else None


def _linear_operands(operation: ir.Operation) -> tuple[int, ...]:
    """Return the operand if it is the only one and its elements are added up from zero."""
    if len(operation.operands) != 2 or _linearity(operation, ReductionOp.SUM) is None:
        return ()
    operand, initial = operation.operands
    return () if has_booleans(operand) or not is_zero(initial) else (0,)


# --- Local form ---------------------------------------------------------------------------------


def _reduces_unsharded_dims(
    operation: ir.Operation, shardings: Sequence[TensorSharding | None]
) -> bool:
    """Whether no reduced dimension is sharded."""
    dims = ReduceView(operation).dimensions
    reduced = shardings[: len(operation.results)]
    return not any(
        sharding.dim_axes[dim] for sharding in reduced if sharding is not None for dim in dims
    )


def convert_reduce(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert a reduction: a device reduces its shard.

    1. The first shard begins with the initial value, the others with a neutral element. If the
       result doesn't depend on how often the initial value is combined, all begin with it.
    2. An all-reduce after the operation completes it. Products are completed here in the same way.
       For all other bodies, the results of all shards are reduced by the same body, in the order of
       the shards.
    3. A shard of one element is combined with its initial value after the reduction: XLA returns
       the element, whatever the initial value.
    """
    count = len(operation.results)
    shardings = [sharding_of(operand) for operand in operation.operands[:count]]
    sharding = next((given for given in shardings if given is not None), None)
    assert sharding is not None, "it is not converted unless one is sharded"
    dims = ReduceView(operation).dimensions
    axes = [axis for dim in dims for axis in sharding.dim_axes[dim]]
    mesh = builder.mesh_of(sharding)
    names = combining_operations(operation.regions[0].blocks[0])
    completion = completion_of(operation)
    if completion is not None and completion.is_local:
        if names is not None and {*names} == {"stablehlo.multiply"}:
            all_reduce_product(operation, axes, mesh, builder)
        else:
            initial_values = _neutral_values(operation, names or (), builder)
            reduce_again(operation, initial_values, axes, mesh, builder)
    for index, name in enumerate(names or ()):
        initial = operation.operands[count + index]
        if not counts_any_number_of_times(initial, name):
            first = is_first(builder, mesh, axes)
            operation.operands[count + index] = value_where(builder, first, initial, name)
    shape = ir.RankedTensorType(operation.operands[0].type).shape
    if all(shape[dim] == 1 for dim in dims):
        _begin_behind(operation, names or (), builder)


def _begin_behind(operation: ir.Operation, names: Sequence[str], builder: LocalBuilder) -> None:
    """Begin with neutral elements, and combine with the initial values after the reduction."""
    for index, name in enumerate(names):
        place = len(operation.results) + index
        initial, result = operation.operands[place], operation.results[index]
        if is_neutral(initial, name) or element_type_of(initial.type) != element_type_of(
            result.type
        ):
            continue
        operation.operands[place] = neutral(builder, name, element_type_of(initial.type))
        with ir.InsertionPoint.after(operation):
            shape = ir.RankedTensorType(result.type).shape
            combined = builder.create(
                name, (builder.broadcast_in_dim(initial, shape), result), (result.type,)
            )
        result.replace_all_uses_except(combined.result, combined)


def _neutral_values(
    operation: ir.Operation, names: Sequence[str], builder: LocalBuilder
) -> list[ir.Value]:
    """Return the initial values, or neutral elements if it matters how often they are combined."""
    initial_values = list(operation.operands)[len(operation.results) :]
    for index, name in enumerate(names):
        if not counts_any_number_of_times(initial_values[index], name):
            element_type = element_type_of(initial_values[index].type)
            initial_values[index] = neutral(builder, name, element_type)
    return initial_values


# --- Padding and work ---------------------------------------------------------------------------


def _padding_values(operation: ir.Operation) -> dict[int, Neutral] | None:
    """Return the initial values if they may be combined any number of times; else the identity."""
    count = len(operation.results)
    names = combining_operations(operation.regions[0].blocks[0])
    values: dict[int, Neutral] = {}
    for index, result in enumerate(operation.results):
        initial = operation.operands[count + index]
        if names is None or counts_any_number_of_times(initial, names[index]):
            values[index] = initial
            continue
        identity = neutral_element(names[index], ir.RankedTensorType(result.type).element_type)
        if identity is None:
            return None
        values[index] = identity
    return values


def _num_operations(sized: SizedOperation) -> int:
    """Return 1 for each element that is combined."""
    return sum(size.elements for size in sized.operands[: len(sized.results)])


# --- Record -------------------------------------------------------------------------------------


RECORDS = {
    "stablehlo.reduce": PartitionRecord(
        completion=_completion,
        linearity=_linearity,
        linear_operands=_linear_operands,
        local_form=convert_reduce,
        is_unchanged_locally=_reduces_unsharded_dims,
        neutral_values=_padding_values,
        work=counted_work(_num_operations),
    )
}
