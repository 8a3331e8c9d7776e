# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The MLIR host: the only module that names the package of the MLIR Python bindings.

Everything else in the project reaches the bindings through the names below, so that another
distribution of the same upstream bindings needs a change in this file only. Importing it loads
the bindings' shared libraries (about a quarter of a second): tools import it when they need it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import re
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from mlir_sdy.diagnostics import Diagnostic, Severity, SourceLocation, emit
from mlir_sdy.isolation import isolate_extensions
from mlir_sdy.ods.irdl_groups import without_group_sizes

isolate_extensions("torch_mlir")  # Before the bindings are loaded; hence the order of imports.

import torch_mlir._mlir_libs._mlir as cext  # noqa: E402
from torch_mlir import ir, passmanager, rewrite  # noqa: E402
from torch_mlir._mlir_libs import _stablehlo as stablehlo  # noqa: E402
from torch_mlir.dialects import _ods_common as ods_common  # noqa: E402
from torch_mlir.dialects import ext, func, irdl  # noqa: E402

__all__ = [
    "COPIES_TO_LOOPS",
    "EXPAND_FOR_LLVM",
    "TORCH_TO_STABLEHLO",
    "MissingFunctionsError",
    "cext",
    "current_context",
    "decompositions_of_torch",
    "diagnostics_emitted",
    "diagnostics_of",
    "emit_error",
    "ext",
    "func",
    "function_address",
    "hand_out_all_constants",
    "ir",
    "irdl",
    "load_loop_passes",
    "load_stablehlo",
    "location_of",
    "ods_common",
    "parse_operation",
    "passmanager",
    "rewrite",
    "stablehlo",
    "stablehlo_of_torch",
]

_DIALECTS_WITHOUT_PYTHON_MODULE = ("stablehlo", "chlo", "vhlo", "interpreter", "check", "sdy")


def _provide_dialect_modules() -> None:
    """Let the bindings' look-up of a Python module succeed for dialects that have none.

    Making the view of an operation looks for a module of its dialect, and a failing import is
    repeated for every operation visited (15 microseconds each) instead of being remembered.
    """
    package = ods_common.__name__.rpartition(".")[0]
    for dialect in _DIALECTS_WITHOUT_PYTHON_MODULE:
        name = f"{package}.{dialect}"
        sys.modules.setdefault(name, types.ModuleType(name, "Empty: avoids a failing import."))


_provide_dialect_modules()
stablehlo.register_stablehlo_passes()


def load_stablehlo(context: ir.Context) -> None:
    """Load StableHLO and CHLO into `context`."""
    stablehlo.register_dialect(context)
    # CHLO is reachable only as the dependency of a pass that runs.
    with context, ir.Location.unknown():
        passmanager.PassManager.parse("builtin.module(stablehlo-compatibility-expander)").run(
            ir.Module.create().operation
        )


def load_loop_passes() -> None:
    """Register the passes that make loops and LLVM code of tensor programs, beside MLIR's own."""
    importlib.import_module("torch_mlir.dialects.torch")


COPIES_TO_LOOPS = "func.func(refback-munge-memref-copy)"
"""A pass of the host's own, see `load_loop_passes`: copies become loops, not calls of a library."""

EXPAND_FOR_LLVM = "func.func(refback-expand-ops-for-llvm)"
"""Another one: operations that have no form in LLVM's dialect become others."""


class MissingFunctionsError(RuntimeError):
    """Machine code calls functions that this process doesn't have.

    Attributes:
        functions: their names.
    """

    def __init__(self, functions: Sequence[str]):
        super().__init__(f"the code calls undefined functions: {', '.join(functions)}")
        self.functions = tuple(functions)


