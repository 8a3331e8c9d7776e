# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that merge fragments of a mesh."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.diagnostics import PassError, emit, error, note, warning
from mlir_sdy.discardable import has_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import attribute_of
from mlir_sdy.mpmd.building import unsigned
from mlir_sdy.mpmd.reading import (
    CALL_COUNTER,
    FRAGMENT,
    TRANSFER,
    body_of,
    integer_of,
    is_entry_point,
    is_user_fragment,
    mesh_name_of,
    operations_of,
)
from mlir_sdy.mpmd.values import UserOrigins
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import LeavesNoDependencies, check_leaves_no_dependencies
from pyshardy.mpmd.rewriting.functions import entry_points, mpmd_functions
from pyshardy.mpmd.rewriting.merging import (
    DROPS_TRANSFERRED,
    HALVES,
    KEEPS_TRANSFERRED,
    STAGE,
    by_info,
    closest_user,
    fragment_users,
    merge,
    merge_all,
    next_of_mesh,
    stages_agree,
    transpose_counts,
)
from pyshardy.mpmd.rewriting.regions import erase_dead
from pyshardy.mpmd.rewriting.transfers import in_order_of_text, move_to_producer, move_to_user
from pyshardy.mpmd.schedules.rules import FragmentInfo, read_merge_rules
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help

NOT_ABSORBED = "inferred fragments that no fragment of the user can absorb"
"""The end of the warning of inferred fragments that are left in a function."""


@register_pass("mpmd-absorb-inferred-fragments", release="0.10.2")
def absorb_inferred_fragments(
    module: ir.Module,
    *,
    absorb_on_entry_point_function: Annotated[
        bool, Help("whether to merge in the entry point, too")
    ] = False,
) -> None:
    """Merge inferred fragments into the fragments around them.

    A root is a fragment of the user, or one that uses no other or that no other uses. An inferred
    fragment goes into the root that is its first user, or its last producer. Callees are changed
    only, unless the option is set.
    """
    for function in mpmd_functions(module):
        is_entry = is_entry_point(function)
        if is_entry and not absorb_on_entry_point_function:
            continue
        block = body_of(function)
        while _absorb_producers(block) or _absorb_consumers(block):
            pass
        erase_dead(block)
        inferred = [
            each
            for each in operations_of(block)
            if each.name == FRAGMENT and not is_user_fragment(each)
        ]
        if inferred and not is_entry:
            message = f"function '{symbol_name(function)}' has {len(inferred)} {NOT_ABSORBED}"
            emit(warning(message, location_of(inferred[0].location)))


def _absorb_producers(block: ir.Block) -> bool:
    for producer in reversed(operations_of(block)):
        if producer.name != FRAGMENT or is_user_fragment(producer):
            continue
        for result in producer.results:
            for use in list(result.uses):
                if use.owner.operation.name == TRANSFER:
                    move_to_user(use.owner.operation)
        for root in closest_user(producer):
            if _is_root(root) and merge(producer, root, into=root) is not None:
                return True
    return False


def _absorb_consumers(block: ir.Block) -> bool:
    for consumer in operations_of(block):
        if consumer.name != FRAGMENT or is_user_fragment(consumer):
            continue
        producers: list[ir.Operation] = []
        for operand in consumer.operands:
            owner = operand.owner
            if isinstance(owner, ir.Block):
                continue
            if owner.operation.name == TRANSFER:
                move_to_producer(owner.operation)
            producers.append(owner.operation)
        closest = None
        for each in producers:
            if closest is None or closest.is_before_in_block(each):
                closest = each
        if closest is None or closest.name != FRAGMENT or not _is_root(closest):
            continue
        are_on_one_mesh = mesh_name_of(closest) == mesh_name_of(consumer)
        if are_on_one_mesh and merge(closest, consumer, into=closest) is not None:
            return True
    return False


def _is_root(fragment: ir.Operation) -> bool:
    if is_user_fragment(fragment):
        return True
    uses_fragment = any(
        not isinstance(operand.owner, ir.Block) and operand.owner.operation.name == FRAGMENT
        for operand in fragment.operands
    )
    is_used_by_fragment = any(
        use.owner.operation.name == FRAGMENT for result in fragment.results for use in result.uses
    )
    return not (uses_fragment and is_used_by_fragment)


