# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Propagation of a program with dynamic sizes: one plan for all sizes.

1. The calls of the program are inlined, and all operations are numbered.
2. The static program for the hints of the symbols is propagated; see `static_program`. Conflicts
   that Shardy resolves by sizes are resolved at the hints.
3. Each operation of the dynamic program gets the shardings of the static one with its number.
   Constants that the propagation has copied for several uses are copied in the dynamic program,
   too, so that each use has the sharding that was found for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from mlir_sdy.attribute_search import operations_with_any
from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import (
    copy_discardable,
    get_discardable,
    number_by_discardable,
    remove_discardable,
)
from mlir_sdy.host import identity, ir, location_of
from mlir_sdy.symbols import mesh_operation, meshes_of
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.uses import is_used
from mlir_sdy.values import OWN_SHARDING, SHARDING, interface_attributes, set_interface_attributes
from mlir_sdy.verify import verify, verify_given
from pyshardy.irtools.modules import copy_of, move_contents
from pyshardy.irtools.shardings import constraint_to_reshard
from pyshardy.irtools.stablehlo_builder import i64_attribute
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.partial.planned_partial import PARTIAL_SHARDING
from pyshardy.partition.types.planned_axes import FACTOR_AXES
from pyshardy.pipeline.collection import collection_paused
from pyshardy.sizes.signature import (
    EQUAL_SIZES,
    GLOBAL_CONSTANT,
    DynamicSignature,
    entry_of,
    signature_of,
    write_sizes,
)
from pyshardy.sizes.static_program import SizeRefinement, equalized, unified, without_calls
from pyshardy.sizes.symbols import hint_values, with_hints, write_symbols

Record = TypeVar("Record")

GIVEN = "sdy.given_dims"
"""The attribute of an argument or result with the dimensions that the user sharded."""

DYNAMIC_PROGRAM = "sdy.dynamic_program"
"""The attribute of a static module with the text of the dynamic one that gets its plan."""

_NUMBER = "sdy.number"
_SELDOM_PLANNED = (FACTOR_AXES, PARTIAL_SHARDING, "in_shardings", "out_shardings")
_PASSED = frozenset({"sdy.sharding_constraint", "sdy.reshard"})


@collection_paused()
def propagate_dynamic(
    module: ir.Module, hints: Mapping[str, int], propagate: Callable[[ir.Module], Record]
) -> Record:
    """Propagate the shardings of a program with dynamic sizes, in place.

    Its calls are inlined, and its symbols get hints.

    Args:
        module: the program.
        hints: values of symbols at which the plan is found; others have those of `with_hints`.
        propagate: propagates the shardings of a static program, in place, without verification.

    Returns:
        The record of the propagation of the static program.

    Raises:
        UsageError: a hint is wrong, or the program has no static form.
        PipelineError: a pass failed; the module is as it was before.
    """
    dynamic, static = at_hints(module, hints)
    record = propagate(static)
    take_plan(static, dynamic)
    move_contents(dynamic.operation, module.operation)
    return record


def at_hints(module: ir.Module, hints: Mapping[str, int]) -> tuple[ir.Module, ir.Module]:
    """Return a dynamic program that takes a plan, and its static one for hints, which is planned.

    The calls of the dynamic one are inlined, its symbols have hints, as `with_hints` says, and its
    arguments have the attribute with their sizes. The static one has the numbers of its operations.

    Raises:
        UsageError: a hint is wrong, or the program has no static form.
        VerificationError: the program is invalid.
        PassError: it has other modules in it.
    """
    for each in operations_named({"builtin.module"}, module):
        if each != module.operation:
            message = f"'{each.name}' op is nested in a module: propagate it separately"
            raise PassError(error(message, location_of(each.location)))
    verify_given(module)  # the host verifies the static program
    try:
        dynamic = without_calls(module)
        _remember_given(dynamic)
        return dynamic, unified(dynamic, lambda signature: _at_hints(dynamic, signature, hints))
    except Exception:
        verify(module)  # an invalid program is told as such
        raise


def _at_hints(
    dynamic: ir.Module, signature: DynamicSignature, hints: Mapping[str, int]
) -> ir.Module:
    """Return the static program for hints, which the symbols of the dynamic one get."""
    symbols = with_hints(signature.symbols, hints, dynamic)
    values = hint_values(symbols)
    is_told = get_discardable(dynamic.operation, EQUAL_SIZES) is not None
    if len({*values.values()}) < len(values) and not is_told and equalized(dynamic):
        return _at_hints(dynamic, signature_of(dynamic), hints)
    static = copy_of(dynamic)
    refinement = SizeRefinement(static, values, signature)
    operations = [operation for operation, _ in refinement.sizes.operations]
    number_by_discardable(operations, _NUMBER, static.context)
    refinement.complete()
    write_symbols(dynamic, symbols.values())
    write_sizes(entry_of(dynamic), {each.index: each.sizes for each in signature.arguments})
    return static


