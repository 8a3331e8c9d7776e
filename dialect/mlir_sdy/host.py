# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The MLIR host: the only module that imports the package of the MLIR Python bindings.

All other code imports the bindings from here, so that another distribution of the same upstream
bindings needs a change in this file only. Importing it loads the bindings' shared libraries (about
a quarter of a second), so tools import it lazily.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import io
import os
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mlir_sdy.diagnostics import Diagnostic, Severity, SourceLocation, emit
from mlir_sdy.isolation import isolate_extensions
from mlir_sdy.late_numpy import numpy_loaded_late
from mlir_sdy.ods.irdl_groups import without_group_sizes

isolate_extensions("torch_mlir")  # Before the bindings are loaded; hence the order of imports.

import torch_mlir._mlir_libs._mlir as cext  # noqa: E402

with numpy_loaded_late():
    from torch_mlir import ir, passmanager, rewrite
from torch_mlir._mlir_libs import _stablehlo as stablehlo  # noqa: E402
from torch_mlir.dialects import _ods_common as ods_common  # noqa: E402
from torch_mlir.dialects import ext, func, irdl  # noqa: E402

__all__ = [
    "COPIES_TO_LOOPS",
    "EXPAND_FOR_LLVM",
    "TORCH_CALL",
    "TORCH_TO_STABLEHLO",
    "MissingFunctionsError",
    "TorchConversion",
    "TorchImport",
    "cext",
    "context_for_torch",
    "current_context",
    "decompositions_of_torch",
    "diagnostics_emitted",
    "diagnostics_of",
    "emit_error",
    "ext",
    "func",
    "function_address",
    "hand_out_all_constants",
    "identity",
    "imported_from_torch",
    "ir",
    "irdl",
    "load_loop_passes",
    "load_stablehlo",
    "location_of",
    "ods_common",
    "parse_operation",
    "passmanager",
    "readable",
    "rewrite",
    "stablehlo",
    "tensor_arguments",
]

_DIALECTS_WITHOUT_PYTHON_MODULE = (
    *("stablehlo", "chlo", "vhlo", "interpreter", "check"),
    *("sdy", "mpmd"),
)


def _provide_dialect_modules() -> None:
    """Provide empty Python modules for dialects without bindings.

    The bindings import the module of an operation's dialect to create its Python object, and do not
    cache failures, which cost 15 microseconds for every operation visited.
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
    # CHLO is loaded only as a dependency of a pass that runs.
    with context, ir.Location.unknown():
        passmanager.PassManager.parse("builtin.module(stablehlo-compatibility-expander)").run(
            ir.Module.create().operation
        )


def load_loop_passes() -> None:
    """Register the passes that lower tensor programs to loops and LLVM, in addition to MLIR's."""
    importlib.import_module("torch_mlir.dialects.torch")


COPIES_TO_LOOPS = "func.func(refback-munge-memref-copy)"
"""A pass of the host, see `load_loop_passes`, that lowers copies to loops instead of calls."""

EXPAND_FOR_LLVM = "func.func(refback-expand-ops-for-llvm)"
"""A pass of the host that expands operations without a conversion to the LLVM dialect."""


class MissingFunctionsError(RuntimeError):
    """Compiled code calls functions that this process doesn't have.

    Attributes:
        functions: the names of the functions.
    """

    def __init__(self, functions: Sequence[str]):
        super().__init__(f"the code calls undefined functions: {', '.join(functions)}")
        self.functions = tuple(functions)


def function_address(module: ir.Module, name: str, optimization: int) -> tuple[int, object]:
    """Compile a module of the LLVM dialect, and return a function of it with a C interface.

    Args:
        module: the module, which is not changed.
        name: the function, which has the attribute `llvm.emit_c_interface`.
        optimization: from 0, to compile fast, to 3, to run fast.

    Returns:
        The address of a C function that takes an array of pointers to the arguments, and the
        owner of its code, to be kept as long as the function is in use.

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
    """Capture the output of C++ code to standard error, which has the names of missing functions.

    The output is complete after the `with` block.
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
    """Make the bindings return constants of any element type; `context` may be any context.

    Without this, constants of other elements than numbers raise a `TypeError` or crash. Complex
    ones become plain `ir.DenseElementsAttr`.
    """
    kind = ir.Attribute.parse("dense<0> : tensor<i1>", context).typeid
    cext.register_type_caster(kind, replace=True)(_specific_elements)


