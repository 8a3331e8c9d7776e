# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of graphs of PyTorch to StableHLO.

1. Operations are decomposed (`decomposing`, with the definitions in `decompositions`).
2. The importer of the MLIR host converts the graph.
3. The operations that the importer passes on are lowered (`lowerings`).
4. Dimensions that PyTorch merges around matrix products are restored (the pass
   `sdy-unmerge-batch-dimensions`).

An operation of `model.layers[0].up` gets the location `"layers.0/up/linear"("model.py":40)`, in the
form that JAX has for scopes. The importer takes locations from stack traces only, so that the name
travels there as a further frame.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch.fx import Graph, GraphModule, Node

from mlir_sdy.diagnostics import PassError, UsageError, error
from mlir_sdy.dialect import Context
from mlir_sdy.host import context_for_torch, identity, imported_from_torch, ir, location_of
from mlir_sdy.stages import stage
from mlir_sdy.traversal import operations_in
from mlir_sdy.uses import replace_by
from pyshardy.frontends.torch import failures
from pyshardy.frontends.torch.conversion import convert, start_conversion
from pyshardy.frontends.torch.decomposing import Decomposer, DecompositionError
from pyshardy.frontends.torch.decompositions import decomposition_of
from pyshardy.frontends.torch.frames import folder_of_torch, frames_outside
from pyshardy.frontends.torch.lowerings import has_lowering, lower_calls, lowering_of
from pyshardy.frontends.torch.lowerings.builder import is_unsigned
from pyshardy.irtools.constants import splat_of
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import CompareView, ConstantView, IotaView
from pyshardy.irtools.tensor_types import element_type_of
from pyshardy.irtools.walks import operations_named
from pyshardy.passes.importing import (
    explicit_gather_scatter_batching,
    unmerge_batch_dimensions,
)
from pyshardy.pipeline.collection import collect_young_objects

_DIALECTS = {"builtin", "func", "stablehlo", "chlo", "sdy"}


def import_graph(module: GraphModule, context: ir.Context | None = None) -> ir.Module:
    """Convert a graph of PyTorch to a StableHLO module with the function `@main`.

    The arguments and results of the function are those of the graph. Operations are located in the
    user's source, and named by their modules.

    Args:
        module: a graph that changes no tensor in place and has only tensors as inputs and outputs,
            such as that of an exported program or a joint graph of forward and backward.
        context: a context with the dialect; a new one by default.

    Raises:
        PassError: an operation can't be expressed in StableHLO.
    """
    start_conversion()
    decomposer = Decomposer(decomposition_of, has_lowering)
    if (refusal := failures.of_data_dependence(module)) is not None:
        raise PassError(refusal)
    try:
        with (
            stage(f"decomposing {len(module.graph.nodes)} operations of PyTorch"),
            failures.without_logs(),
        ):
            graph = decomposer.decompose(module)
    except DecompositionError as failure:
        if isinstance(failure.failure, UsageError):  # of a function of shards
            raise PassError(failures.of_usage(failure.node, failure.failure)) from None
        reason = failures.reason_of(failure.failure)
        raise PassError(failures.of_operation(failure.node, reason)) from None
    graphs = {"main": graph, **decomposer.graphs}
    constants = _module_with(decomposer.constants)
    for each in graphs.values():
        each.owning_module = constants

    def prepare() -> None:
        nonlocal context
        context = context or Context()
        _ContextForTorch.renew()
        collect_young_objects()

    for each in graphs.values():
        _locate_in_source_of_user(each)
    try:
        with stage(f"converting {len(graph.nodes)} operations to StableHLO"):
            source = imported_from_torch(graphs, _is_call, _ContextForTorch.current())
            converted = convert(source.bytecode, prepare)
            assert context is not None, "'prepare' has been called"
            imported = ir.Module.parse(converted, context)  # which verifies it
    except Exception as failure:  # the importer has no class for it
        raise PassError(failures.of_importer(graphs.values(), _is_call, failure)) from None
    lower_calls(imported, source.calls)
    name_locations(imported)
    _replace_constants(imported)
    _replace_dynamic_iotas(imported)
    _drop_neutral_operands(imported)
    _wrap_bytes(imported)
    _drop_comparison_types(imported)
    _check_dialects(imported)
    for function in functions_of(imported):
        explicit_gather_scatter_batching(function)
        unmerge_batch_dimensions(function)
    return imported


class _ContextForTorch:
    """The context of the next import, which is made while the child process converts."""

    _next: ClassVar[ir.Context | None] = None

    @classmethod
    def current(cls) -> ir.Context:
        """Return a context, which may be that of an import that has failed."""
        cls._next = cls._next or context_for_torch()
        return cls._next

    @classmethod
    def renew(cls) -> None:
        """Replace the context by a new one, so that nothing of a program is kept."""
        cls._next = context_for_torch()


def _module_with(constants: Mapping[str, torch.Tensor]) -> GraphModule:
    """Return a module that has tensors as attributes, where the importer looks for them."""
    module = GraphModule({}, Graph())
    for name, constant in constants.items():
        setattr(module, name, constant)
    return module


def _is_call(node: Node) -> bool:
    return lowering_of(node) is not None


def _locate_in_source_of_user(graph: Graph) -> None:
    folder = folder_of_torch()
    for node in graph.nodes:
        if trace := node.meta.get("stack_trace"):
            scope = frame_of(
                node.meta.get("nn_module_stack"), node.meta.get("origin_name", node.name)
            )
            node.meta["stack_trace"] = scope + frames_outside(trace, folder)


