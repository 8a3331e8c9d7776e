# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for `sdy.sharding_rule`: the rule fits the operation that carries it."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.attributes import OpShardingRuleAttr
from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule, TensorMapping, factor_name
from mlir_sdy.traversal import global_type
from mlir_sdy.verify.violation import ConstraintViolation


def verify_rule_attribute(
    attribute: ir.Attribute, operand_types: Sequence[ir.Type], result_types: Sequence[ir.Type]
) -> None:
    """Check that an attribute is a sharding rule that fits values of these types (`check_rule`).

    Raises:
        Violation: it isn't.
    """
    if not isinstance(attribute, OpShardingRuleAttr):
        raise ConstraintViolation(
            "should have a sharding rule attribute of type OpShardingRuleAttr for attr named "
            "'sdy.sharding_rule': write '#sdy.op_sharding_rule<...>'"
        )
    check_rule(attribute.value, operand_types, result_types)


def verify_rule(operation: ir.Operation, rule: OpShardingRule) -> None:
    """Check that a sharding rule fits an operation (`check_rule`).

    Raises:
        Violation: it doesn't.
    """
    operand_types = [operand.type for operand in operation.operands]
    check_rule(rule, operand_types, list(operation.results.types))


def check_rule(
    rule: OpShardingRule, operand_types: Sequence[ir.Type], result_types: Sequence[ir.Type]
) -> None:
    """Check that a sharding rule fits operands and results of these types.

    1. There is a mapping for each operand and each result, and at least one of either.
    2. Each mapping fits its value (`_check_mapping`).
    3. Each factor is used.
    4. The lists of special factors are in ascending order, and those of reduction, replication
       and permutation factors have no factor in common.
    5. No result has a reduction factor.

    Factor sizes need not match the sizes of dimensions.

    Raises:
        Violation: the first rule that is broken.
    """
    _check_mappings(rule, rule.operand_mappings, operand_types, "operand")
    _check_mappings(rule, rule.result_mappings, result_types, "result")
    for factor, size in enumerate(rule.factor_sizes):
        if not any(mapping.contains_factor(factor) for mapping in rule.mappings):
            raise ConstraintViolation(
                f"has factor {factor_name(factor)}={size} that isn't used in operand and result "
                "mappings"
            )
    _check_special_factors(rule)
    for factor in rule.reduction_factors:
        if any(mapping.contains_factor(factor) for mapping in rule.result_mappings):
            raise ConstraintViolation(
                f"reduction factor cannot be in result mappings: {factor_name(factor)}, which is "
                "reduced away"
            )


def _check_mappings(
    rule: OpShardingRule, mappings: Sequence[TensorMapping], types: Sequence[ir.Type], what: str
) -> None:
    if len(mappings) != len(types):
        raise ConstraintViolation(
            f"number of {what}s and mappings must match: {len(types)} != {len(mappings)}"
        )
    if not types:
        raise ConstraintViolation(
            f"number of {what}s mappings cannot be 0. Op sharding rules can only be defined on "
            "operations with at least one operand and result."
        )
    for index, (mapping, value_type) in enumerate(zip(mappings, types, strict=True)):
        try:
            _check_mapping(rule, mapping, value_type)
        except ConstraintViolation as violation:
            number = f" {index}" if len(types) > 1 else ""
            raise violation.prefixed(f"{what}{number} - ") from None


def _check_mapping(rule: OpShardingRule, mapping: TensorMapping, value_type: ir.Type) -> None:
    """Check that the mapping of a tensor of static shape has known factors, each used once."""
    shaped = global_type(value_type)
    if not (isinstance(shaped, ir.ShapedType) and shaped.has_static_shape):
        raise ConstraintViolation(
            f"expected a ranked tensor with a static shape. type: '{value_type}'"
        )
    if mapping.rank != shaped.rank:
        raise ConstraintViolation(
            f"mapping rank must match: {mapping.rank} != {shaped.rank}, the rank of {value_type}"
        )
    used: set[int] = set()
    for dim, dim_mapping in enumerate(mapping.dim_mappings):
        factors = dim_mapping.factor_indices
        if not factors:
            raise ConstraintViolation(f"dim mapping must have at least one factor, dim {dim}")
        for factor in factors:
            name = factor_name(factor)
            if factor >= rule.num_factors:
                raise ConstraintViolation(
                    "expecting factor indices to be within 0<=...<num_factors; received: "
                    f"{factor}, num_factors: {rule.num_factors}; factor {name} has no size"
                )
            if factor in used:
                raise ConstraintViolation(
                    f"cannot reuse factors for the same tensor value: {name} in dim {dim}"
                )
            if len(factors) > 1 and rule.factor_sizes[factor] == 1:
                raise ConstraintViolation(
                    "dim mapping can't have a factor of size 1 if there are multiple factors: "
                    f"{name} in dim {dim}"
                )
            used.add(factor)


def _check_special_factors(rule: OpShardingRule) -> None:
    owner: dict[int, str] = {}
    for what, factors in (
        ("reduction", rule.reduction_factors),
        ("need_replication", rule.need_replication_factors),
        ("permutation", rule.permutation_factors),
    ):
        _check_factor_list(rule, factors, what)
        for factor in factors:
            if factor in owner:
                raise ConstraintViolation(
                    "a factor can only be in one of the reduction, need replication, or "
                    f"permutation factor sets: {factor_name(factor)} is in {owner[factor]} and "
                    f"{what}"
                )
            owner[factor] = what
    _check_factor_list(rule, rule.blocked_propagation_factors, "blocked_propagation")


def _check_factor_list(rule: OpShardingRule, factors: Sequence[int], what: str) -> None:
    if list(factors) != sorted(set(factors)):
        names = ", ".join(map(factor_name, factors))
        raise ConstraintViolation(f"indices of special factors must be sorted: {what}={{{names}}}")
    if factors and factors[-1] >= rule.num_factors:
        raise ConstraintViolation(
            f"index must be less than {rule.num_factors}, got: {factors[-1]}; {what} factor "
            f"{factor_name(factors[-1])} has no size"
        )
