# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation of StableHLO to machine code by the host's passes."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.host import (
    COPIES_TO_LOOPS,
    EXPAND_FOR_LLVM,
    diagnostics_of,
    hand_out_all_constants,
    ir,
    load_loop_passes,
    load_stablehlo,
    passmanager,
)
from mlir_sdy.uses import replace_by
from pyshardy.backends.jit.machine_code import UnresolvedError, machine_code
from pyshardy.backends.jit.small_floats import drop_signs, expand_small_floats
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.tensor_spec import Array
from pyshardy.local_program.values import spec_of
from pyshardy.processes.worker import Runner, serve_programs

_OPERATION = re.compile(r"\b(?:stablehlo|chlo)\.\w+")
_TO_LINALG = ("stablehlo-legalize-to-linalg",)
TO_LOOPS = (
    "one-shot-bufferize{bufferize-function-boundaries=1 allow-return-allocs-from-loops=1 "
    "function-boundary-type-conversion=identity-layout-map}",
    "buffer-results-to-out-params{modify-public-functions=true}",
    "buffer-deallocation-pipeline",
    "canonicalize",
    # Copies by the host's run-time library would be unresolved.
    COPIES_TO_LOOPS,
    "func.func(convert-linalg-to-loops)",
    "func.func(llvm-request-c-wrappers)",
)
"""The passes from tensors to loops over buffers, with the interface of `CompiledProgram`."""

_TO_LOOPS = ("canonicalize", "cse", *TO_LOOPS)
BODIES_TO_LLVM = (
    "convert-complex-to-standard",
    "convert-scf-to-cf",
    "expand-strided-metadata",
    "lower-affine",
    EXPAND_FOR_LLVM,
    "func.func(arith-expand)",
    "convert-complex-to-llvm",
    "convert-math-to-llvm",
    "convert-math-to-libm",
)
"""The passes that lower control flow, addresses and arithmetic for LLVM."""

_TO_LLVM = (
    *BODIES_TO_LLVM,
    "convert-arith-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm",
    "convert-arith-to-llvm",
    "convert-cf-to-llvm",
    "convert-index-to-llvm",
    "reconcile-unrealized-casts",
)


def compile_text(text: str, context: ir.Context, optimization: int) -> CompiledProgram:
    """Compile a program whose arguments and results are plain arrays.

    Raises:
        RuntimeError: a pass rejects the program.
    """
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        entry = ir.SymbolTable(module.operation)[ENTRY]
        results = [spec_of(each) for each in function_type_of(entry.operation).results]
        try:
            _run(module, ("inline",))
            _drop_empty_tensors(module)
            use_scf(module)
            _run(module, _TO_LINALG)
            drop_signs(module)
            _keep_arguments(entry.operation)
            _run(module, _TO_LOOPS)
            expand_small_floats(module, text)
            call_library(module)
            _run(module, _TO_LLVM)
        except ir.MLIRError as refusal:
            raise RuntimeError(_message(refusal, text)) from None
        try:
            address, code = machine_code(module, ENTRY, optimization)
        except UnresolvedError as unresolved:
            raise RuntimeError(_needs(unresolved, text)) from None
    shapes = [(spec.shape, spec.dtype) for spec in results]
    return CompiledProgram(address, code, shapes)


def _keep_arguments(entry: ir.Operation) -> None:
    """Mark the arguments as read-only, since they may be shared."""
    kept = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
    count = len(function_type_of(entry).inputs)
    FunctionView(entry).arg_attrs = [kept] * count


def _run(module: ir.Module, passes: Sequence[str]) -> None:
    pipeline = f"builtin.module({','.join(passes)})"
    passmanager.PassManager.parse(pipeline).run(module.operation)


def _message(refusal: ir.MLIRError, text: str) -> str:
    """Return the message of a failed pass, with the operation of the program that it refers to."""
    diagnostics = diagnostics_of(refusal)
    notes = [note.message for each in diagnostics for note in each.notes]
    message = "; ".join([*(each.message for each in diagnostics), *notes])
    operation = _operation_at(diagnostics[0].location, text)
    return message if operation is None or operation in message else f"'{operation}': {message}"


def _needs(unresolved: UnresolvedError, text: str) -> str:
    """Return the message that lists unresolved functions and the operations that need them."""
    parts: list[str] = []
    for function, place in unresolved.uses.items():
        operation = _operation_at(place, text)
        subject = "the program" if operation is None else f"'{operation}'"
        parts.append(f"{subject} needs the function '{function}', which this process doesn't have")
    return "; ".join(parts)


def _operation_at(place: SourceLocation | None, text: str) -> str | None:
    """Return the name of the StableHLO operation in a line of a program."""
    lines = text.splitlines()
    if place is None or not 0 < place.line <= len(lines):
        return None
    match = _OPERATION.search(lines[place.line - 1])
    return match[0] if match else None