def _check_dialects(module: ir.Module) -> None:
    """Raise an error for operations of other dialects that the importer left."""
    for operation in operations_in(module.operation):
        name = operation.operation.name
        if name.partition(".")[0] not in _DIALECTS:
            message = (
                f"cannot import the PyTorch program: this operation becomes '{name}', which is not "
                "a StableHLO operation; do not extract numbers from tensors or use data-dependent "
                "shapes"
            )
            raise PassError(error(message, location_of(operation.location)))


def _replace_constants(module: ir.Module) -> None:
    """Replace the constants of `arith` that the importer left by those of StableHLO."""
    for constant in operations_named(["arith.constant"], module):
        with ir.InsertionPoint(constant), constant.location:
            replaced = StablehloBuilder().literal(ConstantView(constant).value)
        replace_by(constant, replaced)


def _replace_dynamic_iotas(module: ir.Module) -> None:
    """Replace iotas whose shape is an operand, though it is known; Shardy has no rule for them."""
    for iota in operations_named(["stablehlo.dynamic_iota"], module):
        with ir.InsertionPoint(iota), iota.location:
            dim = IotaView(iota).iota_dimension
            static = StablehloBuilder().iota(iota.results[0].type, dim)
        replace_by(iota, static)


_NEUTRAL = {"stablehlo.add": 0, "stablehlo.multiply": 1}


def _drop_neutral_operands(module: ir.Module) -> None:
    """Replace `x + 0` and `x * 1` of integers by `x`.

    The importer adds a start to each range, and multiplies it by a step. A gather whose indices
    are a range as such has batch dimensions.
    """
    for operation in operations_named(_NEUTRAL, module):
        number = splat_of(operation.operands[1])
        if isinstance(number, ir.IntegerAttr) and number.value == _NEUTRAL[operation.name]:
            replace_by(operation, operation.operands[0])


def _wrap_bytes(module: ir.Module) -> None:
    """Convert numbers to bytes by way of integers: negative ones wrap around, as in PyTorch."""
    for conversion in operations_named(["stablehlo.convert"], module):
        (value,), (result,) = conversion.operands, conversion.results
        is_byte = str(element_type_of(result.type)) == "ui8"
        if is_byte and isinstance(element_type_of(value.type), ir.FloatType):
            with ir.InsertionPoint(conversion), conversion.location:
                integer = ir.IntegerType.get_signless(64)
                conversion.operands[0] = StablehloBuilder().convert(value, integer)


def _drop_comparison_types(module: ir.Module) -> None:
    """Drop the types of comparisons that don't fit; the importer compares booleans as signed."""
    for compare in operations_named(["stablehlo.compare"], module):
        if is_unsigned(compare.operands[0]):
            CompareView(compare).compare_type = None


_PREFIX = "pyshardy.scope:"


def frame_of(module_stack: Mapping[str, tuple[str, Any]] | None, operation: str) -> str:
    """Return the frame that names the scopes of an operation; an empty text without any.

    Args:
        module_stack: the paths of the modules around it, the innermost last (see `torch.fx`).
        operation: the name of the operation.
    """
    path = [*module_stack.values()][-1][0] if module_stack else ""
    if not path:
        return ""
    scopes = re.sub(r"\.(?!\d+(?:[.)]|\Z))", "/", path)  # the number of a layer stays at its list
    return f'  File "{_PREFIX}{scopes}/{operation}", line 1, in forward\n    \n'


def name_locations(module: ir.Module) -> None:
    """Replace these frames by names around the locations of operations.

    The locations of arguments, which are those of their first users, lose the frames.
    """
    known: dict[int, tuple[str, ir.Location | None]] = {}

    def parts(location: ir.Location) -> tuple[str, ir.Location | None]:
        key = identity(location.attr)
        if key not in known:
            known[key] = _without_frame(location)
        return known[key]

    for view in operations_in(module.operation):
        operation = view.operation
        name, rest = parts(operation.location)
        if name and rest is not None:
            operation.location = ir.Location.name(name, rest, operation.context)
        for block in (block for region in operation.regions for block in region.blocks):
            for argument in block.arguments:
                name, rest = parts(argument.location)
                if name and rest is not None:
                    argument.set_location(rest)


def _without_frame(location: ir.Location) -> tuple[str, ir.Location | None]:
    """Return the name in a location, or an empty text, and the location without its frame."""
    if isinstance(location, ir.FileLineColLoc):
        filename = str(location.filename).strip('"')
        is_frame = filename.startswith(_PREFIX)
        return (filename.removeprefix(_PREFIX), None) if is_frame else ("", location)
    if isinstance(location, ir.CallSiteLoc):
        inner, outer = _without_frame(location.callee), _without_frame(location.caller)
        if inner[1] is None or outer[1] is None:
            return inner[0] or outer[0], inner[1] or outer[1]
        both = ir.Location.callsite(inner[1], [outer[1]], context=location.context)
        return inner[0] or outer[0], both
    if isinstance(location, ir.FusedLoc):
        parts = [_without_frame(part) for part in location.locations]
        kept = [part for _, part in parts if part is not None]
        name = next((name for name, _ in parts if name), "")
        return name, ir.Location.fused(kept, context=location.context) if kept else None
    return "", location