def _specific_elements(attribute: ir.Attribute) -> ir.DenseElementsAttr:
    elements = ir.DenseElementsAttr(attribute)
    # Reading the type first is faster than a conversion that fails, whose error has the whole text.
    match elements.type.element_type:
        case ir.FloatType():
            return ir.DenseFPElementsAttr(attribute)
        case ir.IntegerType() | ir.IndexType():
            return ir.DenseIntElementsAttr(attribute)
        case _:
            return elements


TORCH_TO_STABLEHLO = (
    "builtin.module("
    "func.func(torch-match-quantized-custom-ops),"
    "torchdynamo-export-to-torch-backend-pipeline,"
    "torch-backend-to-stablehlo-backend-pipeline)"
)


def decompositions_of_torch() -> dict[Any, Any]:
    """Return the decompositions of PyTorch operations that `imported_from_torch` needs."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table  # noqa: PLC0415

    return get_decomposition_table()


TORCH_CALL = "pyshardy.torch_call"
"""The target of the custom calls for nodes that the importer passes on; see `TorchImport`."""


@dataclasses.dataclass(frozen=True)
class TorchImport:
    """A module of the dialect of PyTorch, for graphs of PyTorch.

    Attributes:
        bytecode: the module, with locations.
        calls: the nodes that became calls. `TorchConversion` makes them custom calls of
            `TORCH_CALL`. The `backend_config` of a custom call is the index of its node. The
            operands are the tensors among the arguments of the node, in the order of its tree of
            arguments.
    """

    bytecode: bytes
    calls: Sequence[Any]


def context_for_torch() -> ir.Context:
    """Return a context for `imported_from_torch`."""
    from torch_mlir.dialects import torch  # noqa: PLC0415

    context = ir.Context()
    torch.register_dialect(context)
    return context


def imported_from_torch(
    graphs: Mapping[str, Any], is_call: Callable[[Any], bool], context: ir.Context
) -> TorchImport:
    """Convert graphs of PyTorch to a module of the dialect of PyTorch.

    Requires PyTorch.

    Args:
        graphs: a `torch.fx.Graph` for each function, functional and decomposed. The arguments of a
            function are its placeholders, including parameters, buffers and constants.
        is_call: whether a node of a graph becomes a call instead.
        context: a context of `context_for_torch`, which keeps PyTorch's dialects away from the
            user's.

    Raises:
        Exception: the importer doesn't support a node of a graph. It has no class for this, and
            fails by assertions, too.
    """
    from torch_mlir.extras.fx_importer import FxImporter, GraphNodeImporter  # noqa: PLC0415

    calls: list[Any] = []

    class NodeImporter(GraphNodeImporter):
        """The importer of nodes, with a call of an undefined function for some."""

        def _import_torch_op_overload(
            self, loc: ir.Location, node: Any, concrete_target: Any = None
        ) -> None:
            if concrete_target is None and is_call(node):
                self._import_as_call(loc, node)
            else:
                super()._import_torch_op_overload(loc, node, concrete_target)

        def _import_hop(self, loc: ir.Location, node: Any, hop: Any) -> None:
            if is_call(node):
                self._import_as_call(loc, node)
            else:
                super()._import_hop(loc, node, hop)

        def _import_argument(
            self, loc: ir.Location, arg: Any, expected_jit_type: Any = None
        ) -> ir.Value:
            if (arg, 0) in self._v:  # the importer would make a constant for each use
                return self.resolve_node_value(arg)
            return super()._import_argument(loc, arg, expected_jit_type)

        def _import_as_call(self, loc: ir.Location, node: Any) -> None:
            operands = [self._import_argument(loc, one) for one in tensor_arguments(node)]
            values: Any = node.meta["val"]
            is_tuple = type(values) in (tuple, list)
            listed: Sequence[Any] = values if is_tuple else [values]
            kept = {
                index: self._cc.value_info_to_type(value)
                for index, value in enumerate(listed)
                if value is not None
            }
            name = f"{TORCH_CALL}.{len(calls)}"
            calls.append(node)
            kind = ir.FunctionType.get([one.type for one in operands], [*kept.values()], self._c)
            with loc:
                declared = func.FuncOp(name, kind, ip=self.fx_importer._m_ip, visibility="private")
            self.fx_importer.symbol_table.insert(declared)
            call = ir.Operation.create(
                "func.call",
                results=[*kept.values()],
                operands=operands,
                attributes={"callee": ir.FlatSymbolRefAttr.get(name, self._c)},
                loc=loc,
            )
            for result, index in zip(call.results, kept, strict=True):
                self.bind_node_value(node, result, index)
            if is_tuple:
                self._multi_result_nodes.add(node)

    importer = FxImporter(context=context, graph_node_importer_cls=NodeImporter)
    for name, graph in graphs.items():
        importer.import_stateless_graph(graph, func_name=name)
    return TorchImport(_bytecode_of(importer.module.operation), calls)


def _bytecode_of(operation: ir.Operation) -> bytes:
    written = io.BytesIO()
    operation.write_bytecode(written)
    return written.getvalue()


class TorchConversion:
    """The conversion of one module from the dialect of PyTorch to StableHLO.

    The dialects are loaded and the passes are initialized ahead. This takes longer than to convert
    a small program.
    """

    def __init__(self) -> None:
        self._context = context_for_torch()
        # The check of the result, in the middle, refuses calls of functions.
        passes = passmanager.PassManager.parse(TORCH_TO_STABLEHLO, self._context)
        before, check, after = str(passes).partition(_CHECK_OF_STABLEHLO)
        self._before = self._unverified(before.removesuffix(",") + ")")
        self._after = self._unverified(f"builtin.module({check}{after}")
        with self._context:
            self._convert(ir.Module.parse("func.func @main() { return }").operation)

    def convert(self, bytecode: bytes) -> bytes:
        """Convert a module; some operations abort the process.

        Args:
            bytecode: the module, see `TorchImport`.

        Returns:
            The StableHLO module, as bytecode with locations.

        Raises:
            ir.MLIRError: an operation has no counterpart; see `diagnostics_of`.
        """
        with self._context:
            module = ir.Module.parse(bytecode).operation
            self._convert(module)
            return _bytecode_of(module)

    def _convert(self, module: ir.Operation) -> None:
        self._before.run(module)
        _convert_torch_calls(module)
        self._after.run(module)

    def _unverified(self, pipeline: str) -> passmanager.PassManager:
        """Return passes without verification after each, which takes a quarter of the time."""
        passes = passmanager.PassManager.parse(pipeline, self._context)
        passes.enable_verifier(False)
        return passes


_CHECK_OF_STABLEHLO = "torch-verify-stablehlo-backend-contract"


def tensor_arguments(node: Any) -> list[Any]:
    """Return the nodes among the arguments of a node of PyTorch, in the order of their tree."""
    from torch.fx import Node  # noqa: PLC0415
    from torch.utils import _pytree as pytree  # noqa: PLC0415

    leaves = pytree.tree_leaves((node.args, node.kwargs))
    return [leaf for leaf in leaves if isinstance(leaf, Node)]


def _convert_torch_calls(module: ir.Operation) -> None:
    """Replace the calls of the functions that `imported_from_torch` declares by custom calls."""
    functions = [*module.regions[0].blocks[0].operations]
    for function in functions:
        if not function.operation.regions[0].blocks:
            function.operation.erase()
            continue
        for call in [*function.operation.regions[0].blocks[0].operations]:
            operation = call.operation
            if operation.name != "func.call":
                continue
            name = ir.FlatSymbolRefAttr(operation.attributes["callee"]).value
            replaced = ir.Operation.create(
                "stablehlo.custom_call",
                results=[one.type for one in operation.results],
                operands=[*operation.operands],
                attributes={
                    "call_target_name": ir.StringAttr.get(TORCH_CALL),
                    "backend_config": ir.StringAttr.get(name.rpartition(".")[2]),
                },
                loc=operation.location,
                ip=ir.InsertionPoint(operation),
            )
            for before, after in zip(operation.results, replaced.results, strict=True):
                before.replace_all_uses_with(after)
            operation.erase()


def current_context() -> ir.Context:
    """Return the context of the enclosing `with` block.

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


