# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Donated arguments: those whose memory a result may reuse.

A traced function marks by an attribute of an argument that its caller donates the array:
`tf.aliasing_output = 0 : i32` for the result that may have its memory, or `jax.buffer_donor = true`
for any that fits.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence
from typing import NoReturn

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.discardable import as_integer
from mlir_sdy.host import ir, location_of
from mlir_sdy.values import set_argument_attributes
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of

ALIAS, DONOR = "tf.aliasing_output", "jax.buffer_donor"


def shift_aliases(function: ir.Operation, positions: Mapping[int, int]) -> None:
    """Renumber the results that aliases refer to.

    Args:
        function: the `func.func`.
        positions: the new positions by the old ones.
    """
    changed = {
        index: _position(positions[alias], function.context)
        for index, alias in enumerate(aliased_results(function))
        if alias is not None and alias in positions
    }
    if changed:
        set_argument_attributes(function, ALIAS, changed)


def settle_donations(
    function: ir.Operation, arguments: Sequence[Hashable], results: Sequence[Hashable]
) -> tuple[list[int | None], list[int]]:
    """Write the result that reuses the memory of each donated argument of a local program.

    These are `reused_results`. Other donations are dropped.

    Args:
        function: the `func.func`, whose attributes are changed.
        arguments: the layout of each argument: its type and what each device holds of it.
        results: that of each result.

    Returns:
        For each argument the position of the result or None, and the positions of the arguments
        whose donation was dropped.

    Raises:
        UsageError: an attribute is malformed.
    """
    aliases, donors = aliased_results(function), _donors(function)
    wanted = [index for index, alias in enumerate(aliases) if alias is not None or donors[index]]
    taken = reused_results(function, arguments, results)
    if wanted:
        attributes = {
            index: _position(taken[index], function.context) if index in taken else None
            for index in wanted
        }
        set_argument_attributes(function, ALIAS, attributes)
        set_argument_attributes(function, DONOR, dict.fromkeys(wanted))
    return [taken.get(index) for index in range(len(aliases))], [
        index for index in wanted if index not in taken
    ]


def reused_results(
    function: ir.Operation, arguments: Sequence[Hashable], results: Sequence[Hashable]
) -> dict[int, int]:
    """Return the results that reuse the memory of donated arguments, by the arguments.

    1. An argument with an alias keeps it if that result fits, and no argument before has it.
    2. Otherwise the first result that fits, and that no other argument has, is its alias.

    Args:
        function: the `func.func`.
        arguments: the layout of each argument, such as its type.
        results: that of each result, which fits the arguments of the same layout.

    Raises:
        UsageError: an attribute is malformed.
    """
    aliases, donors = aliased_results(function), _donors(function)
    wanted = [index for index, alias in enumerate(aliases) if alias is not None or donors[index]]
    taken: dict[int, int] = {}
    reused: set[int] = set()
    for index in wanted:
        alias = aliases[index]
        if alias is None:
            continue
        if not 0 <= alias < len(results):
            _fail(function, index, f"'{ALIAS}' is {alias}, but there are {len(results)} results")
        if alias not in reused and arguments[index] == results[alias]:
            taken[index] = alias
            reused.add(alias)
    free: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for position, layout in enumerate(results):
        if position not in reused:
            free[layout].append(position)
    for index in wanted:
        if index not in taken and free[arguments[index]]:
            taken[index] = free[arguments[index]].popleft()
    return taken


def donated_arguments(function: ir.Operation) -> list[int]:
    """Return the positions of the arguments of a local program whose memory results reuse."""
    return [index for index, alias in enumerate(aliased_results(function)) if alias is not None]


def drop_donations(function: ir.Operation) -> None:
    """Drop the donations of all arguments of a function."""
    if donated := donated_arguments(function):
        set_argument_attributes(function, ALIAS, dict.fromkeys(donated))


def aliased_results(function: ir.Operation) -> list[int | None]:
    """Return for each argument the result that may reuse its memory, or None.

    Raises:
        UsageError: an attribute is malformed.
    """
    aliases: list[int | None] = []
    for index, each in enumerate(_attributes(function)):
        alias = as_integer(each[ALIAS]) if ALIAS in each else None
        if ALIAS in each and alias is None:
            _fail(function, index, f"'{ALIAS}' is {each[ALIAS]}, which is not a result index")
        aliases.append(alias)
    return aliases


def _donors(function: ir.Operation) -> list[bool]:
    donors: list[bool] = []
    for index, each in enumerate(_attributes(function)):
        donor = each[DONOR] if DONOR in each else None  # noqa: SIM401 (it has no `get`)
        if donor is not None and not isinstance(donor, ir.BoolAttr):
            _fail(function, index, f"'{DONOR}' is {donor}, which is not a boolean")
        donors.append(isinstance(donor, ir.BoolAttr) and donor.value)
    return donors


def _fail(function: ir.Operation, argument: int, what: str) -> NoReturn:
    message = f"'func.func' op argument {argument}: {what}"
    raise UsageError(error(message, location_of(function.location)))


def _attributes(function: ir.Operation) -> Sequence[ir.DictAttr]:
    count = len(function_type_of(function).inputs)
    given = FunctionView(function).arg_attrs
    return given or [ir.DictAttr.get({}, function.context)] * count


def _position(result: int, context: ir.Context) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32, context), result)
