# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fragments that are split into two."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import attributes_of, fragment, return_
from mlir_sdy.mpmd.reading import (
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
from pyshardy.mpmd.inference.mesh_sets import operands_with_free_values
from pyshardy.mpmd.rewriting.regions import replace_inside


def split_fragment(
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
    residuals = _used([returned[index] for index in others], moved)
    arguments = list(body_of(whole).arguments)
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