identity = hash
"""The address of a type, an attribute, a value or a location in MLIR, as a key of dictionaries.

Equal types and attributes have one address in their context, for as long as the context lives, so
the address identifies them at a fraction of the cost of `==`. The bindings make a new Python object
for each access, so `id` doesn't. The bindings' hash is the address.

The hash of an operation depends on its operands and attributes. After a change of these, it isn't
found in a dictionary of which it is a key; its results are.
"""


def readable(text: str) -> str:
    """Return a text of MLIR in which slices of scalars are as MLIR reads them, at their places.

    Example: `dynamic_slice %0, , sizes = []` loses a comma.
    """
    return text.replace(", , sizes = []", ",   sizes = []")


def inner_locations(location: ir.Location) -> tuple[str | None, Sequence[ir.Location]]:
    """Return the name of a location, if it has one, and its inner locations."""
    if type(location) is ir.Location:
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
    """Convert `location` to its class, since the bindings return some as plain locations."""
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


_emitted: dict[tuple[str, SourceLocation | None], Diagnostic] = {}
"""Emitted errors with notes or parts, by message and location, until they are converted back.

Verifiers may run in threads of MLIR, which don't have the context variables of the caller.
"""


def emit_error(diagnostic: Diagnostic, location: ir.Location) -> None:
    """Emit an error through MLIR, for a verifier that MLIR called.

    The bindings can't emit notes: `diagnostics_of` adds those of `diagnostic` again, its parts and
    its consequences.
    """
    if diagnostic.notes or diagnostic.parts or diagnostic.consequences:
        _emitted[diagnostic.message, location_of(location)] = diagnostic
    location.emit_error(diagnostic.message)


