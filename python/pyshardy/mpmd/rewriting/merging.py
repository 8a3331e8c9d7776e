# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Merging of two fragments of one mesh."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.building import attributes_of, fragment, return_
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import (
    ARGUMENT_ATTRIBUTES,
    CALL_COUNTER,
    FRAGMENT,
    RESULT_ATTRIBUTES,
    body_of,
    integer_of,
    is_user_fragment,
    mesh_name_of,
    operations_of,
    origins_of,
    returned_values,
)
from mlir_sdy.mpmd.values import UserOrigin
from mlir_sdy.uses import is_used
from pyshardy.mpmd.rewriting.functions import top_level_operations
from pyshardy.mpmd.rewriting.marks import INFERRED_BY, inferred_by, mark_inferred
from pyshardy.mpmd.rewriting.transfers import users_in_block
from pyshardy.mpmd.schedules.rules import FragmentInfo

STAGE = "stage_id"

_INHERITED = frozenset({STAGE, CALL_COUNTER})

KEEPS_TRANSFERRED = "split_keep_transferred"
"""The mark of the half of a backward fragment with the gradients to send."""

DROPS_TRANSFERRED = "split_drop_transferred"
"""The mark of the half of a backward fragment with the gradients of weights."""

HALVES = {"keep": KEEPS_TRANSFERRED, "drop": DROPS_TRANSFERRED}
"""The marks of the halves of split fragments, by their names in rules."""


def transpose_counts(*fragments: ir.Operation) -> set[int]:
    """Return how often the names of fragments are transposed."""
    return {origin.transpose_count for each in fragments for origin in origins_of(each)}


def half_of(fragment: ir.Operation) -> str:
    """Return `a` or `w` for the halves of a split backward fragment, else an empty text."""
    if has_discardable(fragment, DROPS_TRANSFERRED):
        return "w"
    return "a" if has_discardable(fragment, KEEPS_TRANSFERRED) else ""


MayMerge = Callable[[ir.Operation, ir.Operation], bool]
"""Whether a producer and a consumer may merge."""

Candidates = Callable[[ir.Operation], Iterator[ir.Operation]]
"""Yields the fragments that a producer may merge with, the best one first."""


def merge_all(block: ir.Block, candidates: Candidates, may_merge: MayMerge) -> None:
    """Merge the fragments of a block with their candidates, the last fragment first.

    Fragments that are unused and have no effects are erased.
    """
    changed = True
    while changed:
        changed = False
        for producer in reversed(operations_of(block)):
            if producer.name != FRAGMENT:
                continue
            if not any(map(is_used, producer.results)) and not has_effects(producer):
                producer.erase()
                continue
            for consumer in candidates(producer):
                if may_merge(producer, consumer) and merge(producer, consumer) is not None:
                    changed = True
                    break


