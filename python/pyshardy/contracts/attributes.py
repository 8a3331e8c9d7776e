# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contracts in programs: the attribute `sdy.contract`.

    func.func @main(...) attributes {sdy.contract = {at_most = {all_gather = 0}}} {

It is a dictionary whose entries are those of a contract in a TOML file, on a function or an
operation with regions.

An explanation, and advice on a violated contract, are about the annotations that the user wrote,
which a propagated module doesn't tell from the shardings that follow from them. So propagation
keeps a copy of each module.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlir_sdy.attribute_search import operations_with
from mlir_sdy.diagnostics import PassError, UsageError, error
from mlir_sdy.discardable import CONTRACT, get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from pyshardy.contracts.contract import Contract
from pyshardy.contracts.files import contract_of
from pyshardy.irtools.modules import BesideModules, copy_of

CONTRACTS = "sdy.contracts"
"""The attribute of a module with all contracts, while it is partitioned."""

CHECKING_PASS = "sdy-check-contracts"
"""The pass that checks contracts."""

HINT = "'sdy-explain --advise' tries constraints with which the annotated program sends less"
"""The note of a violated contract, where it is unknown what the program was propagated from."""


def contract_of_attribute(
    attribute: ir.Attribute, operation: ir.Operation, axes: Sequence[str] = ()
) -> Contract:
    """Return the contract of an attribute.

    Args:
        attribute: the attribute.
        operation: the operation that has it, for error messages.
        axes: the names of the axes that it may limit; none if they are unknown.

    Raises:
        PassError: the attribute is invalid.
    """
    place = location_of(operation.location)
    if not isinstance(attribute, ir.DictAttr):
        message = f"'{CONTRACT}' is a dictionary such as {{at_most = {{all_gather = 0}}}}"
        raise PassError(error(f"{message}, got: {attribute}", place))
    try:
        contract = contract_of(_plain(attribute), lambda _: place)
        for limit in contract.limits if axes else ():
            limit.check_axis(axes)
    except UsageError as refusal:
        found = (replace(each, location=place) for each in refusal.diagnostics)
        raise PassError(*found) from None
    if contract.max_memory is not None:
        advice = "check the memory by 'sdy-explain --check' or 'pyshardy.testing'"
        raise PassError(error(f"'{CONTRACT}' cannot limit memory: {advice}", place))
    return contract


def has_contracts(module: ir.Module) -> bool:
    """Whether a program has contracts."""
    return bool(operations_with(CONTRACT, module))


@contextlib.contextmanager
def without_contracts(module: ir.Module) -> Iterator[None]:
    """Take the contracts out of a program inside the `with` block, in which no pass may run."""
    limited = [
        (each, get_discardable(each, CONTRACT)) for each in operations_with(CONTRACT, module)
    ]
    for operation, _ in limited:
        remove_discardable(operation, CONTRACT)
    try:
        yield
    finally:
        for operation, attribute in limited:
            set_discardable(operation, CONTRACT, attribute)


@functools.singledispatch
def _plain(attribute: Any) -> Any:
    """Return an attribute as a plain value; other attributes as their text."""
    return str(attribute)


@_plain.register
def _(attribute: ir.DictAttr) -> dict[str, Any]:
    return {named.name: _plain(named.attr) for named in attribute}


@_plain.register
def _(attribute: ir.ArrayAttr) -> list[Any]:
    return [_plain(each) for each in attribute]


@_plain.register
def _(attribute: ir.IntegerAttr) -> int:
    return attribute.value


@_plain.register
def _(attribute: ir.StringAttr) -> str:
    return attribute.value


# --- The annotated programs of propagated modules -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Original:
    """The program that a module was propagated from.

    Attributes:
        module: the annotated module.
        options: the options of its propagation.
    """

    module: ir.Module
    options: Mapping[str, Any]


_originals: BesideModules[Original] = BesideModules()


def copy_with_contracts(module: ir.Module) -> ir.Module | None:
    """Return a copy of a module, with its text; None if it has no contract."""
    return copy_of(module) if has_contracts(module) else None


def remember_annotated(
    module: ir.Module, annotated: ir.Module | None, options: Mapping[str, Any] | None = None
) -> None:
    """Associate a propagated module with the annotated one, for as long as it exists."""
    if annotated is not None:
        _originals.set(module, Original(annotated, dict(options or {})))


def original_of(module: ir.Module) -> Original | None:
    """Return what a module was propagated from; None if it is unknown."""
    return _originals.get(module)


def annotated_of(module: ir.Module) -> ir.Module | None:
    """Return what a module with contracts was propagated from, without options; None if unknown."""
    original = _originals.get(module)
    if original is None or original.options or not has_contracts(original.module):
        return None
    return original.module
