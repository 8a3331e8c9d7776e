# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors along which devices can't compute an operation on their shards alone.

1. Factors that need replication, and those that need elements of other shards. If the operation
   has a form with an exchange (see `halo`), that has replaced it before.
2. Factors that are reduced, if partial results can't be completed (see `reductions`).
3. For some operations also pass-through factors: a generator of random bits generates the same
   ones for each shard.
4. Pass-through factors of custom calls that are in operands only, or in results only: they don't
   relate results to operands. JAX writes such rules for calls of LAPACK.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mlir_sdy.host import ir, stablehlo
from mlir_sdy.model import FactorType, OpShardingRule
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.op_facts.reductions import completion_of
from pyshardy.partition.op_facts.scatter_windows import single_element_dims

Place = tuple[int, int]
"""A dimension: the position of its tensor, operands first, and its index."""

PlacesFunction = Callable[[ir.Operation], Iterator[Place]]

_PLACES: dict[str, PlacesFunction] = {}

_CUSTOM_CALL = "stablehlo.custom_call"
_RNG = "stablehlo.rng_bit_generator"


def blocked_factors(operation: ir.Operation, rule: OpShardingRule) -> frozenset[int]:
    """Return the factors that must not be sharded for the operation to be computed on shards.

    Args:
        operation: the operation.
        rule: its rule.
    """
    blocked = {*rule.need_replication_factors, *rule.permutation_factors}
    blocked |= uncompletable_factors(operation, rule)
    if operation.name == _CUSTOM_CALL:
        blocked |= _one_sided_factors(rule)
    places = _PLACES.get(operation.name)
    if places is not None:
        for tensor, dim in places(operation):
            blocked.update(rule.mappings[tensor].dim_mappings[dim].factor_indices)
    return frozenset(blocked)


def _one_sided_factors(rule: OpShardingRule) -> frozenset[int]:
    """Return the pass-through factors that are in operands only, or in results only."""
    sides = [
        {
            factor
            for mapping in mappings
            for dim_mapping in mapping.dim_mappings
            for factor in dim_mapping.factor_indices
        }
        for mappings in (rule.operand_mappings, rule.result_mappings)
    ]
    return frozenset(
        factor
        for factor in sides[0] ^ sides[1]
        if rule.factor_type(factor) is FactorType.PASS_THROUGH and rule.factor_sizes[factor] > 1
    )


def uncompletable_factors(operation: ir.Operation, rule: OpShardingRule) -> frozenset[int]:
    """Return the reduced factors of an operation if its partial results can't be completed."""
    if not rule.reduction_factors or completion_of(operation) is not None:
        return frozenset()
    return frozenset(rule.reduction_factors)


def _blocks(name: str) -> Callable[[PlacesFunction], PlacesFunction]:
    """Register a function that yields the dimensions whose factors are blocked."""

    def register(function: PlacesFunction) -> PlacesFunction:
        _PLACES[name] = function
        return function

    return register


@_blocks("stablehlo.pad")
def _padded_dims(operation: ir.Operation) -> Iterator[Place]:
    """Yield dimensions with any padding, positive or negative."""
    attributes = operation.attributes
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    for dim, amounts in enumerate(zip(*(attributes[name] for name in names), strict=True)):
        if any(amounts):
            yield 0, dim


@_blocks("stablehlo.dynamic_update_slice")
def _dims_of_smaller_updates(operation: ir.Operation) -> Iterator[Place]:
    """Yield dimensions of the update that are smaller than those of the operand.

    The full update may go to one shard of the operand.
    """
    operand, update = (ir.RankedTensorType(operation.operands[at].type) for at in (0, 1))
    for dim, (size, part) in enumerate(zip(operand.shape, update.shape, strict=True)):
        if size != part:
            yield 1, dim


