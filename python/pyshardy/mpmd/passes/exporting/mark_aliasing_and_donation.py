# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-mark-aliasing-and-donation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import (
    ARGUMENT_ATTRIBUTES,
    FRAGMENT,
    TRANSFER,
    mesh_type,
    producer,
    returned_values,
    users_of,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import argument_attributes, mpmd_functions
from pyshardy.mpmd.rewriting.lifetimes import ALIASES, DONATED, last_users, mark_values
from pyshardy.mpmd.rewriting.transfers import before_transfers
from pyshardy.pipeline import register_pass


@register_pass("mpmd-mark-aliasing-and-donation", release="0.10.2")
def mark_aliasing_and_donation(module: ir.Module) -> None:
    """Mark the operands of fragments whose memory the results may take.

    These are operands that nothing uses afterwards, on the devices, of no transfer. An argument of
    the program is one only if the user gave it away. A result of the same type takes the memory
    (`tf.aliasing_output`) if there is one left; other operands are donated (`jax.buffer_donor`).
    """
    for function in mpmd_functions(module):
        last, given = last_users(function), argument_attributes(function)
        for fragment in operations_named({FRAGMENT}, function):
            marks = _marks(fragment, function, last, given)
            if any(marks):
                mark_values(fragment, ARGUMENT_ATTRIBUTES, marks)


def _marks(
    fragment: ir.Operation,
    function: ir.Operation,
    last: dict[ir.Value, ir.Operation],
    given: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return the attributes of each operand of a fragment."""
    free: dict[ir.Type, list[int]] = {}
    for index, each in enumerate(fragment.results):
        if not _on_host(each):
            free.setdefault(each.type, []).append(index)
    marks: list[dict[str, Any]] = [{} for _ in fragment.operands]
    for mark, value in zip(marks, fragment.operands, strict=True):
        is_last = last[value] == fragment and not _on_host(value)
        if not is_last or any(user.name == TRANSFER for user in users_of(value)):
            continue
        wanted: int | None = None
        takes = free.get(value.type, [])
        if isinstance(value, ir.BlockArgument):
            own = given[value.arg_number]
            if not {ALIASES, DONATED} & own.keys():
                continue
            if ALIASES in own:
                wanted = _result_for(own[ALIASES].value, fragment, function)
            else:
                takes = []
        if takes:
            taken = wanted if wanted in takes else takes[0]
            takes.remove(taken)
            number = ir.IntegerType.get_signless(32, fragment.context)
            mark[ALIASES] = ir.IntegerAttr.get(number, taken)
        else:
            mark[DONATED] = ir.BoolAttr.get(value=True, context=fragment.context)
    return marks


def _on_host(value: ir.Value) -> bool:
    found = mesh_type(value)
    return found is None or found.is_on_host


def _result_for(output: int, fragment: ir.Operation, function: ir.Operation) -> int | None:
    """Return the result of a fragment that the function returns as an output, if there is one."""
    value = before_transfers(returned_values(function)[output])
    made = producer(value, FRAGMENT)
    is_made_here = made is not None and made == fragment
    return ir.OpResult(value).result_number if is_made_here else None