class CompiledProgram:
    """Machine code that takes and returns arrays.

    Args:
        address: of a C function that takes an array of pointers to pointers to descriptors of
            memory, first those of the arguments, then those of the results.
        code: the owner of the code.
        results: the shapes and types of the results.
    """

    def __init__(
        self,
        address: int,
        code: object,
        results: Sequence[tuple[tuple[int, ...], np.dtype[np.generic]]],
    ):
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
        self._code = code
        self._results = results

    def __call__(self, arguments: Sequence[Array]) -> list[Array]:
        """Run the code."""
        results: list[Array] = [np.empty(shape, dtype) for shape, dtype in self._results]
        held = [np.asarray(each, order="C") for each in arguments] + results
        descriptors = [_descriptor(each) for each in held]
        pointers = (ctypes.c_void_p * len(held))(*(each.ctypes.data for each in descriptors))
        size = ctypes.sizeof(ctypes.c_void_p)
        start = ctypes.addressof(pointers)
        packed = (ctypes.c_void_p * len(held))(*(start + size * at for at in range(len(held))))
        self._call(ctypes.addressof(packed))
        return results


def _descriptor(array: Array) -> np.ndarray:
    """Return the memref descriptor of an array: two pointers, an offset, sizes, and strides."""
    strides = [step // array.itemsize for step in array.strides]
    pointer = array.ctypes.data
    return np.array([pointer, pointer, 0, *array.shape, *strides], np.int64)


# --- Tensors without elements --------------------------------------------------------------------


def _drop_empty_tensors(module: ir.Module) -> None:
    """Remove computations on tensors without elements, which the host can't slice from others.

    1. A value without elements becomes a constant.
    2. `concatenate` keeps the operands that have elements.
    3. `dynamic_update_slice` with an empty update is replaced by its operand.
    4. `pad` of an empty operand is replaced by its padding.
    """
    for name, replacement in _WITH_EMPTY_OPERANDS.items():
        for operation in operations_named({name}, module):
            if _is_empty(operation.results[0].type):
                continue
            with operation.context, operation.location, ir.InsertionPoint(operation):
                value = replacement(operation)
            if value is not None:
                replace_by(operation, value)
    made: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        makes_any = any(_is_empty(result.type) for result in operation.results)
        if makes_any and operation.name != "stablehlo.constant":
            made.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for operation in made:
        with operation.context, operation.location, ir.InsertionPoint(operation):
            for result in operation.results:
                if _is_empty(result.type):
                    result.replace_all_uses_with(_nothing(ir.RankedTensorType(result.type)))
        if all(_is_empty(result.type) for result in operation.results):
            operation.erase()


def _joined(concatenate: ir.Operation) -> ir.Value | None:
    kept = [value for value in concatenate.operands if not _is_empty(value.type)]
    if len(kept) == len(concatenate.operands):
        return None
    return _like(concatenate, concatenate.name, kept, dict(concatenate.attributes.items()))


def _updated(update: ir.Operation) -> ir.Value | None:
    operand, window, *_ = update.operands
    return operand if _is_empty(window.type) else None


def _padding(pad: ir.Operation) -> ir.Value | None:
    operand, filler = pad.operands
    if not _is_empty(operand.type):
        return None
    nowhere: dict[str, ir.Attribute] = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    return _like(pad, "stablehlo.broadcast_in_dim", [filler], nowhere)


_WITH_EMPTY_OPERANDS: dict[str, Callable[[ir.Operation], ir.Value | None]] = {
    "stablehlo.concatenate": _joined,
    "stablehlo.dynamic_update_slice": _updated,
    "stablehlo.pad": _padding,
}


def _like(
    operation: ir.Operation,
    name: str,
    operands: list[ir.Value],
    attributes: dict[str, ir.Attribute],
) -> ir.Value:
    return ir.Operation.create(
        name,
        results=[operation.results[0].type],
        operands=operands,
        attributes=attributes,
    ).result


def _nothing(tensor: ir.RankedTensorType) -> ir.Value:
    return StablehloBuilder().empty(tensor)


def _is_empty(value_type: ir.Type) -> bool:
    return isinstance(value_type, ir.RankedTensorType) and 0 in value_type.shape


# --- Control flow ---------------------------------------------------------------------------------


def use_scf(module: ir.Module) -> None:
    """Replace all `stablehlo.while`, `if` and `case`, in place."""
    convert = {
        "stablehlo.while": _while_to_scf,
        "stablehlo.if": _if_to_scf,
        "stablehlo.case": _case_to_scf,
    }
    # Inner ones first, before the regions around them move.
    for operation in operations_named(convert, module, ir.WalkOrder.POST_ORDER):
        with operation.context, operation.location, ir.InsertionPoint(operation):
            replacement = convert[operation.name](operation)
        replace_by(operation, *replacement.results)


def _while_to_scf(loop: ir.Operation) -> ir.Operation:
    """Build `scf.while`, whose condition passes its arguments to the body."""
    condition, body = loop.regions
    replacement = _create("scf.while", loop, list(loop.operands), regions=2)
    for source, target in zip((condition, body), replacement.regions, strict=True):
        source.blocks[0].append_to(target)
    before, after = (region.blocks[0] for region in replacement.regions)
    goes_on = _returned(before)[0]
    with ir.InsertionPoint(_terminator(before)):
        ir.Operation.create("scf.condition", operands=[_scalar(goes_on), *before.arguments])
    _terminator(before).erase()
    _yield(after)
    return replacement


def _if_to_scf(branches: ir.Operation) -> ir.Operation:
    choice = _scalar(branches.operands[0])
    replacement = _create("scf.if", branches, [choice], regions=2)
    _move_branches(branches.regions, replacement.regions)
    return replacement


def _case_to_scf(branches: ir.Operation) -> ir.Operation:
    """Build nested `scf.if`; the last branch is the default.

    The host's bufferization overlooks that a result of `scf.index_switch` may be a value from
    outside, which it overwrites while the result is used.
    """
    index = _scalar(branches.operands[0])
    if len(branches.regions) > 1:
        return _chosen(branches, index, list(branches.regions))
    only = _create("scf.execute_region", branches, [], regions=1)
    _move_branches(branches.regions, only.regions)
    return only


def _chosen(
    branches: ir.Operation, index: ir.Value, regions: Sequence[ir.Region], number: int = 0
) -> ir.Operation:
    """Build the choice between a branch of a number and the ones behind it."""
    first, *others = regions
    literal = ir.IntegerAttr.get(index.type, number)
    given = {"value": literal}
    constant = ir.Operation.create("arith.constant", results=[index.type], attributes=given)
    equal = {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
    is_first = ir.Operation.create(
        "arith.cmpi",
        results=[ir.IntegerType.get_signless(1)],
        operands=[index, constant.result],
        attributes=equal,
    ).result
    choice = _create("scf.if", branches, [is_first], regions=2)
    if len(others) == 1:
        _move_branches(regions, choice.regions)
        return choice
    _move_branches([first], [choice.regions[0]])
    with ir.InsertionPoint(choice.regions[1].blocks.append()):
        further = _chosen(branches, index, others, number + 1)
        ir.Operation.create("scf.yield", operands=list(further.results))
    return choice


def _create(
    name: str,
    original: ir.Operation,
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute] | None = None,
    *,
    regions: int,
) -> ir.Operation:
    return ir.Operation.create(
        name,
        results=[result.type for result in original.results],
        operands=list(operands),
        attributes=dict(attributes or {}),
        regions=regions,
    )


def _move_branches(sources: Sequence[ir.Region], targets: Sequence[ir.Region]) -> None:
    for source, target in zip(sources, targets, strict=True):
        source.blocks[0].append_to(target)
        _yield(target.blocks[0])


def _scalar(tensor: ir.Value) -> ir.Value:
    """The element of a tensor of rank 0."""
    element = ir.RankedTensorType(tensor.type).element_type
    return ir.Operation.create("tensor.extract", results=[element], operands=[tensor]).result


def _yield(block: ir.Block) -> None:
    """Replace the return of a block by `scf.yield`."""
    terminator = _terminator(block)
    with ir.InsertionPoint(terminator), terminator.location:
        ir.Operation.create("scf.yield", operands=list(terminator.operands))
    terminator.erase()


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def _returned(block: ir.Block) -> list[ir.Value]:
    return list(_terminator(block).operands)


# --- Calls of the C library -----------------------------------------------------------------------


_FUNCTIONS = {"math.expm1": "expm1", "math.log1p": "log1p", "math.tanh": "tanh"}
"""Near zero, the formulas of the passes (`exp(x) - 1`, `log(1 + x)`) have no correct digit."""


def call_library(module: ir.Module) -> None:
    """Replace operations on f32 and f64 by calls of functions of the C library, in place."""
    declared: set[str] = set()
    for operation in operations_named(_FUNCTIONS, module):
        (operand,) = operation.operands
        element = operand.type
        suffixes = {"f32": "f", "f64": ""}
        if str(element) not in suffixes:
            continue
        name = _FUNCTIONS[operation.name] + suffixes[str(element)]
        with module.context, operation.location:
            if name not in declared:
                _declare(module, name, element)
                declared.add(name)
            with ir.InsertionPoint(operation):
                call = ir.Operation.create(
                    "func.call",
                    results=[element],
                    operands=[operand],
                    attributes={"callee": ir.FlatSymbolRefAttr.get(name)},
                )
        replace_by(operation, call.results[0])


def _declare(module: ir.Module, name: str, element: ir.Type) -> None:
    text = f"func.func private @{name}({element}) -> {element} attributes {{llvm.readnone}}"
    declaration = ir.Module.parse(text)
    module.body.append(declaration.body.operations[0])


# --- The process, `python -m` this module, with the level of optimization -------------------------


def run_programs(optimization: int) -> None:
    """Run programs until there are no more requests."""
    context = ir.Context()
    load_stablehlo(context)
    load_loop_passes()
    hand_out_all_constants(context)

    def load(text: str) -> Runner:
        return compile_text(text, context, optimization)

    serve_programs(load)


if __name__ == "__main__":
    run_programs(int(sys.argv[1]))