def function_address(module: ir.Module, name: str, optimization: int) -> tuple[int, object]:
    """Compile a module of LLVM's dialect, and find a function with a C interface in it.

    Args:
        module: the module. It isn't changed.
        name: the function, which has the attribute `llvm.emit_c_interface`.
        optimization: from 0, to compile fast, to 3, to run fast.

    Returns:
        The address of a C function that takes an array of pointers to the arguments, and what
        holds its code: keep that as long as the function is in use.

    Raises:
        MissingFunctionsError: its code calls functions that this process doesn't have.
        RuntimeError: it can't be compiled.
    """
    from torch_mlir.execution_engine import ExecutionEngine  # noqa: PLC0415 (for few users)

    said: list[str] = []

    def hear(info: ir.Diagnostic) -> bool:
        said.append(info.message)
        return True

    with module.context.attach_diagnostic_handler(hear):
        try:
            engine = ExecutionEngine(module, opt_level=optimization)
        except RuntimeError as failure:
            raise RuntimeError("; ".join(said) or str(failure)) from None
    with _standard_error() as printed:
        address = engine.raw_lookup(f"_mlir_ciface_{name}")
    if not address:
        missing = _MISSING_FUNCTIONS.findall(printed.text)
        raise MissingFunctionsError(
            sorted({name for names in missing for name in names.split(", ")})
        )
    sys.stderr.write(printed.text)
    return address, engine


_MISSING_FUNCTIONS = re.compile(r"Symbols not found: \[ (.*?) \]")


@dataclasses.dataclass
class _Printed:
    """Return the output of the process."""

    text: str = ""


@contextlib.contextmanager
def _standard_error() -> Iterator[_Printed]:
    """Catch what C++ code prints to standard error; the names of missing functions are only there.

    It is complete after the `with` block.
    """
    import tempfile  # noqa: PLC0415 (for few users)

    printed = _Printed()
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield printed
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            printed.text = file.read().decode(errors="replace")


def hand_out_all_constants(context: ir.Context) -> None:
    """Let the bindings hand out constants of any elements, where `context` is any context.

    Their own way ends in a `TypeError`, or in the end of the process, unless the elements are
    numbers: those that are complex become a plain `ir.DenseElementsAttr` here.
    """
    kind = ir.Attribute.parse("dense<0> : tensor<i1>", context).typeid
    cext.register_type_caster(kind, replace=True)(_specific_elements)


def _specific_elements(attribute: ir.Attribute) -> ir.DenseElementsAttr:
    for elements_class in (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr):
        try:
            return elements_class(attribute)
        except ValueError:
            continue
    return ir.DenseElementsAttr(attribute)


TORCH_TO_STABLEHLO = (
    "builtin.module("
    "func.func(torch-match-quantized-custom-ops),"
    "torchdynamo-export-to-torch-backend-pipeline,"
    "torch-backend-to-stablehlo-backend-pipeline)"
)


