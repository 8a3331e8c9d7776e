# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls, which are the same on shards as far as their rules allow it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mlir_sdy.host import ir
from mlir_sdy.model import FactorType, OpShardingRule
from pyshardy.irtools.stablehlo_views import TriangularSolveView, target_of
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.record import PartitionRecord
from pyshardy.partition.partial.reductions import completion_by_sum, factors_of

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


def _factors_of_calls(operation: ir.Operation, rule: OpShardingRule) -> Iterator[int]:
    """Yield pass-through factors of operands or results only, and factors of known calls.

    The former don't relate results to operands. JAX writes such rules for calls of LAPACK.
    """
    yield from _one_sided_factors(rule)
    for dim in _dims_of_calls(operation):
        yield from factors_of(rule, 0, dim)


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


def _dims_of_calls(operation: ir.Operation) -> Iterable[int]:
    """Return the dimensions of the first operand that a call needs unsharded.

    1. Matrices.
    2. Dimensions along which elements move.
    3. Dimensions that are searched.
    """
    target = target_of(operation)
    is_known = target in CHECKED_TARGETS
    if not (is_known or target.startswith("_SPMDInternalOp_")):
        return ()
    shape = _first_shape(operation.operands)
    if target in _CALLS_ON_MATRICES:
        return range(max(len(shape) - 2, 0), len(shape))
    if target in _SEARCHING_CALLS:
        result = _first_shape(operation.results)
        return [dim for dim, size in enumerate(shape) if [size] != result[dim : dim + 1]]
    return range(len(shape))


def _first_shape(values: Sequence[ir.Value]) -> list[int]:
    """Return the shape of the first value; that of a scalar if it isn't a tensor."""
    value_type = values[0].type if values else None
    return list(value_type.shape) if isinstance(value_type, ir.RankedTensorType) else []


# --- Matrices in batches --------------------------------------------------------------------------


def _triangular_solve_rule(operation: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return a rule by which each device solves the systems of its right-hand sides.

    They are the columns of `b` if `a` is on the left side, and its rows otherwise.

    Example:
        "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true,
            unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>
            : (tensor<4x3x3xf32>, tensor<4x3x5xf32>) -> tensor<4x3x5xf32>
        // ([i, j, l], [i, j, k])->([i, l, k]) {i=4, j=3, k=5, l=3} need_replication={j, l}
    """
    dims = rule.operand_mappings[1].dim_mappings
    separate = dims[-1 if TriangularSolveView(operation).left_side else -2].factor_indices
    needed = tuple(each for each in rule.need_replication_factors if each not in separate)
    return replace(rule, need_replication_factors=needed)


_BATCHED = PartitionRecord(local_form=retype_only)


RECORDS = {
    "stablehlo.custom_call": PartitionRecord(
        blocked_factors=_factors_of_calls,
        completion=completion_by_sum,  # along the reduced factors of its rule
        local_form=retype_only,
    ),
    "stablehlo.cholesky": _BATCHED,
    "stablehlo.fft": _BATCHED,
    "stablehlo.triangular_solve": PartitionRecord(
        rule_on_shards=_triangular_solve_rule, local_form=retype_only
    ),
}