@register_pass("mpmd-merge-inferred-fragments", release="0.10.2")
def merge_inferred_fragments(
    module: ir.Module,
    *,
    merge_any_consumer: Annotated[
        bool, Help("whether to merge with any fragment that uses the results, not the first only")
    ] = False,
    merge_sideways: Annotated[
        bool, Help("whether to merge with the next fragment of the mesh, even without a dependency")
    ] = False,
) -> None:
    """Merge inferred fragments with the fragments that use them.

    Two fragments of a mesh are merged if at least one of them is inferred, and the second one is
    the first fragment that uses the first one.

    Raises:
        PassError: both options are given.
    """
    if merge_any_consumer and merge_sideways:
        message = "the options 'merge-any-consumer' and 'merge-sideways' exclude each other"
        raise PassError(error(message))
    candidates = closest_user
    if merge_any_consumer:
        candidates = fragment_users
    elif merge_sideways:
        candidates = next_of_mesh
    for function in mpmd_functions(module):
        merge_all(body_of(function), candidates, _may_merge)


def _may_merge(producer: ir.Operation, consumer: ir.Operation) -> bool:
    if is_user_fragment(producer) and is_user_fragment(consumer):
        return False
    keeps = has_discardable(producer, KEEPS_TRANSFERRED)
    return not (keeps and has_discardable(consumer, DROPS_TRANSFERRED))


@register_pass("mpmd-merge-user-fragments-into-scheduling-units", release="0.10.2")
def merge_user_fragments_into_scheduling_units(module: ir.Module) -> None:
    """Merge fragments of the user into the units of a schedule.

    A fragment is merged with the fragment of its mesh that is its first user, if both are of the
    user, have the same transpose count, and don't differ in call counter or stage.
    """
    for function in mpmd_functions(module):
        merge_all(body_of(function), closest_user, _are_of_one_unit)


def _are_of_one_unit(producer: ir.Operation, consumer: ir.Operation) -> bool:
    if not (is_user_fragment(producer) and is_user_fragment(consumer)):
        return False
    counts = transpose_counts(producer, consumer)
    counters = integer_of(producer, CALL_COUNTER), integer_of(consumer, CALL_COUNTER)
    is_same_call = None in counters or counters[0] == counters[1]
    return len(counts) == 1 and is_same_call and stages_agree(producer, consumer)


@register_pass("mpmd-merge-forward-with-backward", release="0.10.2")
def merge_forward_with_backward(module: ir.Module) -> None:
    """Merge forward fragments with backward fragments that use them, right after on their meshes.

    This saves calls on the last mesh of a pipeline, where the backward fragment of a microbatch
    comes right after the forward fragment.
    """
    for function in mpmd_functions(module):
        merge_all(body_of(function), next_of_mesh, _is_backward_of)
        for fragment in operations_named({FRAGMENT}, function):
            if transpose_counts(fragment) == {
                0,
                1,
            }:  # It is no half of a backward fragment any more.
                remove_discardable(fragment, KEEPS_TRANSFERRED, DROPS_TRANSFERRED)


def _is_backward_of(producer: ir.Operation, consumer: ir.Operation) -> bool:
    counts = transpose_counts(producer), transpose_counts(consumer)
    return counts == ({0}, {1}) and any(each.owner == producer for each in consumer.operands)


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
    named = {each for sources, _ in listed for each in sources}
    for function in entry_points(module):
        erase_dead(body_of(function))
        known = by_info(function, named)
        groups: list[tuple[list[ir.Operation], FragmentInfo]] = []
        taken: set[ir.Operation] = set()
        for sources, target in listed:
            missing = [each for each in sources if each not in known]
            if missing:
                message = f"no fragment is {missing[0]}, which a rule merges"
                emit(warning(message, location_of(function.location)))
                continue
            fragments = [known[each] for each in sources]
            if len({mesh_name_of(each) for each in fragments}) > 1:
                message = f"a rule merges fragments of different meshes, into {target}"
                emit(warning(message, location_of(fragments[0].location)))
                continue
            if twice := [each for each in fragments if each in taken]:
                message = "two rules merge the same fragment"
                raise PassError(error(message, location_of(twice[0].location)))
            taken.update(fragments)
            groups.append((fragments, target))
        for fragments, target in groups:
            merged, *others = in_order_of_text(fragments)
            for each in others:
                here = note(f"it is of the rule for {target}", location_of(each.location))
                built = merge(merged, each)
                if built is None:
                    message = "Cycle detected in the program, not all fragments could be properly "
                    place = location_of(function.location)
                    raise PassError(error(f"{message}merged.", place, [here]))
                merged = built
            if others:
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
