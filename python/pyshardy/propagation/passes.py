# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes that propagate shardings.

They differ in how far they go up in the hierarchy

    user priorities  >  operation priorities  >  a list of strategies  >  runs of the driver

where each layer calls the one below once or more.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from pyshardy.pipeline.save_module import save_module
from pyshardy.propagation.aggressive import propagate_aggressive
from pyshardy.propagation.basic import propagate_basic
from pyshardy.propagation.engine import Engine, Run
from pyshardy.propagation.groups import synchronize_groups
from pyshardy.propagation.op_priority import NUM_PRIORITIES
from pyshardy.propagation.program import Program
from pyshardy.propagation.record import Propagation
from pyshardy.propagation.relation import ALL_PRIORITIES, Strategy
from pyshardy.propagation.relations import RelationReader
from pyshardy.propagation.rule_attributes import drop_rules, keep_rules
from pyshardy.propagation.user_priority import run_by_user_priority
from pyshardy.propagation.validation import check_types
from pyshardy.propagation.write_back import write_back
from pyshardy.rules import ShardingRuleLookup

STRATEGIES: dict[str, tuple[Strategy, ...]] = {
    "aggressive": (propagate_aggressive,),
    "basic": (propagate_basic,),
    "basic-then-aggressive": (propagate_basic, propagate_aggressive),
}
"""The strategies that each choice of `propagation-strategy` runs, one after the other."""


@dataclass(frozen=True, slots=True)
class PropagationOptions:
    """What the passes have in common.

    Attributes:
        keep_sharding_rules: whether to leave the sharding rules on the operations.
        module_dump_directory: where to save the module between user priorities; not if empty.
        module_dump_index: the number of the first file saved.
        conservative_propagation: whether to propagate full axes only, and not along the
            dimensions of windows and padding.
        debug_sharding_origins: whether to note for each axis which of the user's shardings it
            comes from, in `sdy.sharding_origins`.
        debug_propagation_edge_sharding: whether to note for each axis through which operand or
            result it came, in `sdy.propagation_edges`.
        compatible: whether to do exactly as C++ Shardy does where that is wrong or silent.
    """

    keep_sharding_rules: bool = False
    module_dump_directory: str = ""
    module_dump_index: int = 0
    conservative_propagation: bool = False
    debug_sharding_origins: bool = False
    debug_propagation_edge_sharding: bool = False
    compatible: bool = False


def basic_propagate(module: ir.Module, **options: bool | int | str) -> Propagation:
    """Propagate shardings through a module with the basic strategy, which takes no side.

    Args:
        module: the module, which is changed in place.
        options: the fields of `PropagationOptions`.

    Returns:
        The record of the steps taken.

    Raises:
        PassError: a value has a type that propagation does not support, a rule does not fit its
            operation, or none of several functions is called `main`.
    """
    return _propagate(module, STRATEGIES["basic"], options, by_operation=False, by_user=False)


def aggressive_propagate(
    module: ir.Module, *, propagation_strategy: str = "aggressive", **options: bool | int | str
) -> Propagation:
    """Propagate shardings through a module, deciding conflicts.

    Args:
        module: the module, which is changed in place.
        propagation_strategy: one of `STRATEGIES`.
        options: the fields of `PropagationOptions`.

    Returns:
        The record of the steps taken.

    Raises:
        PassError: as for `basic_propagate`.
    """
    strategies = STRATEGIES[propagation_strategy]
    return _propagate(module, strategies, options, by_operation=False, by_user=False)


def op_priority_propagate(
    module: ir.Module,
    *,
    propagation_strategy: str = "aggressive",
    run_op_priority_propagation: bool = True,
    **options: bool | int | str,
) -> Propagation:
    """Propagate shardings through a module, pass-through operations first.

    Args:
        module: the module, which is changed in place.
        propagation_strategy: one of `STRATEGIES`.
        run_op_priority_propagation: whether operations have priorities at all.
        options: the fields of `PropagationOptions`.

    Returns:
        The record of the steps taken.

    Raises:
        PassError: as for `basic_propagate`.
    """
    strategies, by_operation = STRATEGIES[propagation_strategy], run_op_priority_propagation
    return _propagate(module, strategies, options, by_operation=by_operation, by_user=False)


def user_priority_propagate(
    module: ir.Module,
    *,
    propagation_strategy: str = "aggressive",
    run_op_priority_propagation: bool = True,
    **options: bool | int | str,
) -> Propagation:
    """Propagate shardings through a module by the priorities that the user gave dimensions.

    Args:
        module: the module, which is changed in place.
        propagation_strategy: one of `STRATEGIES`.
        run_op_priority_propagation: whether operations have priorities as well.
        options: the fields of `PropagationOptions`.

    Returns:
        The record of the steps taken.

    Raises:
        PassError: as for `basic_propagate`.
    """
    strategies, by_operation = STRATEGIES[propagation_strategy], run_op_priority_propagation
    return _propagate(module, strategies, options, by_operation=by_operation, by_user=True)


def _propagate(
    module: ir.Module,
    strategies: Sequence[Strategy],
    keywords: dict[str, Any],
    *,
    by_operation: bool,
    by_user: bool,
) -> Propagation:
    options = replace(PropagationOptions(), **keywords)
    engine = _engine(module, options)
    cache = AttributeCache(module.context)

    def run(user_priority: int = 0) -> None:
        for priority in range(0 if by_operation else ALL_PRIORITIES, NUM_PRIORITIES):
            for strategy in strategies:
                engine.run(Run(strategy, priority, user_priority))

    def write() -> None:
        write_back(engine, cache)
        if options.keep_sharding_rules:
            keep_rules(engine.live_operations(), engine.relations, cache)

    if by_user:
        run_by_user_priority(engine, run, _dump_before(module, write, options))
    else:
        run()
    record = Propagation(engine)
    write()
    if not options.keep_sharding_rules:
        drop_rules(operation for _, operation in engine.live_operations())
    return record


def _engine(module: ir.Module, options: PropagationOptions) -> Engine:
    lookup = ShardingRuleLookup(
        conservative=options.conservative_propagation, compatible=options.compatible
    )
    program = Program(module, lookup)
    check_types(program, lookup)
    if program.groups and synchronize_groups(program):
        program = Program(module, lookup)
    return Engine(program, RelationReader(program, lookup))


def _dump_before(
    module: ir.Module, write: Callable[[], None], options: PropagationOptions
) -> Callable[[int], None] | None:
    """What saves the module before the next user priority, if it is to be saved at all."""
    if not options.module_dump_directory:
        return None

    count = itertools.count()

    def dump(done: int) -> None:
        write()
        save_module(
            module,
            directory=options.module_dump_directory,
            name=f"propagation_after_user_priority_{done}",
            index=options.module_dump_index + next(count),
        )

    return dump
