# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-rule-based-schedule`."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import mesh_name_of
from pyshardy.mpmd.options import LeavesNoDependencies, check_leaves_no_dependencies
from pyshardy.mpmd.rewriting.functions import entry_points, top_level_operations
from pyshardy.mpmd.rewriting.merging import by_info
from pyshardy.mpmd.rewriting.ordering import needs_of, reached_from, sort_operations
from pyshardy.mpmd.schedules.rules import read_schedule_rules
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help


@register_pass("mpmd-rule-based-schedule", release="0.10.2")
def rule_based_schedule(
    module: ir.Module,
    *,
    rules: Annotated[str, Help("rules: `FragmentScheduleRule(ordered_fragments=[A->B])`")] = "",
    remove_control_dependencies: LeavesNoDependencies = True,
) -> None:
    """Order fragments by rules of the user.

    Of two fragments that follow each other in a rule, the first one runs first. Fragments that do
    not exist, that are on different meshes, or the first of which needs the second one, are skipped
    with a warning.

    Raises:
        UsageError: a rule is malformed, or control dependencies are to be left.
        PassError: two fragments have the same description.
    """
    check_leaves_no_dependencies(remove_control_dependencies=remove_control_dependencies)
    listed = read_schedule_rules(rules)
    for function in entry_points(module) if listed else ():
        operations = top_level_operations(function)
        numbers = {each: number for number, each in enumerate(operations)}
        known, needs = by_info(operations), needs_of(operations)
        reached = reached_from(needs)
        followers: list[set[int]] = [set() for _ in operations]
        for first, second in (pair for rule in listed for pair in pairwise(rule)):
            missing = [str(each) for each in (first, second) if each not in known]
            if missing:
                _warn(function, f"no fragment is {missing[0]}, which a rule orders")
                continue
            one, other = known[first], known[second]
            if mesh_name_of(one) != mesh_name_of(other):
                _warn(other, f"a rule orders fragments of different meshes: {first} and {second}")
            elif reached[numbers[one]] >> numbers[other] & 1:
                _warn(other, f"{first} needs {second}, which a rule puts after it")
            else:
                followers[numbers[one]].add(numbers[other])
        if sort_operations(operations, needs, followers):
            _warn(function, "the rules and the uses of values contradict each other")


def _warn(operation: ir.Operation, message: str) -> None:
    emit(warning(message, location_of(operation.location)))
