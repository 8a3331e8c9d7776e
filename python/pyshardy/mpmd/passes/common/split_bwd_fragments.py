# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-split-bwd-fragments`."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import attributes_of, fragment, return_
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    TRANSFER,
    body_of,
    mesh_name_of,
    operations_of,
    origins_of,
    returned_values,
)
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
from pyshardy.mpmd.rewriting.merging import DROPS_TRANSFERRED, KEEPS_TRANSFERRED, is_half
from pyshardy.mpmd.rewriting.regions import replace_inside
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
            counts = {origin.transpose_count for origin in origins_of(each)}
            if counts == {1} and not any(
                is_half(each, mark) for mark in (KEEPS_TRANSFERRED, DROPS_TRANSFERRED)
            ):
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
    first_half: set[ir.Operation] = set()
    for operation in reversed(operations):
        if not needed.isdisjoint(operation.results):
            first_half.add(operation)
            needed.update(operands_with_free_values(operation))
    kept = [each for each in operations if each in first_half]
    moved = [each for each in operations if each not in first_half]
    others = [index for index in range(len(returned)) if index not in sent]
    if not sent or not (moved or others):
        return
    residuals = _used([returned[index] for index in others], moved)
    arguments = list(body_of(whole).arguments)
    if body_argument_shardings(whole) or result_shardings_of(whole):
        # Types with shardings would keep canonicalization from dropping the arguments.
        residuals = [each for each in residuals if each not in arguments]
    attributes = attributes_of(whole)
    for name in ("in_shardings", "out_shardings"):
        attributes.pop(name, None)
    mesh = mesh_name_of(whole)
    types = [whole.results[index].type for index in sent]
    types += [mesh_tensor(value.type, mesh) for value in residuals]
    with ir.InsertionPoint(whole), whole.location:
        first = fragment(mesh, types, list(whole.operands), origins_of(whole), attributes)
        second = fragment(
            mesh,
            [whole.results[index].type for index in others],
            [*whole.operands, *list(first.results)[len(sent) :]],
            origins_of(whole),
            attributes,
        )
    set_discardable(first, KEEPS_TRANSFERRED, ir.UnitAttr.get(whole.context))
    set_discardable(second, DROPS_TRANSFERRED, ir.UnitAttr.get(whole.context))
    _share_shardings(whole, first, second, sent, residuals)
    _fill(
        first,
        list(zip(arguments, body_of(first).arguments, strict=True)),
        kept,
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


def _share_shardings(
    whole: ir.Operation,
    first: ir.Operation,
    second: ir.Operation,
    sent: Sequence[int],
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
    of_second = operands | dict(enumerate(passed, len(whole.operands)))
    for half, taken, made in (
        (first, operands, of_first),
        (second, of_second, dict(enumerate(others))),
    ):
        if taken:
            set_body_argument_shardings(half, taken)
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