@_blocks("stablehlo.scatter")
def _indexed_window_dims(operation: ir.Operation) -> Iterator[Place]:
    """Yield window dimensions of more than one element that have indices.

    Windows that extend beyond the end are skipped; a gather moves them back instead.
    """
    numbers: Any = stablehlo.ScatterDimensionNumbers(
        operation.attributes["scatter_dimension_numbers"]
    )
    indexed = {*numbers.scattered_dims_to_operand_dims} - {*numbers.inserted_window_dims}
    for dim in indexed - single_element_dims(operation).keys():
        yield 0, dim


@_blocks("stablehlo.convolution")
def _spatial_dims(operation: ir.Operation) -> Iterator[Place]:
    """Yield spatial dimensions: windows overlap several shards."""
    numbers: Any = stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    for tensor, dims in (
        (0, numbers.input_spatial_dimensions),
        (1, numbers.kernel_spatial_dimensions),
        (2, numbers.output_spatial_dimensions),
    ):
        for dim in dims:
            yield tensor, dim


@_blocks("stablehlo.reduce_window")
def _dilated_dims(operation: ir.Operation) -> Iterator[Place]:
    """Yield dimensions with holes between elements."""
    attributes = operation.attributes
    if "base_dilations" in attributes:
        for dim, dilation in enumerate(attributes["base_dilations"]):
            if dilation != 1:
                yield 0, dim


UNSAFE_RNG = "sdy.rng_bit_generator_unsafe"
"""The attribute of a `stablehlo.rng_bit_generator` whose bits may depend on the sharding."""


def allow_unsafe_rng(root: ir.Module) -> None:
    """Let each shard of a `stablehlo.rng_bit_generator` generate its own bits."""
    for operation in operations_named({_RNG}, root):
        operation.attributes[UNSAFE_RNG] = ir.UnitAttr.get(operation.context)


@_blocks(_RNG)
def _random_dims(operation: ir.Operation) -> Iterator[Place]:
    """Yield the dimensions of the bits, unless each shard may generate its own bits.

    Devices have the same state: each would generate the bits of the first shard.
    """
    if UNSAFE_RNG in operation.attributes:
        return
    for dim in range(ir.RankedTensorType(operation.results[1].type).rank):
        yield 2, dim


@_blocks(_CUSTOM_CALL)
def _dims_of_calls(operation: ir.Operation) -> Iterator[Place]:
    """Yield the dimensions that a custom call needs unsharded although its rule lets them pass.

    1. Matrices.
    2. Dimensions along which elements move.
    3. Dimensions that are searched.
    """
    target = operation.attributes["call_target_name"].value
    is_known = target in CHECKED_TARGETS
    if not (is_known or target.startswith("_SPMDInternalOp_")):
        return
    shape = _first_shape(operation.operands)
    if target in _CALLS_ON_MATRICES:
        yield from ((0, dim) for dim in range(max(len(shape) - 2, 0), len(shape)))
    elif target in _SEARCHING_CALLS:
        result = _first_shape(operation.results)
        yield from ((0, dim) for dim, size in enumerate(shape) if [size] != result[dim : dim + 1])
    else:
        yield from ((0, dim) for dim in range(len(shape)))


def _first_shape(values: Sequence[ir.Value]) -> list[int]:
    """Return the shape of the first value; that of a scalar if it isn't a tensor."""
    value_type = values[0].type if values else None
    return list(value_type.shape) if isinstance(value_type, ir.RankedTensorType) else []


_CALLS_ON_MATRICES = frozenset(
    {
        "Cholesky",
        "CompactWyHelper",
        "Eigh",
        "InvertDiagBlocksLowerTriangular",
        "InvertDiagBlocksUpperTriangular",
    }
)
_SEARCHING_CALLS = frozenset({"ApproxTopK", "PartialReduce"})

CHECKED_TARGETS = _CALLS_ON_MATRICES | _SEARCHING_CALLS
"""Targets of calls that need unsharded dimensions although their rules let them pass."""
