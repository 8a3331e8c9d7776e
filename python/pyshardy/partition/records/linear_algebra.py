# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions and transforms of matrices that are on one device."""

from __future__ import annotations

from dataclasses import replace

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.stablehlo_views import TriangularSolveView
from pyshardy.partition.local.conversions import retype_only
from pyshardy.partition.op_facts.record import PartitionRecord


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
    "stablehlo.cholesky": _BATCHED,
    "stablehlo.fft": _BATCHED,
    "stablehlo.triangular_solve": PartitionRecord(
        rule_on_shards=_triangular_solve_rule, local_form=retype_only
    ),
}