_MISSING = re.compile(r'op attribute "(\w+)" is expected but not provided')
"""The message of IRDL for a missing attribute, which dialects of C++ word otherwise."""


_MESH_TENSOR = re.compile(
    r'(?P<value>!mpmd\.mesh_tensor<"[^"]*", tensor<[^<>]*>), unit, (?:unit|(?P<kind>"\w*"))>'
)
"""A type of values on a mesh in IRDL's form, without a sharding."""


def _in_custom_syntax(message: str) -> str:
    message = _MISSING.sub(r"op requires attribute '\1'", without_group_sizes(message))
    return _MESH_TENSOR.sub(_of_mesh_tensor, message)


def _of_mesh_tensor(found: re.Match[str]) -> str:
    kind = f", memory_kind={found['kind']}" if found["kind"] else ""
    return f"{found['value']}{kind}>"


def _diagnostic(info: ir.Diagnostic | ir.DiagnosticInfo) -> Diagnostic:
    location = location_of(info.location)
    emitted = _emitted.pop((info.message, location), None)
    return Diagnostic(
        _SEVERITIES[info.severity],
        _in_custom_syntax(info.message),
        location,
        (*(emitted.notes if emitted else ()), *(_diagnostic(note) for note in info.notes)),
        emitted.parts if emitted else (),
        consequences=emitted.consequences if emitted else (),
    )


def diagnostics_of(error: ir.MLIRError) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of an error of the bindings; at least one."""
    found = tuple(_diagnostic(info) for info in error.error_diagnostics)
    return found or (Diagnostic(Severity.ERROR, str(error).strip()),)


@contextlib.contextmanager
def diagnostics_emitted(context: ir.Context) -> Iterator[None]:
    """Pass the diagnostics of C++ code inside the `with` block to `mlir_sdy.diagnostics.emit`.

    These are the warnings and remarks of passes, and the errors of `Location.emit_error`. The
    errors of a failing call are in its exception instead (`diagnostics_of`).
    """

    def forward(info: ir.Diagnostic) -> bool:
        emit(_diagnostic(info))
        return True

    with context.attach_diagnostic_handler(forward):
        yield
