# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that split fragments in two."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import attributes_of, fragment, return_
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    TRANSFER,
    body_of,
    mesh_name_of,
    operations_of,
    origins_of,
    producer,
    returned_values,
)
from mlir_sdy.uses import is_used
from mlir_sdy.values import (
    body_argument_shardings,
    get_sharding,
    rank_of,
    result_shardings_of,
    set_body_argument_shardings,
    set_result_shardings_of,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.inference.mesh_sets import operands_with_free_values
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.merging import (
    DROPS_TRANSFERRED,
    KEEPS_TRANSFERRED,
    half_of,
    transpose_counts,
)
from pyshardy.mpmd.rewriting.regions import drop_unused, merge_equal_results, replace_inside
from pyshardy.mpmd.rewriting.transfers import in_order_of_text
from pyshardy.pipeline import register_pass


@register_pass("mpmd-split-bwd-fragments", release="0.10.2")
def split_bwd_fragments(module: ir.Module) -> None:
    """Split backward fragments for schedules without a bubble.

    A fragment with transpose count 1 becomes two: the first one computes the results that are
    transferred, the gradients to send, and is marked `split_keep_transferred`. The second one,
    right after it, has all other operations, and is marked `split_drop_transferred`. What it needs
    of the first one, or of its arguments, is passed as further results; canonicalization and
    `mpmd-fragment-dce` drop what isn't needed. A fragment stays as it is if none of its results
    are transferred, or if all operations are needed for these. What is passed keeps the sharding
    that it has in the fragment; arguments aren't passed if the fragment has shardings.
    """
    for function in mpmd_functions(module):
        for each in operations_named({FRAGMENT}, function):
            if transpose_counts(each) == {1} and not half_of(each):
                _split(each)


def _split(whole: ir.Operation) -> None:
    sent = [
        index
        for index, result in enumerate(whole.results)
        if any(use.owner.operation.name == TRANSFER for use in result.uses)
    ]
    returned = returned_values(whole)
    operations = operations_of(body_of(whole))[:-1]
    needed = {returned[index] for index in sent}
    kept: set[ir.Operation] = set()
    for operation in reversed(operations):
        if not needed.isdisjoint(operation.results):
            kept.add(operation)
            needed.update(operands_with_free_values(operation))
    if sent and (len(kept) < len(operations) or len(sent) < len(returned)):
        first, second = _split_fragment(whole, kept, sent, range(len(whole.operands)))
        set_discardable(first, KEEPS_TRANSFERRED, ir.UnitAttr.get(first.context))
        set_discardable(second, DROPS_TRANSFERRED, ir.UnitAttr.get(first.context))


# No release of jaxlib has C++ Shardy's pass of this name, which no pipeline contains, to compare
# with.


@register_pass("mpmd-split-and-prioritize-transfer-independent-computations", release="0.12")
def split_and_prioritize_transfer_independent_computations(module: ir.Module) -> None:
    """Split fragments, to compute what depends on no transfer while values are transferred.

    A fragment that takes transferred values becomes two: the first one has the operations that
    don't depend on these, and comes before the transfers, or right after the last of its own
    operands. The second one has all other operations, stays in its place, and takes what it needs
    of the first one. A fragment stays as it is if each operation with operands depends on a
    transfer, or has effects.

        %1 = mpmd.transfer %a
        %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%1, %w) { add(arg0, multiply(arg1, arg1)) }

    becomes

        %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%w) { multiply(arg0, arg0) }
        %1 = mpmd.transfer %a
        %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%1, %0) { add(arg0, arg1) }
    """
    for function in mpmd_functions(module):
        for whole in operations_named({FRAGMENT}, function):
            _split_off(whole)


def _split_off(whole: ir.Operation) -> None:
    body = body_of(whole)
    transfers = [made for each in whole.operands if (made := producer(each, TRANSFER)) is not None]
    waiting: set[ir.Value] = {
        argument
        for argument, operand in zip(body.arguments, whole.operands, strict=True)
        if producer(operand, TRANSFER) is not None
    }
    independent: list[ir.Operation] = []
    for operation in operations_of(body)[:-1]:
        if has_effects(operation) or not waiting.isdisjoint(operands_with_free_values(operation)):
            waiting.update(operation.results)
        else:
            independent.append(operation)
    needed: set[ir.Value] = set()
    kept: set[ir.Operation] = set()
    for operation in reversed(independent):
        operands = operands_with_free_values(operation)
        if operands or not needed.isdisjoint(operation.results):
            kept.add(operation)
            needed.update(operands)
    if not (transfers and kept):
        return
    taken = [index for index, each in enumerate(body.arguments) if each in needed]
    made = {result for each in kept for result in each.results}
    sent = [index for index, each in enumerate(returned_values(whole)) if each in made]
    first, second = _split_fragment(whole, kept, sent, taken)
    merge_equal_results(first)
    first = drop_unused(first)
    drop_unused(second)
    (transfer, *_) = in_order_of_text(transfers)
    before = [each.owner.operation for each in first.operands if isinstance(each, ir.OpResult)]
    *_, last = in_order_of_text([transfer, *before])
    if last == transfer:
        first.move_before(transfer)
    else:
        first.move_after(last)


# --- Splitting ------------------------------------------------------------------------------------


def _split_fragment(
    whole: ir.Operation, kept: Collection[ir.Operation], sent: Sequence[int], taken: Sequence[int]
) -> tuple[ir.Operation, ir.Operation]:
    """Replace a fragment by two, and return them.

    The second one takes all operands. What it needs of the first one is passed as further results,
    arguments of the fragment too, if they have no shardings, whose types would keep
    canonicalization from dropping them.

    Args:
        whole: the fragment.
        kept: the operations of the first one; the second one has the others.
        sent: the results of the first one by their indices.
        taken: the operands of the first one by their indices.
    """
    returned = returned_values(whole)
    operations = operations_of(body_of(whole))[:-1]
    moved = [each for each in operations if each not in kept]
    others = [index for index in range(len(returned)) if index not in sent]
    arguments = list(body_of(whole).arguments)
    residuals = _used([returned[index] for index in others], moved)
    unused: list[ir.Value] = [each for one in moved for each in one.results if not is_used(each)]
    taken_by_dead = [each for each in _used(unused, moved) if each not in arguments]
    residuals = list(dict.fromkeys([*residuals, *taken_by_dead]))
    given = [arguments[index] for index in taken]
    if len(given) < len(arguments) or body_argument_shardings(whole) or result_shardings_of(whole):
        residuals = [each for each in residuals if each not in arguments]
    attributes = attributes_of(whole)
    for name in ("in_shardings", "out_shardings"):
        attributes.pop(name, None)
    mesh = mesh_name_of(whole)
    types = [whole.results[index].type for index in sent]
    types += [mesh_tensor(value.type, mesh) for value in residuals]
    with ir.InsertionPoint(whole), whole.location:
        operands = [whole.operands[index] for index in taken]
        first = fragment(mesh, types, operands, origins_of(whole), attributes)
        second = fragment(
            mesh,
            [whole.results[index].type for index in others],
            [*whole.operands, *list(first.results)[len(sent) :]],
            origins_of(whole),
            attributes,
        )
    _share_shardings(whole, first, second, sent, taken, residuals)
    _fill(
        first,
        list(zip(given, body_of(first).arguments, strict=True)),
        [each for each in operations if each in kept],
        [*(returned[index] for index in sent), *residuals],
    )
    inputs = [*arguments, *residuals]
    _fill(
        second,
        list(zip(inputs, body_of(second).arguments, strict=True)),
        moved,
        [returned[index] for index in others],
    )
    for new, index in enumerate(sent):
        whole.results[index].replace_all_uses_with(first.results[new])
    for new, index in enumerate(others):
        whole.results[index].replace_all_uses_with(second.results[new])
    whole.erase()
    return first, second


def _share_shardings(
    whole: ir.Operation,
    first: ir.Operation,
    second: ir.Operation,
    sent: Sequence[int],
    taken: Sequence[int],
    residuals: Sequence[ir.Value],
) -> None:
    """Give both halves the shardings of a fragment, if it has any."""
    operands = dict(enumerate(body_argument_shardings(whole)))
    results = result_shardings_of(whole)
    told = next(iter([*operands.values(), *results]), None)
    if told is None:
        return
    passed = [
        get_sharding(each) or TensorSharding.fully_closed(rank_of(each.type), told.mesh_or_ref)
        for each in residuals
    ]
    places = {index: results[index] for index in range(len(whole.results)) if results}
    others = [each for index, each in places.items() if index not in sent]
    of_first = dict(enumerate(places[index] for index in sent if places))
    of_first |= dict(enumerate(passed, len(sent)))
    of_operands = {new: operands[index] for new, index in enumerate(taken) if index in operands}
    of_second = operands | dict(enumerate(passed, len(whole.operands)))
    for half, inputs, made in (
        (first, of_operands, of_first),
        (second, of_second, dict(enumerate(others))),
    ):
        if inputs:
            set_body_argument_shardings(half, inputs)
        if made:
            set_result_shardings_of(half, made)


def _used(values: list[ir.Value], operations: list[ir.Operation]) -> list[ir.Value]:
    """Return the values that operations need to compute values, in the order of a search.

    The search begins with the last value, and goes through the last operand of an operation first.
    """
    found: dict[ir.Value, None] = {}
    listed = set(operations)
    stack = list(values)
    visited: set[ir.Value] = set()
    while stack:
        value = stack.pop()
        if value in visited:
            continue
        visited.add(value)
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.operation not in listed:
            found[value] = None
        else:
            stack += operands_with_free_values(owner.operation)
    return list(found)


def _fill(
    built: ir.Operation,
    values: list[tuple[ir.Value, ir.Value]],
    operations: list[ir.Operation],
    returned: list[ir.Value],
) -> None:
    """Copy operations into a fragment, and return values, by the pairs of old and new values."""
    known: dict[ir.Value, ir.Value] = dict(values)
    with ir.InsertionPoint(body_of(built)), built.location:
        for operation in operations:
            copy = operation.clone().operation
            for value in operands_with_free_values(operation):
                replace_inside(copy, value, known[value])
            known.update(zip(operation.results, copy.results, strict=True))
        return_([known[each] for each in returned])
