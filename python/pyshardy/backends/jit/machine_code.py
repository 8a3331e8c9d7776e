# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation of LLVM's dialect to machine code, and errors for unresolved functions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.host import MissingFunctionsError, function_address, ir, location_of
from pyshardy.backends.jit.target import Target, chosen_target, use_target
from pyshardy.irtools.stablehlo_views import CallView, callee_of

_PROBE = "probe"


class UnresolvedError(RuntimeError):
    """The machine code calls functions that this process doesn't have.

    Attributes:
        uses: the location of an operation that needs each function, None if unknown.
    """

    def __init__(self, uses: Mapping[str, SourceLocation | None]):
        super().__init__(f"the code calls undefined functions: {', '.join(uses)}")
        self.uses = uses


def machine_code(module: ir.Module, name: str, optimization: int) -> tuple[int, object]:
    """Compile a module of LLVM's dialect for the chosen CPU, and find a function in it.

    Args:
        module: the module, which is compiled in place.
        name: the function, which has the attribute `llvm.emit_c_interface`.
        optimization: the level from 0 (fast compilation) to 3 (fast code).

    Returns:
        The address of a C function, and the owner of its code; see `function_address`.

    Raises:
        UnresolvedError: its code calls functions that this process doesn't have.
        RuntimeError: the module can't be compiled.
    """
    target = chosen_target()
    if target is not None:
        use_target(module, target)
    try:
        return function_address(module, name, optimization)
    except MissingFunctionsError as missing:
        uses = _uses(module, missing.functions, target)
        raise UnresolvedError(uses) from None


def _uses(
    module: ir.Module, functions: Collection[str], target: Target | None
) -> dict[str, SourceLocation | None]:
    """Return the location of an operation that needs each function.

    LLVM calls functions for operations without instructions, but doesn't report the operation.
    Each kind of operation is therefore compiled separately.
    """
    uses: dict[str, SourceLocation | None] = dict.fromkeys(functions)
    with module.context, ir.Location.unknown():
        for operation in _kinds(module):
            for function in _needed(operation, target):
                if function in uses and uses[function] is None:
                    uses[function] = location_of(operation.location)
    return uses


def _kinds(module: ir.Module) -> Iterator[ir.Operation]:
    """The first operation of each kind that computes a scalar of scalars or calls a function."""
    kinds: dict[str, ir.Operation] = {}

    def visit(operation: ir.Operation) -> ir.WalkResult:
        operands = [str(value.type) for value in operation.operands]
        results = [str(value.type) for value in operation.results]
        is_scalar = not any(each.startswith("!") for each in operands + results)
        if len(results) == 1 and operands and is_scalar and not operation.successors:
            attributes = [
                (name, str(attribute)) for name, attribute in operation.attributes.items()
            ]
            kinds.setdefault(str((operation.name, operands, results, attributes)), operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    yield from kinds.values()


def _needed(operation: ir.Operation, target: Target | None) -> tuple[str, ...]:
    """Return the unresolved functions of an operation."""
    if operation.name == "llvm.call":
        return (callee_of(operation),) if CallView.callee.is_in(operation) else ()
    arguments = ", ".join(
        f"%{index}: {value.type}" for index, value in enumerate(operation.operands)
    )
    result = operation.results[0].type
    probe = ir.Module.parse(
        f"llvm.func @_mlir_ciface_{_PROBE}({arguments}) -> {result} {{\n  llvm.unreachable\n}}"
    )
    block = probe.body.operations[0].regions[0].blocks[0]
    end = block.operations[0]
    copy = operation.clone(ir.InsertionPoint(end))
    for index, argument in enumerate(block.arguments):
        copy.operation.operands[index] = argument
    with ir.InsertionPoint(end):
        ir.Operation.create("llvm.return", operands=[copy.operation.results[0]])
    end.operation.erase()
    if target is not None:
        use_target(probe, target)
    try:
        function_address(probe, _PROBE, 0)
    except MissingFunctionsError as missing:
        return missing.functions
    except RuntimeError:
        pass  # The operation can't be compiled separately.
    return ()