def closest_user(producer: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the first fragment that uses a fragment; transfers and returns don't count."""
    first: ir.Operation | None = None
    for user in (use.owner.operation for result in producer.results for use in result.uses):
        if user.name == FRAGMENT and user.block == producer.block:
            first = user if first is None or user.is_before_in_block(first) else first
    if first is not None and _is_of_mesh(first, producer):
        yield first


def fragment_users(producer: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the users of a fragment that are fragments of the same mesh, in order."""
    yield from (each for each in users_in_block(producer) if _is_of_mesh(each, producer))


def next_of_mesh(producer: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the next fragment of the same mesh, if there is one."""
    following = operations_of(producer.block)
    for each in following[following.index(producer) + 1 :]:
        if _is_of_mesh(each, producer):
            yield each
            return


def _is_of_mesh(operation: ir.Operation, other: ir.Operation) -> bool:
    return operation.name == FRAGMENT and mesh_name_of(operation) == mesh_name_of(other)


def stages_agree(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether the stages of two fragments are equal, or one has none."""
    stages = integer_of(first, STAGE), integer_of(second, STAGE)
    return None in stages or stages[0] == stages[1]


def merge(
    producer: ir.Operation, consumer: ir.Operation, *, into: ir.Operation | None = None
) -> ir.Operation | None:
    """Merge two fragments of a mesh, in the same block.

    It is at the place of the consumer if nothing between them uses the producer, or at that of the
    producer if the other operands of the consumer are defined before it.

    Args:
        producer: the first fragment.
        consumer: the second fragment.
        into: the fragment of the two that keeps its attributes; None for what both inherit.

    Returns:
        The merged fragment; None if it can be at neither place.
    """
    if not stages_agree(producer, consumer):
        return None
    if not _is_used_before(producer, consumer):
        place = consumer
    elif all(_is_defined_before(operand, producer) for operand in consumer.operands):
        place = producer
    else:
        return None
    outer = [result for result in producer.results if _used_elsewhere(result, consumer)]
    is_in_place = len(producer.operands) == 1 and not outer and _is_used_once(producer, consumer)
    operands = _operands(producer, consumer, in_place=is_in_place)
    inputs = list(operands.values()) if is_in_place else list(dict.fromkeys(operands.values()))
    with ir.InsertionPoint(place), consumer.location:
        built = fragment(
            mesh_name_of(consumer),
            [each.type for each in (*outer, *consumer.results)],
            inputs,
            _origins(producer, consumer),
            _attributes(producer, consumer) if into is None else _own_attributes(into),
        )
    _mark(built, producer, consumer)
    body = body_of(built)
    if is_in_place:
        arguments = dict(zip(operands, body.arguments, strict=True))
    else:
        of_value = dict(zip(inputs, body.arguments, strict=True))
        arguments = {place: of_value[each] for place, each in operands.items()}
    for index, argument in enumerate(body_of(producer).arguments):
        argument.replace_all_uses_with(arguments[producer, index])
    values: dict[ir.Value, ir.Value] = dict(
        zip(producer.results, returned_values(producer), strict=True)
    )
    for index, argument in enumerate(body_of(consumer).arguments):
        operand = consumer.operands[index]
        argument.replace_all_uses_with(values.get(operand) or arguments[consumer, index])
    returned = [*(values[each] for each in outer), *returned_values(consumer)]
    for operation in (producer, consumer):
        *inner, terminator = operations_of(body_of(operation))
        terminator.erase()
        for each in inner:
            each.detach_from_parent()
            body.append(each)
    with ir.InsertionPoint(body), consumer.location:
        return_(returned)
    for old, new in zip((*outer, *consumer.results), built.results, strict=True):
        old.replace_all_uses_with(new)
    consumer.erase()
    producer.erase()
    return built


def _operands(
    producer: ir.Operation, consumer: ir.Operation, *, in_place: bool
) -> dict[tuple[ir.Operation, int], ir.Value]:
    """Return the operands of a merged fragment, by an operation and the index of its operand.

    Those of the producer come first. In place, the only operand of the producer takes the place of
    its result among those of the consumer.
    """
    results = set(producer.results)
    listed = [((consumer, index), each) for index, each in enumerate(consumer.operands)]
    others = {place: each for place, each in listed if each not in results}
    if in_place and len(others) < len(listed):
        found: dict[tuple[ir.Operation, int], ir.Value] = {}
        for place, each in listed:
            if each in results:
                found.setdefault((producer, 0), producer.operands[0])
            else:
                found[place] = each
        return found
    own = {(producer, index): each for index, each in enumerate(producer.operands)}
    return {**own, **others}


def _is_used_before(producer: ir.Operation, consumer: ir.Operation) -> bool:
    """Whether an operation uses a producer before a consumer; most attempts to merge end here."""
    for result in producer.results:
        for use in result.uses:
            user = use.owner.operation
            is_other = user != consumer and user.block == producer.block
            if is_other and user.is_before_in_block(consumer):
                return True
    return False


def _is_defined_before(value: ir.Value, operation: ir.Operation) -> bool:
    if isinstance(value, ir.BlockArgument):
        return True
    made = value.owner.operation
    return made == operation or made.is_before_in_block(operation)


def _is_used_once(producer: ir.Operation, consumer: ir.Operation) -> bool:
    return sum(each.owner == producer for each in consumer.operands) == 1


def _used_elsewhere(result: ir.Value, consumer: ir.Operation) -> bool:
    return any(use.owner.operation != consumer for use in result.uses)


def _origins(producer: ir.Operation, consumer: ir.Operation) -> list[UserOrigin]:
    return list(dict.fromkeys([*origins_of(producer), *origins_of(consumer)]))


def _attributes(producer: ir.Operation, consumer: ir.Operation) -> dict[str, ir.Attribute]:
    """Return the stage and the call counter, the attributes that a merged fragment inherits.

    The call counter is that of the fragment of the user, or that of both.
    """
    first, second = (
        {name: each for name, each in attributes_of(fragment).items() if name in _INHERITED}
        for fragment in (producer, consumer)
    )
    if is_user_fragment(producer) and not is_user_fragment(consumer):
        return {**second, **first}
    counters = integer_of(producer, CALL_COUNTER), integer_of(consumer, CALL_COUNTER)
    merged = {**first, **second}
    are_alike = is_user_fragment(producer) == is_user_fragment(consumer)
    if are_alike and None not in counters and counters[0] != counters[1]:
        merged.pop(CALL_COUNTER)
    return merged


def _own_attributes(fragment: ir.Operation) -> dict[str, ir.Attribute]:
    of_values = {ARGUMENT_ATTRIBUTES, RESULT_ATTRIBUTES, "in_shardings", "out_shardings"}
    dropped = {INFERRED_BY, *of_values}
    return {name: each for name, each in attributes_of(fragment).items() if name not in dropped}


def _mark(built: ir.Operation, producer: ir.Operation, consumer: ir.Operation) -> None:
    if not is_user_fragment(built):
        passes = inferred_by((producer, consumer))
        if passes:
            mark_inferred(built, *passes)


def info_of(fragment: ir.Operation) -> FragmentInfo:
    """Return the description of a fragment."""
    halves = [half for half, mark in HALVES.items() if has_discardable(fragment, mark)]
    return FragmentInfo(
        origins_of(fragment),
        integer_of(fragment, STAGE),
        integer_of(fragment, CALL_COUNTER),
        halves[0] if halves else "",
        mesh_name_of(fragment),
    )


def by_info(
    function: ir.Operation, wanted: Collection[FragmentInfo] | None = None
) -> dict[FragmentInfo, ir.Operation]:
    """Return the fragments by their descriptions, also without the mesh if that is enough.

    Raises:
        PassError: two fragments of the user have the same description: a wanted one, or any.
    """
    found: dict[FragmentInfo, ir.Operation] = {}
    on_any_mesh: dict[FragmentInfo, list[ir.Operation]] = {}
    for each in top_level_operations(function):
        if each.name != FRAGMENT or not origins_of(each):
            continue
        info, of_any = info_of(each), info_of(each)._replace(mesh_name="")
        if info in found and (wanted is None or info in wanted or of_any in wanted):
            places = (location_of(other.location) for other in (found[info], each))
            message = (
                f"Fragment info {info} already exists for another fragment. Check if you have "
                "multiple `named_computation` with the same name. If so, please rename one of them."
            )
            notes = [note("a fragment is here", place) for place in places]
            raise PassError(error(message, location_of(function.location), notes))
        found[info] = each
        on_any_mesh.setdefault(of_any, []).append(each)
    return {**found, **{info: each[0] for info, each in on_any_mesh.items() if len(each) == 1}}