def decompositions_of_torch() -> dict[Any, Any]:
    """How operations of PyTorch are written with those that `stablehlo_of_torch` knows."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table  # noqa: PLC0415

    return get_decomposition_table()


def stablehlo_of_torch(graph: Any) -> str:
    """The text, with locations, of a graph of PyTorch in StableHLO; PyTorch must be there.

    Args:
        graph: the `torch.fx.Graph` of an exported program, decomposed. The arguments of `@main` are
            its placeholders: parameters, buffers and constants are among them.

    Raises:
        ir.MLIRError: an operation has no counterpart; see `diagnostics_of`.
        NotImplementedError: the importer doesn't know what stands in the graph.
    """
    from torch_mlir.dialects import torch  # noqa: PLC0415
    from torch_mlir.extras.fx_importer import FxImporter  # noqa: PLC0415

    # A context of its own keeps PyTorch's dialects away from the user's.
    context = ir.Context()
    torch.register_dialect(context)
    importer = FxImporter(context=context)
    importer.import_stateless_graph(graph, func_name="main")
    with context:
        passmanager.PassManager.parse(TORCH_TO_STABLEHLO).run(importer.module.operation)
    return importer.module.operation.get_asm(enable_debug_info=True)


def current_context() -> ir.Context:
    """The context that a `with` block around has made current.

    Raises:
        ValueError: there is none.
    """
    context = ir.Context.current
    if context is None:
        raise ValueError("no current context: enter one with 'with context:', or pass one")
    return context


def parse_operation(text: str, filename: str, context: ir.Context) -> ir.Operation:
    """Parse and verify the one top-level operation in `text`.

    Raises:
        ir.MLIRError: the text does not parse or verify; see `diagnostics_of`.
    """
    return ir.Operation.parse(text, source_name=filename, context=context).operation


def location_of(location: ir.Location) -> SourceLocation | None:
    """The first file location inside `location`, or None when it holds none.

    Named locations are looked through, and of a fused or call-site location the first part that
    has a file counts: that is where the user wrote the operation.
    """
    location = _specific(location)
    if isinstance(location, ir.FileLineColLoc):
        return SourceLocation(_text(location.filename), location.start_line, location.start_col)
    if isinstance(location, ir.NameLoc):
        return location_of(location.child_loc)
    if isinstance(location, ir.CallSiteLoc):
        return location_of(location.callee) or location_of(location.caller)
    if isinstance(location, ir.FusedLoc):
        for part in location.locations:
            if (found := location_of(part)) is not None:
                return found
    return None


def inner_locations(location: ir.Location) -> tuple[str | None, Sequence[ir.Location]]:
    """The name of a location, if it is a named one, and the locations that it is made of."""
    location = _specific(location)
    if isinstance(location, ir.NameLoc):
        return _text(location.name_str), (location.child_loc,)
    if isinstance(location, ir.CallSiteLoc):
        return None, (location.callee, location.caller)
    if isinstance(location, ir.FusedLoc):
        return None, location.locations
    return None, ()


_LOCATION_CLASSES = (ir.FileLineColLoc, ir.NameLoc, ir.CallSiteLoc, ir.FusedLoc)


def _specific(location: ir.Location) -> ir.Location:
    """`location` as its own class: the bindings hand out some locations as plain ones."""
    if type(location) is ir.Location:
        for location_class in _LOCATION_CLASSES:
            try:
                return location_class(location)
            except ValueError:
                continue
    return location


def _text(value: ir.StringAttr | str) -> str:
    return value if isinstance(value, str) else value.value


_SEVERITIES = {
    ir.DiagnosticSeverity.ERROR: Severity.ERROR,
    ir.DiagnosticSeverity.WARNING: Severity.WARNING,
    ir.DiagnosticSeverity.REMARK: Severity.REMARK,
    ir.DiagnosticSeverity.NOTE: Severity.NOTE,
}


_notes: dict[str, tuple[Diagnostic, ...]] = {}


def emit_error(diagnostic: Diagnostic, location: ir.Location) -> None:
    """Emit an error through MLIR, for a verifier that MLIR called.

    The bindings can't emit notes: `diagnostics_of` adds those of `diagnostic` again.
    """
    if diagnostic.notes:
        _notes[diagnostic.message] = diagnostic.notes
    location.emit_error(diagnostic.message)


def _diagnostic(info: ir.Diagnostic | ir.DiagnosticInfo) -> Diagnostic:
    return Diagnostic(
        _SEVERITIES[info.severity],
        without_group_sizes(info.message),
        location_of(info.location),
        (*_notes.pop(info.message, ()), *(_diagnostic(note) for note in info.notes)),
    )


def diagnostics_of(error: ir.MLIRError) -> tuple[Diagnostic, ...]:
    """The diagnostics that an error of the bindings carries; at least one."""
    found = tuple(_diagnostic(info) for info in error.error_diagnostics)
    return found or (Diagnostic(Severity.ERROR, str(error).strip()),)


@contextlib.contextmanager
def diagnostics_emitted(context: ir.Context) -> Iterator[None]:
    """Hand to `mlir_sdy.diagnostics.emit` what C++ code reports inside the `with` block.

    Those are the warnings and remarks of passes, and all that `Location.emit_error` reports. The
    errors of a failing call are not among them: its exception carries them (`diagnostics_of`).
    """

    def forward(info: ir.Diagnostic) -> bool:
        emit(_diagnostic(info))
        return True

    with context.attach_diagnostic_handler(forward):
        yield
