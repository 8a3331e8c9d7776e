# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import of functions that JAX has lowered or exported.

JAX has its own MLIR bindings. Both can be used in one process if they share no objects, so programs
are passed as text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.dialect import Context
from mlir_sdy.discardable import set_discardable, text_of
from mlir_sdy.files import file_access
from mlir_sdy.host import identity, inner_locations, ir, location_of
from mlir_sdy.model import Mesh, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import get_sharding, interface_attributes, rank_of
from pyshardy.backends.jax_internals import (
    Inspection,
    compile_arguments,
    inspections,
    text_and_constants,
)
from pyshardy.frontends.jax.callbacks import (
    is_of_this_process,
    name_process,
    put_on_one_device,
    remember_callbacks,
)
from pyshardy.frontends.jax.custom_partitioning import remember_custom_partitioning
from pyshardy.frontends.jax.dtypes import implementations
from pyshardy.frontends.jax.meshes import abstract_mesh, sharding_for_jax
from pyshardy.frontends.jax.symbolic import annotate_sizes
from pyshardy.irtools.functions import CallGraph, entry_block, erase_arguments, functions_of
from pyshardy.irtools.locations import names_in
from pyshardy.irtools.modules import JAX_STRUCTURE
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, integer_literal
from pyshardy.irtools.stablehlo_views import (
    ConstantView,
    CustomCallView,
    callee_of,
    target_of,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.custom_calls import CUSTOM_CALL, INSPECTION
from pyshardy.local_program.front_end_hooks import before_partitioning
from pyshardy.packages import require
from pyshardy.pipeline import run_pipeline
from pyshardy.sizes.signature import GLOBAL_CONSTANT, entry_of

if TYPE_CHECKING:
    import jax
    import jax.export


_PLATFORM = "_platform_index"
"""The name of the argument with the number of the platform, of functions for several platforms."""

MOST_IN_TEXT = 2**18
"""The number of elements up to which constants are passed as text. No other attribute has more."""


def from_lowered(lowered: jax.stages.Lowered | Any, context: ir.Context | None = None) -> ir.Module:
    """Return the module of a function lowered by JAX.

        lowered = jax.jit(step, in_shardings=...).lower(parameters, batch)
        module = sdy.jax.from_lowered(lowered)

    Meshes, shardings, constraints and manual regions are kept. Arguments are named by their paths
    in the arguments of the function, and operations are located in its source.

    Args:
        lowered: the result of `jax.jit(f).lower(...)`.
        context: a context with the dialect; a new one by default.

    Raises:
        UsageError: JAX is missing, or the argument isn't a lowered function.
        ParseError: the program can't be parsed.
    """
    require("jax", "sdy.jax.from_lowered", extra="jax")
    import jax  # noqa: PLC0415

    if not isinstance(lowered, jax.stages.Lowered):
        got = f"got: {type(lowered).__name__}"
        raise UsageError(error(f"expected the result of 'jax.jit(f).lower(...)', {got}"))
    module = _parsed(lowered, context or Context())
    locate_by_calls(module)
    _locate_in_user_code(module)
    inputs = jax.tree.leaves(lowered.args_info)
    # JAX stores the dropped arguments and the devices nowhere else.
    found = compile_arguments(lowered)
    kept = tuple(sorted(found["kept_var_idx"]))
    annotate_sizes(module, [inputs[index] for index in kept])
    structure = Structure(
        lowered.in_tree,
        lowered.out_tree,
        kept,
        implementations(jax.tree.leaves(lowered.out_info)),
        _mesh((*found["in_shardings"], *found["out_shardings"])),
    )
    remember(structure, module)
    remember_callbacks(found["host_callbacks"], module)
    put_on_one_device(module)
    remember_custom_partitioning(found["keepalive"], module)
    remember_inspections(found["keepalive"], module)
    return module


def _parsed(lowered: jax.stages.Lowered, context: ir.Context) -> ir.Module:
    """Return the module of a lowered function, whose large constants aren't passed as text.

    Text takes several times their memory.
    """
    text, constants = text_and_constants(lowered, MOST_IN_TEXT)
    module = parse(text, context)
    elided = [
        constant
        for constant in operations_named({"stablehlo.constant"}, module)
        if not isinstance(ConstantView(constant).value, ir.DenseElementsAttr)
    ]
    for constant, contents in zip(elided, constants, strict=True):
        tensor = constant.results[0].type
        elements = ir.DenseElementsAttr.get(contents, type=tensor, context=context)
        ConstantView(constant).value = elements
    return module


def _mesh(shardings: Iterable[Any]) -> jax.sharding.Mesh | None:
    """The first mesh that has devices."""
    import jax  # noqa: PLC0415

    for sharding in shardings:
        if isinstance(sharding, jax.sharding.NamedSharding):
            mesh = sharding.mesh
            if isinstance(mesh, jax.sharding.Mesh):
                return mesh
    return None


# --- Exported functions --------------------------------------------------------------------------


def from_exported(
    exported: jax.export.Exported | bytes | bytearray | str | os.PathLike[str],
    context: ir.Context | None = None,
    *,
    platform: str | None = None,
) -> ir.Module:
    """Return the module of a function exported by `jax.export`.

        module = sdy.jax.from_exported(jax.export.export(jax.jit(f))(x))
        module = sdy.jax.from_exported("f.jax")  # the bytes of `serialize()`

    Args:
        exported: the function; or serialized, as bytes or the file with them.
        context: a context with the dialect; a new one by default.
        platform: the platform that the program is for, such as "cpu", if the function was exported
            for several.

    Raises:
        UsageError: JAX is missing; the argument isn't an exported function; or the function is for
            other platforms, or for several and none is chosen.
        ParseError: the program can't be parsed.
    """
    require("jax", "sdy.jax.from_exported", extra="jax")
    import jax.export  # noqa: PLC0415

    if not isinstance(exported, jax.export.Exported):
        exported = _deserialized(exported)
    index = _index_of(platform, exported)
    module = parse(exported.mlir_module(), context or Context())
    if len(exported.platforms) > 1:
        _choose_platform(module, index)
    locate_by_calls(module)
    _locate_in_user_code(module)
    kept, keys = tuple(exported.module_kept_var_idx), implementations(exported.out_avals)
    annotate_sizes(module, [exported.in_avals[index] for index in kept])
    remember(Structure(exported.in_tree, exported.out_tree, kept, keys), module)
    return module


def _index_of(platform: str | None, exported: jax.export.Exported) -> int:
    """Return the position of a platform, by default of the only one, in the list of a function.

    Raises:
        UsageError: the function isn't exported for it, or for several if it is None.
    """
    platforms = exported.platforms
    if platform in platforms:
        return platforms.index(platform)
    if platform is None and len(platforms) == 1:
        return 0
    message = f"'{exported.fun_name}' was exported for {' and '.join(platforms)}"
    if platform is not None:
        message += f", not for '{platform}'"
    choices = " or ".join(f"platform='{each}'" for each in platforms)
    raise UsageError(error(f"{message}: use sdy.jax.from_exported(..., {choices})"))


def _choose_platform(module: ir.Module, index: int) -> None:
    """Make the number of the platform, an argument of all functions, a constant in each of them."""
    entry = entry_of(module)
    for function in functions_of(module):
        constants, _ = interface_attributes(function, GLOBAL_CONSTANT)
        names = [each.value if isinstance(each, ir.StringAttr) else None for each in constants]
        if _PLATFORM not in names:
            continue
        block, place = entry_block(function), names.index(_PLATFORM)
        assert block is not None, "JAX exports no declarations"
        argument = block.arguments[place]
        with argument.location, ir.InsertionPoint.at_block_begin(block):
            literal = StablehloBuilder().literal(integer_literal(argument.type, [index]))
        argument.replace_all_uses_with(literal)
        if function == entry:
            erase_arguments(function, [place])
    run_pipeline(module, "canonicalize")  # drops the branches of other platforms


def _deserialized(
    source: bytes | bytearray | str | os.PathLike[str],
) -> jax.export.Exported:
    import jax.export  # noqa: PLC0415

    if isinstance(source, bytes | bytearray):
        name, data = "the data", bytearray(source)
    else:
        name = f"'{os.fspath(source)}'"
        with file_access(f"read {name}"):
            data = bytearray(Path(source).read_bytes())
    try:
        return jax.export.deserialize(data)
    except Exception as refusal:  # JAX has no class for it
        reason = str(refusal) or type(refusal).__name__
        message = f"{name} is not a program that 'jax.export' serialized: {reason}"
        raise UsageError(error(message)) from None


# --- Source locations ----------------------------------------------------------------------------


def locate_by_calls(module: ir.Module) -> None:
    """Locate operations in functions of JAX itself by the first calls of these functions.

    JAX omits its own frames, so operations have no location if a function of `jax.numpy` has become
    a function of the module; but the calls of that function have locations.

    1. Callers are visited before callees.
    2. An operation without a location gets a call-site location at the first call of its function.

    In `def f(x): return jnp.sort(x)`, the operation `stablehlo.sort` in the function `@sort` is
    located at `jnp.sort(x)`.
    """
    graph = CallGraph(module)
    calls: dict[str, ir.Location] = {}
    for name in reversed(graph.post_order):
        if name in calls:
            for operation in operations_in(graph.functions[name]):
                if location_of(operation.location) is None:
                    called = ir.Location.callsite(operation.location, [calls[name]], module.context)
                    operation.operation.location = called
        for call in graph.calls[name]:
            if location_of(call.location) is not None:
                calls.setdefault(callee_of(call), call.location)


def _locate_in_user_code(module: ir.Module) -> None:
    """Locate operations at the innermost frame outside of installed packages, within their scopes.

    JAX writes all frames of the stack, the innermost first. An operation of a layer of Flax is
    located at its caller in the user's program:

        loc("jit(step)/layer_0/dot_general"(callsite("flax/linear.py":300:8 at "model.py":12:4)))

    becomes `loc("jit(step)/layer_0/dot_general"("model.py":12:4))`. If all frames are in packages,
    the innermost one is kept.
    """
    known: dict[int, ir.Location] = {}
    for view in operations_in(module.operation):
        operation = view.operation
        location = operation.location
        key = identity(location.attr)
        if key not in known:
            known[key] = _in_user_code(location)
        operation.location = known[key]


def _in_user_code(location: ir.Location) -> ir.Location:
    frames = list(_frames(location))
    if not frames:
        return location
    places = ((frame, location_of(frame)) for frame in frames)
    outside = (frame for frame, place in places if place and not _is_installed(place.filename))
    frame = next(outside, frames[0])
    name = next(names_in(location), None)
    if name is None:
        return frame
    return ir.Location.name(name, childLoc=frame, context=location.context)


def _frames(location: ir.Location) -> Iterator[ir.Location]:
    """Yield the file locations inside of a location, the innermost call first."""
    _, inner = inner_locations(location)
    if not inner and location_of(location) is not None:
        yield location
    for each in inner:
        yield from _frames(each)


def _is_installed(filename: str) -> bool:
    """Whether a file belongs to an installed package."""
    return not {"dist-packages", "site-packages"}.isdisjoint(PurePath(filename).parts)


# --- Inspections of shardings ---------------------------------------------------------------------

# A module has a custom call for each, with the address of an object in the process that traced it:
#
#     %0 = stablehlo.custom_call @InspectSharding(%x) {backend_config = "...", ...}
#
# XLA's partitioner would call the object, but it gets local programs, in which nothing is sharded.


ATTRIBUTE = "jax.inspections"
_known: dict[bytes, Inspection] = {}
"""The functions that are told shardings. They live as long as the process, as their addresses are
the keys."""


def remember_inspections(kept: Sequence[Any], module: ir.Module) -> None:
    """Register the functions that a module and programs derived from it tell shardings.

    Args:
        kept: the objects that JAX keeps alive with a lowered function.
        module: the module of that function.
    """
    found = inspections(kept)
    if found:
        _known.update(found)
        name_process(module, ATTRIBUTE)


@before_partitioning(ATTRIBUTE)
def answer_inspections(entry: ir.Operation, module: ir.Module) -> None:
    """Tell the functions that are registered in this process the shardings that they ask for.

    A function that is called several times asks each time. Axes that a manual computation takes
    are no part of the shardings in it.

    Args:
        entry: the function that the program begins with.
        module: a program whose shardings have been propagated.

    Raises:
        Exception: a function raised it.
    """
    if is_of_this_process(module, ATTRIBUTE):
        _answer(entry, ir.SymbolTable(module.operation), meshes_of(module))


def _answer(function: ir.Operation, symbols: ir.SymbolTable, meshes: Mapping[str, Mesh]) -> None:
    for view in operations_in(function):
        operation = view.operation
        if operation.name == "func.call":
            _answer(symbols[callee_of(operation)].operation, symbols, meshes)
        elif operation.name == CUSTOM_CALL and target_of(operation) == INSPECTION:
            key: Any = CustomCallView(operation).backend_config
            known = _known.get(ir.StringAttr(key).value_bytes)
            if known is not None:
                _tell(known, operation.operands[0], meshes)


def _tell(known: Inspection, value: ir.Value, meshes: Mapping[str, Mesh]) -> None:
    sharding, rank = get_sharding(value), rank_of(value.type)
    mesh = None if sharding is None else mesh_of(sharding, meshes)
    in_jax = abstract_mesh(mesh or next(iter(meshes.values())))
    known(sharding_for_jax(sharding, rank, meshes, in_jax), rank)


# --- Pytrees of arguments and results -------------------------------------------------------------

# A module has flat lists of arguments and results. Their structure as dictionaries, tuples and
# objects of user-defined classes is kept in this process; the module refers to it by an attribute,
# which copies and passes preserve.


_structures: dict[str, Structure] = {}


@dataclass(frozen=True)
class Structure:
    """The pytrees of arguments and results, and the mesh of a traced function.

    Attributes:
        in_tree: the `PyTreeDef` of `(args, kwargs)`.
        out_tree: the `PyTreeDef` of the result.
        kept: the leaves of `in_tree` that are arguments; the function doesn't use the others.
        keys: the generators of results that are random number keys; see `dtypes`.
        mesh: the mesh for which it was traced, if it has devices.
    """

    in_tree: Any
    out_tree: Any
    kept: tuple[int, ...]
    keys: tuple[str | None, ...]
    mesh: Any = None

    def __str__(self) -> str:
        text = f"{self.in_tree} -> {self.out_tree}"
        if len(self.kept) < self.in_tree.num_leaves:
            text += f", without those but {', '.join(map(str, self.kept))}"
        if any(self.keys):
            text += f", keys of {', '.join(map(str, self.keys))}"
        if self.mesh is not None:
            text += f", on {self.mesh} of {', '.join(map(str, self.mesh.devices.flat))}"
        return text


def remember(structure: Structure, module: ir.Module) -> None:
    """Register the structure of a module and of programs derived from it."""
    text = str(structure)
    count = 1
    # Classes may share a name; structures of equal text are numbered.
    while _structures.setdefault(text, structure) != structure:
        count += 1
        text = f"{structure} ({count})"
    set_discardable(module.operation, JAX_STRUCTURE, ir.StringAttr.get(text, module.context))


def structure_of(module: ir.Module, *, arguments: int, results: int) -> Structure | None:
    """Return the structure of a module with these numbers of arguments and results.

    None if the module wasn't traced in this process, or its arguments or results have changed.
    """
    name = text_of(module.operation, JAX_STRUCTURE)
    structure = None if name is None else _structures.get(name)
    if structure is None or len(structure.kept) != arguments:
        return None
    return structure if structure.out_tree.num_leaves == results else None
