# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on scheduling units, besides `mpmd-pipeline-scheduler`."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from mlir_sdy.diagnostics import Diagnostic, PassError, emit, error, note, warning
from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import (
    CALL_COUNTER,
    FRAGMENT,
    REMAT,
    body_of,
    integer_of,
    is_user_fragment,
    mesh_name_of,
    operations_of,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import LeavesNoDependencies, check_leaves_no_dependencies
from pyshardy.mpmd.rewriting.functions import mpmd_functions, top_level_operations
from pyshardy.mpmd.rewriting.marks import topology
from pyshardy.mpmd.rewriting.merging import (
    DROPS_TRANSFERRED,
    KEEPS_TRANSFERRED,
    STAGE,
    by_info,
    fragment_users,
    info_of,
    merge,
    next_of_mesh,
    transpose_counts,
)
from pyshardy.mpmd.rewriting.ordering import needs_of, reached_from, sort_operations
from pyshardy.mpmd.schedules.rules import SPLIT_TYPES, read_schedule_rules
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
    for function in mpmd_functions(module) if listed else ():
        operations = top_level_operations(function)
        numbers = {each: number for number, each in enumerate(operations)}
        known, needs = by_info(function), needs_of(operations)
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


@register_pass("mpmd-remat-fragment", release="0.10.2")
def remat_fragment(
    module: ir.Module,
    *,
    merge_remat_fragments: Annotated[
        bool, Help("whether to merge the copies with the backward fragments")
    ] = False,
) -> None:
    """Compute forward fragments again right before the backward fragments that use them.

    So that their results need no memory in between. Both fragments have the same call counter and
    stage; a backward fragment that is the next one of its mesh uses the results as they are.
    """
    for function in mpmd_functions(module):
        fragments = operations_of(body_of(function))[:-1]
        # All of them first, since merging erases backward fragments.
        for forward in [each for each in fragments if _is_forward(each)]:
            following = next(next_of_mesh(forward), None)
            for backward in fragment_users(forward):
                if (
                    _counts(backward) != {1}
                    or backward == following
                    or not _match(forward, backward)
                ):
                    continue
                copy = forward.clone(ip=ir.InsertionPoint(backward)).operation
                for index, operand in enumerate(backward.operands):
                    if operand.owner == forward:
                        number = ir.OpResult(operand).result_number
                        backward.operands[index] = copy.results[number]
                if merge_remat_fragments:
                    copy = merge(copy, backward) or copy
                set_discardable(copy, REMAT, ir.UnitAttr.get(module.context))


def _is_forward(operation: ir.Operation) -> bool:
    return _counts(operation) == {0} and not has_discardable(operation, REMAT)


def _counts(operation: ir.Operation) -> set[int]:
    return transpose_counts(operation) if is_user_fragment(operation) else set()


def _match(forward: ir.Operation, backward: ir.Operation) -> bool:
    return all(
        integer_of(forward, name) == integer_of(backward, name) for name in (CALL_COUNTER, STAGE)
    )


_DIRECTIONS = ("forward", "backward")


@register_pass("mpmd-scheduling-units-verifier", release="0.10.2")
def scheduling_units_verifier(module: ir.Module) -> None:
    """Warn of meshes with too few or too many units for a schedule.

    A unit is a fragment of the user with a call counter and a single transpose count, 0 or 1. Each
    mesh of the pipeline needs a forward and a backward unit for each microbatch.
    """
    for function in mpmd_functions(module):
        units: list[tuple[str, int]] = []
        counters: list[int] = []
        for fragment in operations_named({FRAGMENT}, function):
            counter = integer_of(fragment, CALL_COUNTER)
            counts = transpose_counts(fragment)
            if is_user_fragment(fragment) and counter is not None and counts in ({0}, {1}):
                counters.append(counter)
                units.append((mesh_name_of(fragment), counts.pop()))
        expected = max(counters, default=0) + (0 in counters)
        for mesh in topology(function).meshes:
            if mesh.is_host:
                continue
            for count, direction in enumerate(_DIRECTIONS):
                found = units.count((mesh.name, count))
                if found != expected:
                    message = f"Number of {direction} scheduling units in mesh {mesh.name} does not"
                    message += f" match expected number for {expected} microbatches. Got {found}."
                    _warn(function, message)


@register_pass("mpmd-verify-stage-merging", release="0.10.2")
def verify_stage_merging(module: ir.Module) -> None:
    """Check that the fragments of a stage have been merged.

    Raises:
        PassError: two fragments agree in mesh, stage, transpose count, half of a split fragment,
            `remat` and call counter.
    """
    errors: list[Diagnostic] = []
    for function in mpmd_functions(module):
        first: dict[tuple[object, ...], list[ir.Operation]] = {}
        for fragment in operations_named({FRAGMENT}, function):
            stage = integer_of(fragment, STAGE)
            if stage is None:
                continue
            counts = tuple(sorted(transpose_counts(fragment)))
            marks = [has_discardable(fragment, each) for each in _MARKS]
            key = (mesh_name_of(fragment), stage, counts, *marks)
            for other in first.setdefault(key, []):
                counters = integer_of(other, CALL_COUNTER), integer_of(fragment, CALL_COUNTER)
                if None in counters or counters[0] == counters[1]:
                    errors.append(_not_merged(fragment, other))
                    break
            first[key].append(fragment)
    if errors:
        raise PassError(*errors)


_MARKS = (KEEPS_TRANSFERRED, DROPS_TRANSFERRED, REMAT)


def _not_merged(fragment: ir.Operation, other: ir.Operation) -> Diagnostic:
    info, counter = info_of(fragment), integer_of(fragment, CALL_COUNTER)
    counts = ", ".join(map(str, sorted(transpose_counts(fragment))))
    message = (
        "A valid program cannot have more than one fragment with the same mesh, stage, transpose, "
        "call counts, split type, and remat flag but found multiple fragments with the same "
        f"attributes: [mesh={info.mesh_name}, stage_id={info.stage}, transpose_count={counts}, "
        f"call_count={-1 if counter is None else counter}, "
        f"split_type={SPLIT_TYPES.get(info.split_type, 'nullopt')}, "
        f"is_remat={has_discardable(fragment, REMAT):d}] for current fragment with origin: "
        f"[{', '.join(f'#mpmd.user_origin{each}' for each in info.origins)}]"
    )
    other_place = note("the other fragment is here", location_of(other.location))
    return error(message, location_of(fragment.location), [other_place])
