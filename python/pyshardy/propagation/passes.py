# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes that propagate shardings, and those that handle sharding rules by themselves."""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.host import ir
from pyshardy.propagation.basic import propagate_basic
from pyshardy.propagation.engine import Engine
from pyshardy.propagation.program import Program
from pyshardy.propagation.record import Propagation
from pyshardy.propagation.relation import Relation
from pyshardy.propagation.relations import RelationReader
from pyshardy.propagation.validation import check_types
from pyshardy.propagation.write_back import write_back
from pyshardy.rules import SHARDING_RULE, ShardingRuleLookup


def basic_propagate(
    module: ir.Module,
    *,
    keep_sharding_rules: bool = False,
    conservative_propagation: bool = False,
) -> Propagation:
    """Propagate shardings through a module with the basic strategy.

    Args:
        module: the module, which is changed in place.
        keep_sharding_rules: whether to leave the sharding rules on the operations.
        conservative_propagation: whether to propagate full axes only, and not along the
            dimensions of windows and padding.

    Returns:
        The record of the steps taken.

    Raises:
        PassError: a value has a type that propagation does not support, a rule does not fit its
            operation, or none of several functions is called `main`.
    """
    lookup = ShardingRuleLookup(conservative=conservative_propagation)
    program = Program(module, lookup)
    check_types(program, lookup)
    reader = RelationReader(program, lookup)
    relations = reader.read()
    engine = Engine(program, relations, reader.function_results())
    engine.run(propagate_basic)
    record = Propagation(engine)
    cache = AttributeCache(module.context)
    write_back(engine, cache)
    _keep_or_drop_rules(engine, relations, cache, keep_sharding_rules)
    return record


def populate_op_sharding_rules(
    function: ir.Operation | ir.OpView, *, conservative_propagation: bool = False
) -> None:
    """Give each operation of a function that has no rule the registered one.

    Args:
        function: the function, which is changed in place.
        conservative_propagation: whether rules leave dimensions alone that windows and padding
            move over.

    Raises:
        PassError: a rule does not fit its operation.
    """
    lookup = ShardingRuleLookup(conservative=conservative_propagation)
    cache = AttributeCache(function.context)
    for operation in _operations_in(function):
        if SHARDING_RULE not in operation.attributes:
            rule = lookup.rule(operation)
            if rule is not None:
                operation.attributes[SHARDING_RULE] = cache[rule]


def drop_sharding_rules(function: ir.Operation | ir.OpView) -> None:
    """Remove the sharding rule of each operation of a function, unless a user gave it."""
    for operation in _operations_in(function):
        _drop_rule(operation)


def _operations_in(function: ir.Operation | ir.OpView) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _drop_rule(operation: ir.Operation) -> None:
    attributes = operation.attributes
    if SHARDING_RULE in attributes and not value_of(attributes[SHARDING_RULE]).is_custom_rule:
        del attributes[SHARDING_RULE]


def _keep_or_drop_rules(
    engine: Engine, relations: list[Relation | None], cache: AttributeCache, keep: bool
) -> None:
    for number, operation in engine.live_operations():
        if not keep:
            _drop_rule(operation)
        elif (relation := relations[number]) is not None and relation.is_of_rule:
            operation.attributes[SHARDING_RULE] = cache[relation.kind.rule]
