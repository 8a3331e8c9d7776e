# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that drop and copy values of fragments."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.host import ir
from mlir_sdy.mpmd.building import transfer
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    TRANSFER,
    body_of,
    mesh_type,
    operations_of,
    producer,
    returned_values,
)
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import is_used, replace_by
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions, set_returned, top_level_operations
from pyshardy.mpmd.rewriting.marks import copies, is_on_host
from pyshardy.mpmd.rewriting.regions import (
    drop_unused,
    drop_unused_results,
    erase_dead,
    merge_equal_operands,
    merge_equal_results,
    simplify_operations,
)
from pyshardy.mpmd.rewriting.transfers import before_transfers
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help


@register_pass("mpmd-fragment-dce", release="0.10.2")
def fragment_dce(module: ir.Module) -> None:
    """Drop unused operands and results of fragments, and dead fragments, transfers and bodies."""
    for function in mpmd_functions(module):
        for operation in reversed(top_level_operations(function)):
            if operation.name not in (FRAGMENT, TRANSFER):
                continue
            if not any(map(is_used, operation.results)) and not has_effects(operation):
                operation.erase()
            elif operation.name == FRAGMENT:
                smaller = drop_unused_results(operation)
                erase_dead(body_of(smaller))
                drop_unused(smaller)


@register_pass("mpmd-fragment-dedup", release="0.10.2")
def fragment_dedup(module: ir.Module) -> None:
    """Use the first of equal operands, and of equal results, of fragments.

    The others are unused then, and `mpmd-fragment-dce` drops them.
    """
    for function in mpmd_functions(module):
        for fragment in operations_named({FRAGMENT}, function):
            merge_equal_operands(fragment)
            merge_equal_results(fragment)


@register_pass("mpmd-copy-constants", release="0.10.2")
def copy_constants(module: ir.Module) -> None:
    """Replace arguments of fragments that are constants of other fragments by constants.

    The constant may come through transfers. Unused arguments and results are left to
    `mpmd-fragment-dce`.
    """
    for function in mpmd_functions(module):
        for fragment in operations_named({FRAGMENT}, function):
            body = body_of(fragment)
            for argument, operand in zip(body.arguments, fragment.operands, strict=True):
                constant = _constant(operand)
                if constant is not None and list(argument.uses):
                    copy = constant.clone(ip=ir.InsertionPoint.at_block_begin(body)).operation
                    argument.replace_all_uses_with(copy.results[0])


def _constant(value: ir.Value) -> ir.Operation | None:
    """Return the constant that a fragment returns as a value, through transfers."""
    value = before_transfers(value)
    made = producer(value, FRAGMENT)
    if made is None:
        return None
    inner = returned_values(made)[ir.OpResult(value).result_number]
    return producer(inner, "stablehlo.constant")


@register_pass("mpmd-remove-transfer-cycles", release="0.10.2")
def remove_transfer_cycles(module: ir.Module) -> None:
    """Replace transfers to a mesh where the value has been by the value there.

    Only chains of transfers between the memories of devices are considered. Transfers in between
    that are unused then are left to canonicalization.
    """
    for function in mpmd_functions(module):
        block = body_of(function)
        for operation in operations_of(block):
            if operation.name == TRANSFER and (earlier := _earlier(operation)) is not None:
                replace_by(operation, earlier)


def _earlier(operation: ir.Operation) -> ir.Value | None:
    """Return the value that a chain of transfers to the same type begins with."""
    target = operation.results[0].type
    value = operation.operands[0]
    while not is_on_host(value):
        if value.type == target:
            return value
        before = producer(value, TRANSFER)
        if before is None:
            return None
        value = before.operands[0]
    return None


_MARK = "uniquify"


@register_pass("mpmd-uniquify-function-inputs-outputs", release="0.10.2")
def uniquify_function_inputs_outputs(
    module: ir.Module,
    *,
    use_transfer_instead_of_fragment: Annotated[
        bool, Help("whether to copy by a transfer on the mesh instead of a fragment")
    ] = False,
) -> None:
    """Copy values that are returned twice, and arguments that are returned.

    Each result of a function is then a value of its own, which a result can alias. The copy is a
    fragment on each mesh that returns its arguments, or a transfer of equal types.
    """
    for function in mpmd_functions(module):
        values = returned_values(function)
        by_mesh: dict[str, dict[ir.Value, list[int]]] = {}
        for index, value in enumerate(values):
            found = mesh_type(value)
            others = values[: index + 1] if use_transfer_instead_of_fragment else values
            is_own = others.count(value) == 1 and not isinstance(value, ir.BlockArgument)
            if found is not None:
                copied_values = by_mesh.setdefault(found.mesh_name, {})
                if not is_own:
                    copied_values.setdefault(value, []).append(index)
        terminator = terminator_of(body_of(function))
        for mesh, indices in by_mesh.items():
            if not indices:
                continue
            copied = [value for value, places in indices.items() for _ in places]
            with ir.InsertionPoint(terminator), terminator.location:
                if use_transfer_instead_of_fragment:
                    made = [transfer(value, value.type) for value in copied]
                else:
                    made = copies(copied, mesh, _MARK)
            places = [index for several in indices.values() for index in several]
            for index, copy in zip(places, made, strict=True):
                values[index] = copy
        if by_mesh:
            set_returned(function, values)


@register_pass("mpmd-simplify-program", release="0.10.2")
def simplify_program(module: ir.Module) -> None:
    """Merge equal values of fragments, and drop unused values.

    A result that is an argument of the body is replaced by the operand, if that has its type.
    """
    for function in mpmd_functions(module):
        simplify_operations(function, FRAGMENT)
