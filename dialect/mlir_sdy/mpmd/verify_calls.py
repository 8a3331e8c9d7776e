# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verification of the calls of the mpmd dialect by the functions that they name."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.attributes import value_of as value_of_sdy
from mlir_sdy.diagnostics import VerificationError
from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import text_of
from mlir_sdy.mpmd.reading import (
    CALL,
    FOR,
    MESH_SHAPE,
    is_entry_point,
    is_mpmd_function,
    mesh_name_of,
)
from mlir_sdy.mpmd.verify import check_global_types, mesh_in, topology_around
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.symbols import enclosing_function
from mlir_sdy.traversal import named_operations_in
from mlir_sdy.verify.violation import ConstraintViolation

_Functions = Mapping[str, ir.Operation]


def verify_calls(root: ir.Operation) -> None:
    """Check the calls in a module.

    Raises:
        VerificationError: the first rule that is broken, with its place.
    """
    if root.name != "builtin.module":
        return
    functions = {
        operation.attributes["sym_name"].value: operation
        for view in root.regions[0].blocks[0].operations
        if (operation := view.operation).name == "func.func"
    }
    for operation, name in named_operations_in(root):
        check = _CHECKS.get(name)
        if check is None:
            continue
        try:
            check(operation, functions)
        except ConstraintViolation as violation:
            raise VerificationError(violation.diagnostic(operation)) from None


def _callee(operation: ir.Operation, functions: _Functions) -> ir.Operation:
    name: str = operation.attributes["callee"].value
    function = functions.get(name)
    if function is None:
        advice = did_you_mean(name, functions, prefix="@")
        raise ConstraintViolation(f"'{name}' does not reference a valid function{advice}")
    return function


def _types_of(function: ir.Operation) -> tuple[list[ir.Type], list[ir.Type]]:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return list(kind.inputs), list(kind.results)


def _check_fragment_call(operation: ir.Operation, functions: _Functions) -> None:
    callee = _callee(operation, functions)
    name = callee.attributes["sym_name"].value
    shape = callee.attributes.get(MESH_SHAPE)
    if shape is None:
        raise ConstraintViolation(f"Function does not have a {MESH_SHAPE} attribute: {name}")
    mesh = mesh_in(topology_around(operation), mesh_name_of(operation)).mesh
    expected = value_of_sdy(shape)
    if mesh != expected:
        raise ConstraintViolation(
            "Expected mesh of fragment call and callee function to match: "
            f"#sdy.mesh{mesh} vs #sdy.mesh{expected}"
        )
    arguments, results = _types_of(callee)
    operands = [operand.type for operand in operation.operands]
    check_global_types(arguments, operands, "block argument", "operand")
    outer = [result.type for result in operation.results]
    check_global_types(results, outer, "returned value", "result")


def _check_call(operation: ir.Operation, functions: _Functions) -> None:
    callee = _callee(operation, functions)
    name = callee.attributes["sym_name"].value
    expected = _types_of(callee)
    found = (
        [operand.type for operand in operation.operands],
        [result.type for result in operation.results],
    )
    for what, ours, theirs in zip(("operand", "result"), found, expected, strict=True):
        if len(ours) != len(theirs):
            raise ConstraintViolation(
                f"Type mismatch. Expected {len(theirs)} call {what}s but got {len(ours)}"
            )
        for one, other in zip(ours, theirs, strict=True):
            if one != other:
                raise ConstraintViolation(
                    f"Type mismatch. Expected call {what} to have type '{text_of(other)}' but got "
                    f"'{text_of(one)}'"
                )
    parent = operation.parent
    if parent is None or parent.operation.name not in ("func.func", FOR):
        inside = "nothing" if parent is None else parent.operation.name
        raise ConstraintViolation(
            f'Mpmd CallOp on "{name}" can only be used in a function or for_op block but was '
            f"called from inside op {inside}"
        )
    if is_entry_point(callee):
        raise ConstraintViolation(
            "MPMD CallOp callee with topology must also have visibility set to private, as public "
            "functions with topologies are assumed to be entry point functions."
        )
    caller = enclosing_function(operation)
    assert caller is not None, "a call is in a function"
    if is_mpmd_function(caller) and not is_entry_point(caller):
        caller_name = caller.attributes["sym_name"].value
        raise ConstraintViolation(
            f'Mpmd CallOp on "{name}" in an Mpmd function can only be used directly by the '
            f'entrypoint function, i.e. the main function, but was called from "{caller_name}".'
        )


_CHECKS = {CALL: _check_call, "mpmd.fragment_call": _check_fragment_call}
