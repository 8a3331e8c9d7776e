# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation of LLVM's dialect to machine code of a CPU, and errors for unresolved functions."""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import MissingFunctionsError, function_address, ir, location_of
from pyshardy.irtools.stablehlo_views import CallView, callee_of

_PROBE = "probe"
CPU = "PYSHARDY_JIT_CPU"
"""The environment variable with the CPU to compile for; see `_Target.parse`."""

_NEEDED = {"x86_64": ("+64bit", "+sse2")}.get(platform.machine(), ())
"""Features without which LLVM ends the process; CPUs unknown to LLVM lack them."""


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
    target = _chosen_target()
    if target is not None:
        _use_target(module, target)
    try:
        return function_address(module, name, optimization)
    except MissingFunctionsError as missing:
        uses = _uses(module, missing.functions, target)
        raise UnresolvedError(uses) from None


def _uses(
    module: ir.Module, functions: Collection[str], target: _Target | None
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


def _needed(operation: ir.Operation, target: _Target | None) -> tuple[str, ...]:
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
        _use_target(probe, target)
    try:
        function_address(probe, _PROBE, 0)
    except MissingFunctionsError as missing:
        return missing.functions
    except RuntimeError:
        pass  # The operation can't be compiled separately.
    return ()


# --- The CPU to compile for ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Target:
    """A CPU, by its name in LLVM.

    Attributes:
        cpu: the name, such as `x86-64`, which every x86-64 CPU can run.
        features: added and removed features: `+avx2`, `-x87`.
    """

    cpu: str
    features: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> _Target:
        """Read `x86-64-v3` or `x86-64,+avx2,-x87`."""
        cpu, *features = (part.strip() for part in text.split(","))
        return cls(cpu, tuple(features))


def _chosen_target() -> _Target | None:
    """Return the CPU in the environment variable `PYSHARDY_JIT_CPU`; None for this machine's."""
    text = os.environ.get(CPU)
    return _Target.parse(text) if text else None


def _use_target(module: ir.Module, target: _Target) -> None:
    """Compile all functions of a module of LLVM's dialect for a CPU, in place."""
    features = ", ".join(f'"{feature}"' for feature in (*target.features, *_NEEDED))
    with module.context:
        attributes = {
            "target_cpu": ir.StringAttr.get(target.cpu),
            # Also an empty list, since the default is the features of this machine.
            "target_features": ir.Attribute.parse(f"#llvm.target_features<[{features}]>"),
        }
        for function in _definitions(module):
            for name, attribute in attributes.items():
                set_discardable(function, name, attribute)


def _definitions(module: ir.Module) -> Iterator[ir.Operation]:
    for operation in module.body.operations:
        if operation.operation.name == "llvm.func" and len(operation.regions[0].blocks):
            yield operation.operation