def _remember_given(module: ir.Module) -> None:
    """Note the dimensions of arguments and results that are sharded before propagation."""
    entry = entry_of(module)

    def given(sharding: ir.Attribute | None) -> ir.Attribute | None:
        axes = () if sharding is None else value_of(sharding).dim_axes
        dims = [i64_attribute(dim) for dim, held in enumerate(axes) if held]
        return ir.ArrayAttr.get(dims) if dims else None

    with module.context:
        arguments, results = (map(given, each) for each in interface_attributes(entry, SHARDING))
        set_interface_attributes(entry, GIVEN, arguments, results)


def number_operations(module: ir.Module) -> None:
    """Number the operations of the entry, so that they are known later."""
    operations = [operation for operation, _ in _operations_of(module)]
    number_by_discardable(operations, _NUMBER, module.context)


def _operations_of(module: ir.Module) -> list[tuple[ir.Operation, str]]:
    """Return the operations of the entry with their names, as a size map has them."""
    return named_operations_in(entry_of(module), leaving_out=SCALAR_BODIES)[1:]


def remove_numbers(module: ir.Module) -> None:
    """Remove the numbers of the operations of the entry."""
    for operation, _ in _operations_of(module):
        remove_discardable(operation, _NUMBER)


def take_plan(static: ir.Module, dynamic: ir.Module) -> None:
    """Give a dynamic program the shardings of its static one, and the meshes of these."""
    named = _operations_of(dynamic)
    seldom = _SELDOM_PLANNED if operations_with_any(_SELDOM_PLANNED, static) else ()
    planned = (SHARDING, *seldom)
    known = meshes_of(dynamic)
    for name in (each for each in meshes_of(static) if each not in known):
        mesh = mesh_operation(static.operation, name)
        assert mesh is not None, "the program has it"
        mesh.clone(ip=ir.InsertionPoint.at_block_begin(dynamic.body))
    taken: set[int] = set()
    copies: list[tuple[ir.Operation, int, ir.Operation]] = []
    constraints: list[ir.Operation] = []
    for source, name in _operations_of(static):
        number = number_of(source)
        if number is None:
            continue
        target, target_name = named[number]
        if number in taken:
            target = target.clone(ip=ir.InsertionPoint(target)).operation
            remove_discardable(target, SHARDING, *_SELDOM_PLANNED)
            copies.append((source, number, target))
        taken.add(number)
        own = OWN_SHARDING.get(target_name)
        copy_discardable(source, target, planned if own is None else (own,))
        if target_name in _PASSED and name != target_name:
            constraints.append(target)
    if copies:
        _use_copies(copies, [operation for operation, _ in named])
    for constraint in constraints:
        constraint_to_reshard(constraint)
    # What isn't in the static program is a group, computed from sizes, or for nothing.
    for number in sorted({*range(len(named))} - taken, reverse=True):
        target, name = named[number]
        is_unused = len(target.results) and not any(map(is_used, target.results))
        if is_unused or name == "sdy.sharding_group":
            target.erase()
    arguments, results = interface_attributes(entry_of(static), SHARDING)
    entry = entry_of(dynamic)
    for index, constant in enumerate(interface_attributes(entry, GLOBAL_CONSTANT)[0]):
        if constant is not None:
            arguments.insert(index, None)
    set_interface_attributes(entry, SHARDING, arguments, results)


def _use_copies(
    copies: Sequence[tuple[ir.Operation, int, ir.Operation]], operations: Sequence[ir.Operation]
) -> None:
    """Make the operations of a dynamic program use the copies that its static one uses.

    A static form has the first operands of its operation, without those that are sizes. A copy is
    given with the number of its operation, and with the copy in the dynamic program.
    """
    targets = {identity(source): target for source, _, target in copies}
    for source, number, target in copies:
        for result, copy in zip(source.results, target.results, strict=True):
            for use in result.uses:
                user, index = use.owner.operation, use.operand_number
                at = number_of(user)
                if at is not None:
                    user = targets.get(identity(user), operations[at])
                    if user.operands[index].owner == operations[number]:
                        user.operands[index] = copy


def number_of(operation: ir.Operation) -> int | None:
    """Return the number of an operation; None if it has none."""
    number = get_discardable(operation, _NUMBER)
    return None if number is None else number.value
