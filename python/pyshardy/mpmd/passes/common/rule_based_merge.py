# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-rule-based-merge`."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.diagnostics import PassError, emit, error, warning
from mlir_sdy.discardable import remove_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import attribute_of
from mlir_sdy.mpmd.building import unsigned
from mlir_sdy.mpmd.reading import CALL_COUNTER, body_of
from mlir_sdy.mpmd.values import UserOrigins
from pyshardy.mpmd.options import LeavesNoDependencies, check_leaves_no_dependencies
from pyshardy.mpmd.rewriting.functions import entry_points, top_level_operations
from pyshardy.mpmd.rewriting.merging import HALVES, STAGE, by_info, merge
from pyshardy.mpmd.rewriting.regions import erase_dead
from pyshardy.mpmd.rewriting.transfers import in_order_of_text
from pyshardy.mpmd.schedules.rules import FragmentInfo, read_merge_rules
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help


@register_pass("mpmd-rule-based-merge", release="0.10.2")
def rule_based_merge(
    module: ir.Module,
    *,
    rules: Annotated[str, Help("rules: `FragmentMergeRule(sources=[A,B],target=C)`")] = "",
    remove_control_dependencies: LeavesNoDependencies = True,
) -> None:
    """Merge fragments by rules of the user, and describe the merged ones as these say.

    Raises:
        UsageError: a rule is malformed, or control dependencies are to be left.
        PassError: two rules have the same fragment, or the fragments of a rule can't be merged, as
            something between them needs the first and is needed by the second.
    """
    check_leaves_no_dependencies(remove_control_dependencies=remove_control_dependencies)
    listed = read_merge_rules(rules)
    for function in entry_points(module):
        erase_dead(body_of(function))
        known = by_info(top_level_operations(function))
        groups: list[tuple[list[ir.Operation], FragmentInfo]] = []
        taken: set[ir.Operation] = set()
        for sources, target in listed:
            missing = [each for each in sources if each not in known]
            if missing:
                message = f"no fragment is {missing[0]}, which a rule merges"
                emit(warning(message, location_of(function.location)))
                continue
            fragments = [known[each] for each in sources]
            if twice := [each for each in fragments if each in taken]:
                message = "two rules merge the same fragment"
                raise PassError(error(message, location_of(twice[0].location)))
            taken.update(fragments)
            groups.append((fragments, target))
        for fragments, target in groups:
            merged, *others = in_order_of_text(fragments)
            for each in others:
                place = location_of(each.location)
                built = merge(merged, each)
                if built is None:
                    message = "the fragment can't be merged with those before it by the rule"
                    raise PassError(error(f"{message} for {target}", place))
                merged = built
            _describe(merged, target)


def _describe(fragment: ir.Operation, target: FragmentInfo) -> None:
    context = fragment.context
    set_discardable(fragment, "origin", attribute_of(UserOrigins(target.origins), context))
    remove_discardable(fragment, STAGE, CALL_COUNTER, *HALVES.values())
    if target.stage is not None:
        number = ir.IntegerType.get_signless(64, context)
        set_discardable(fragment, STAGE, ir.IntegerAttr.get(number, target.stage))
    if target.call_counter is not None:
        set_discardable(fragment, CALL_COUNTER, unsigned(target.call_counter, context))
    if target.split_type:
        set_discardable(fragment, HALVES[target.split_type], ir.UnitAttr.get(context))
