# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for partitioning of operations whose local forms allow more than their sharding rules.

Sharding rules determine propagation, and are those of Shardy. If the local form of an operation
can be sharded along a dimension that must be replicated by its sharding rule, the partitioner uses
the rules here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.partition.op_facts.scatter_windows import single_element_dims
from pyshardy.rules.builder import NEED_REPLICATION, REDUCTION, RuleBuilder
from pyshardy.rules.families.reshape import reshape_factors
from pyshardy.rules.signature import OperationSignature, TensorType


def rule_on_shards(operation: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return the rule by which an operation is partitioned: its sharding rule, or a wider one."""
    function = SHARD_RULES.get(operation.name)
    if function is None or rule.is_custom_rule:
        return rule
    return function(operation, rule)


RuleFunction = Callable[[ir.Operation, OpShardingRule], OpShardingRule]

SHARD_RULES: dict[str, RuleFunction] = {}
"""The functions that build the rules of local forms from sharding rules, by operation name."""


def _rule_of(*names: str) -> Callable[[RuleFunction], RuleFunction]:
    """Register the rule of the local form of operations."""

    def register(function: RuleFunction) -> RuleFunction:
        SHARD_RULES.update(dict.fromkeys(names, function))
        return function

    return register


@_rule_of("stablehlo.dynamic_slice")
def _dynamic_slice_rule(operation: ir.Operation, _: OpShardingRule) -> OpShardingRule:
    """Return a rule by which devices take the elements of a slice in their shards, and add up.

    Example:
        stablehlo.dynamic_slice %a, %b, %c, sizes = [4, 2]
            : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
        // ([i, j], [], [])->([i, k]) {i=4, j=6, k=2} reduction={j} need_replication={k}
    """
    sizes, lengths = (
        tuple(ir.RankedTensorType(value.type).shape)
        for value in (operation.operands[0], operation.results[0])
    )
    builder = RuleBuilder(_signature(operation))
    for dim, (size, length) in enumerate(zip(sizes, lengths, strict=True)):
        if size == length:
            builder.factor(size, (dim,), (dim,))
        else:
            builder.factor(size, (dim,), kind=REDUCTION)
            builder.factor(length, (), (dim,), NEED_REPLICATION)
    return builder.build()


@_rule_of("stablehlo.dynamic_update_slice")
def _dynamic_update_slice_rule(operation: ir.Operation, _: OpShardingRule) -> OpShardingRule:
    """Return a rule by which each device writes the elements of the update in its shard.

    Example:
        stablehlo.dynamic_update_slice %a, %b, %c, %d
            : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
        // ([i, j], [i, k], [], [])->([i, j]) {i=4, j=6, k=2} need_replication={k}
    """
    sizes, update_sizes = (
        tuple(ir.RankedTensorType(value.type).shape) for value in list(operation.operands)[:2]
    )
    builder = RuleBuilder(_signature(operation))
    for dim, (size, update_size) in enumerate(zip(sizes, update_sizes, strict=True)):
        if size == update_size:
            builder.point_factor(dim, size)
        else:
            builder.factor(size, (dim,), (dim,))
            builder.factor(update_size, (None, dim), kind=NEED_REPLICATION)
    return builder.build()


@_rule_of("stablehlo.reshape")
def _reshape_rule(operation: ir.Operation, _: OpShardingRule) -> OpShardingRule:
    """Return a rule by which shards hold the same data on both sides, after an exchange.

    Example:
        stablehlo.reshape %a : (tensor<4x9xf32>) -> tensor<6x6xf32>
        // ([ij, ln])->([ik, mn]) {i=2, j=2, k=3, l=3, m=2, n=3}
    """
    return reshape_factors(_signature(operation))


@_rule_of("stablehlo.scatter")
def _scatter_rule(operation: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return a rule by which each device applies the updates of single elements in its shard.

    Example:
        "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<
            update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          stablehlo.return %y : tensor<f32>
        }) : (tensor<8x4xf32>, tensor<1xi32>, tensor<1x4xf32>) -> tensor<8x4xf32>
        // ([i, k], [l], [j, k])->([i, k]) {i=8, j=1, k=4, l=1} need_replication={j, l}
    """
    dims = rule.operand_mappings[0].dim_mappings
    single = {
        factor for dim in single_element_dims(operation) for factor in dims[dim].factor_indices
    }
    needed = tuple(each for each in rule.need_replication_factors if each not in single)
    return replace(rule, need_replication_factors=needed)


@_rule_of("stablehlo.triangular_solve")
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
    separate = dims[-1 if operation.attributes["left_side"].value else -2].factor_indices
    needed = tuple(each for each in rule.need_replication_factors if each not in separate)
    return replace(rule, need_replication_factors=needed)


@_rule_of("chlo.top_k")
def _top_k_rule(operation: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return a rule by which devices select the greatest elements of their shards, if few.

    Example:
        chlo.top_k(%a, k = 2) : tensor<4x64xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
        // ([i, j])->([i, k], [i, k]) {i=4, j=64, k=2} reduction={j} need_replication={k}
    """
    *batch, size = ir.RankedTensorType(operation.operands[0].type).shape
    count: int = operation.attributes["k"].value
    if _FEW * count > size:
        return rule
    last = len(batch)
    builder = RuleBuilder(_signature(operation)).pointwise(batch)
    builder.factor(size, (last,), kind=REDUCTION)
    return builder.factor(count, (), (last, last), NEED_REPLICATION).build()


_FEW = 16
"""The minimum ratio of the elements of the dimension and k. Each device sends k elements."""


@_rule_of("stablehlo.batch_norm_training", "stablehlo.batch_norm_grad")
def _batch_norm_rule(_: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return a rule by which statistics are computed over all shards of the batch.

    Example:
        "stablehlo.batch_norm_training"(%a, %b, %c) <{epsilon = 0.0 : f32,
            feature_index = 1 : i64}>
            : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
            -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
        // ([i, j], [j], [j])->([i, j], [j], [j]) {i=4, j=6}
    """
    return replace(rule, need_replication_factors=())


def _signature(operation: ir.Operation) -> OperationSignature:
    operands, results = (
        tuple(TensorType.of(value.type) for value in values)
        for values in (operation.operands, operation.results)
    )
    return OperationSignature(operation.name, operands, results, operation)
