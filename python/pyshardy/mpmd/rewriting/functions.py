# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of MPMD programs: the entry point, callees, signatures, calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.building import create
from mlir_sdy.mpmd.reading import (
    CALL,
    TOPOLOGY,
    body_of,
    is_entry_point,
    is_mpmd_function,
    operations_of,
    returned_values,
)
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.functions import functions_of, has_body, update_type
from pyshardy.irtools.stablehlo_views import CallView, FunctionView, symbol_name
from pyshardy.irtools.walks import operations_named


def mpmd_functions(module: ir.Module) -> list[ir.Operation]:
    """Return the functions with a topology and a body, callees first."""
    found = [each for each in functions_of(module) if is_mpmd_function(each) and has_body(each)]
    return sorted(found, key=is_entry_point)


def functions_with_bodies(module: ir.Module) -> dict[str, ir.Operation]:
    """Return the functions that calls may name, also those without a topology, by their names."""
    return {symbol_name(each): each for each in functions_of(module) if has_body(each)}


def entry_points(module: ir.Module) -> list[ir.Operation]:
    """Return the public functions with a topology."""
    return [each for each in mpmd_functions(module) if is_entry_point(each)]


def calls_by_callee(module: ir.Module) -> dict[str, list[ir.Operation]]:
    """Return the calls of functions on several meshes, by the callee."""
    found: dict[str, list[ir.Operation]] = {}
    for function in functions_of(module):
        for call in operations_named({CALL}, function):
            found.setdefault(CallView(call).callee, []).append(call)
    return found


def called_functions(module: ir.Module) -> dict[str, ir.Operation]:
    """Return the functions that calls of the dialect name."""
    names = calls_by_callee(module)
    return {name: each for each in functions_of(module) if (name := symbol_name(each)) in names}


def set_returned(operation: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Make the body of a function or another operation return other values."""
    terminator = terminator_of(body_of(operation))
    with ir.InsertionPoint(terminator), terminator.location:
        if terminator.name == "func.return":
            attributes = dict(terminator.attributes.items())
            ir.Operation.create(
                terminator.name, results=[], operands=list(values), attributes=attributes
            )
        else:
            create(terminator.name, (), values)
    terminator.erase()


def erase_results(function: ir.Operation, erased: Collection[int]) -> None:
    """Erase results of a function, with their attributes."""
    view = FunctionView(function)
    attributes = list(view.res_attrs)
    values = returned_values(function)
    set_returned(function, [each for index, each in enumerate(values) if index not in erased])
    if attributes:
        view.res_attrs = [each for index, each in enumerate(attributes) if index not in erased]
    update_type(function)


def check_pairs(function: ir.Operation, pairs: Iterable[tuple[int, int]]) -> None:
    """Check that a function has the arguments and results of pairs.

    Raises:
        PassError: an index is out of range.
    """
    arguments, results = len(body_of(function).arguments), len(returned_values(function))
    for index, output in pairs:
        if index >= arguments or output >= results:
            message = (
                f"there is no argument {index} or no result {output}: the function has "
                f"{arguments} arguments and {results} results"
            )
            raise PassError(error(message, location_of(function.location)))


def argument_attributes(function: ir.Operation) -> list[dict[str, Any]]:
    """Return the attributes of each argument of a function."""
    return _entries(FunctionView(function).arg_attrs) or [{} for _ in body_of(function).arguments]


def result_attributes(function: ir.Operation) -> list[dict[str, Any]]:
    """Return the attributes of each result of a function."""
    return _entries(FunctionView(function).res_attrs) or [{} for _ in returned_values(function)]


def _entries(listed: Iterable[ir.DictAttr]) -> list[dict[str, Any]]:
    return [{named.name: named.attr for named in each} for each in listed]


def dictionaries(entries: Iterable[Mapping[str, Any]], context: ir.Context) -> ir.ArrayAttr:
    """Return an array of dictionaries, without entries that are None."""
    given = [{name: each for name, each in entry.items() if each is not None} for entry in entries]
    return ir.ArrayAttr.get([ir.DictAttr.get(each, context) for each in given], context)


def copy_topology(source: ir.Operation, target: ir.Operation) -> None:
    """Give a function the topology of another function."""
    set_discardable(target, TOPOLOGY, get_discardable(source, TOPOLOGY))


def top_level_operations(function: ir.Operation) -> list[ir.Operation]:
    """Return the operations of the body of a function, without the terminator."""
    return operations_of(body_of(function))[:-1]
