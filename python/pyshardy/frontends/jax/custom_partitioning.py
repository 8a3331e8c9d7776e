# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expansion of calls of `jax.experimental.custom_partitioning`.

A module has a custom call for each, with a key. The partition function of the call exists in the
process that traced the module. It is called with the propagated shardings, and its result becomes a
manual computation:

    %0 = stablehlo.custom_call @CustomSPMDPartitioning(%x) {backend_config = "140349902987984"}

    %0 = sdy.manual_computation(%x) in_shardings=[...] out_shardings=[...] manual_axes={"x"} (...) {
      ...    // the function of shards that was returned
    }
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import get_sharding
from pyshardy.backends.jax_internals import (
    CustomPartitioning,
    compile_arguments,
    custom_partitionings,
)
from pyshardy.frontends.jax.callbacks import is_of_this_process, name_process
from pyshardy.frontends.jax.dtypes import dtype_of
from pyshardy.frontends.jax.meshes import (
    available_devices,
    device_mesh,
    mesh_of_model,
    sharding_for_jax,
)
from pyshardy.irtools.stablehlo_views import (
    CallView,
    CustomCallView,
    FunctionView,
    callee_of,
    symbol_name,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.custom_calls import CUSTOM_PARTITIONING, calls_to, described
from pyshardy.local_program.front_end_hooks import before_partitioning

if TYPE_CHECKING:
    import jax

ATTRIBUTE = "jax.custom_partitioning"
_known: dict[str, CustomPartitioning] = {}
_DECLARATION = re.compile(r"\s*sdy\.mesh @(?P<name>\S+) =")
_MESH = re.compile(r'(?P<before><@|sdy\.mesh @|mesh = @)(?P<name>[\w.$-]+|"[^"]*")')


def remember_custom_partitioning(kept: Sequence[Any], module: ir.Module) -> None:
    """Register the partition functions of a module and of programs derived from it.

    Args:
        kept: the objects that JAX keeps alive with a lowered function.
        module: the module of that function.
    """
    found = custom_partitionings(kept)
    if found:
        _known.update(found)
        name_process(module, ATTRIBUTE)


@before_partitioning(ATTRIBUTE)
def expand_custom_partitioning(_: ir.Operation, module: ir.Module) -> None:
    """Replace the calls that are registered in this process by manual computations.

    Args:
        _: the function that the program begins with.
        module: a program whose shardings have been propagated. It is changed.

    Raises:
        UsageError: a partition function fails, or doesn't return a mesh, a function, and shardings
            along named axes.
    """
    if not is_of_this_process(module, ATTRIBUTE):
        return
    for number, call in enumerate(calls_to({CUSTOM_PARTITIONING}, module)):
        key: Any = CustomCallView(call).backend_config
        known = _known.get(ir.StringAttr(key).value)
        if known is not None:
            _expand(call, known, module, number)


def _expand(call: ir.Operation, known: CustomPartitioning, module: ir.Module, number: int) -> None:
    import jax  # noqa: PLC0415

    meshes = meshes_of(module)
    mesh = known.mesh
    values = (*call.operands, *call.results)
    if mesh.empty:  # It was traced without an active mesh, so it is for the mesh of the program.
        of_program = _mesh_of_program(values, meshes, call)
        mesh = device_mesh(of_program, available_devices(of_program.total_size))
    described_call = described(call)
    types = [
        jax.ShapeDtypeStruct(
            spec.shape,
            dtype_of(spec.element),
            sharding=sharding_for_jax(get_sharding(value), len(spec.shape), meshes, mesh),
        )
        for value, spec in zip(
            values, (*described_call.operands, *described_call.results), strict=True
        )
    ]
    count = len(call.operands)
    try:
        lowered = _lowered(known, mesh, types[:count], types[count:])
    except UsageError as refusal:
        raise UsageError(
            error(refusal.diagnostics[0].message, location_of(call.location))
        ) from None
    except Exception as failure:
        what = f"{type(failure).__name__}: {failure}".rstrip(": ")
        message = f"the partition function of a custom_partitioning failed: {what}"
        raise UsageError(error(message, location_of(call.location))) from failure
    made = parse(_on_meshes_of(lowered.as_text(), meshes, number, module.context), module.context)
    _take_over(call, made, module, number)


def _mesh_of_program(
    values: Sequence[ir.Value], meshes: Mapping[str, Mesh], call: ir.Operation
) -> Mesh:
    """Return the first mesh with axes: declared by the module, or in shardings of the values."""
    inlined = (mesh_of(sharding, meshes) for sharding in map(get_sharding, values) if sharding)
    for mesh in (*meshes.values(), *inlined):
        if mesh is not None and mesh.axes:
            return mesh
    message = "a custom_partitioning needs a mesh, but the program has none"
    raise UsageError(error(message, location_of(call.location)))


def _lowered(
    known: CustomPartitioning,
    mesh: jax.sharding.Mesh,
    arguments: Sequence[Any],
    results: Sequence[Any],
) -> Any:
    """Lower the function of shards by JAX, on global arrays."""
    import jax  # noqa: PLC0415

    mesh, function, out_shardings, in_shardings = known.partition(
        mesh, known.in_tree.unflatten(arguments), known.out_tree.unflatten(results)
    )
    in_specs = [_spec(each, mesh) for each in known.in_tree.flatten_up_to(in_shardings)]
    out_specs = [_spec(each, mesh) for each in known.out_tree.flatten_up_to(out_shardings)]

    def of_shards(*shards: Any) -> tuple[Any, ...]:
        return tuple(known.out_tree.flatten_up_to(function(*known.in_tree.unflatten(shards))))

    mapped = jax.shard_map(
        of_shards,
        mesh=mesh,
        in_specs=tuple(in_specs),
        out_specs=tuple(out_specs),
        check_vma=False,
    )
    plain = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in arguments]
    lowered = jax.jit(mapped, keep_unused=True).lower(*plain)
    if compile_arguments(lowered)["host_callbacks"]:
        message = (
            "the partition function of a custom_partitioning returned a function with callbacks: "
            "call them outside of it, since XLA has none there either"
        )
        raise UsageError(error(message))
    return lowered


def _spec(sharding: Any, mesh: jax.sharding.Mesh) -> jax.sharding.PartitionSpec:
    import jax  # noqa: PLC0415

    if sharding is None:
        return jax.sharding.PartitionSpec()
    if isinstance(sharding, jax.sharding.NamedSharding):
        if mesh_of_model(sharding.mesh) != mesh_of_model(mesh):
            message = f"it returned {sharding}, but the mesh {mesh}"
            raise UsageError(error(f"the partition function of a custom_partitioning: {message}"))
        return sharding.spec
    message = f"it must return NamedShardings, got: {sharding}"
    raise UsageError(error(f"the partition function of a custom_partitioning: {message}"))


def _on_meshes_of(text: str, meshes: Mapping[str, Mesh], number: int, context: ir.Context) -> str:
    """Return a text in which meshes have their names in a module, or unused names."""
    declared = meshes_of(parse(text, context))
    names = {mesh: name for name, mesh in reversed([*meshes.items()])}
    new = {
        name: names.get(mesh, f"custom_partitioning_{number}_{name}")
        for name, mesh in declared.items()
    }

    def renamed(match: re.Match[str]) -> str:
        name = match["name"].strip('"')
        return match["before"] + new.get(name, match["name"])

    # Equal meshes of several names are merged and declared once.
    seen: set[str] = set()
    lines: list[str] = []
    for line in _MESH.sub(renamed, text).splitlines():
        declaration = _DECLARATION.match(line)
        if declaration is None or declaration["name"] not in seen:
            lines.append(line)
        if declaration is not None:
            seen.add(declaration["name"])
    return "\n".join(lines)


def _take_over(call: ir.Operation, made: ir.Module, module: ir.Module, number: int) -> None:
    """Replace a call by the manual computation of another module."""
    present = {symbol_name(view.operation) for view in module.body.operations}
    main = ir.SymbolTable(made.operation)["main"].operation
    functions = [
        view.operation
        for view in made.body.operations
        if view.operation.name == "func.func" and view.operation != main
    ]
    for function in functions:
        name = symbol_name(function)
        new = f"custom_partitioning_{number}_{name}"
        for caller in operations_named({"func.call"}, made):
            if callee_of(caller) == name:
                CallView(caller).callee = new
        FunctionView(function).sym_name = new
    for view in list(made.body.operations):
        operation = view.operation
        if operation in functions:
            module.body.append(operation.clone(ip=False))
        elif operation.name == "sdy.mesh":
            name = symbol_name(operation)
            if name not in present:
                ir.InsertionPoint.at_block_begin(module.body).insert(operation.clone(ip=False))
    block = main.regions[0].blocks[0]
    copies: dict[ir.Value, ir.Value] = dict(zip(block.arguments, call.operands, strict=True))
    *operations, terminator = (view.operation for view in block.operations)
    for operation in operations:
        copy = operation.clone(ip=ir.InsertionPoint(call)).operation
        for index, operand in enumerate(operation.operands):
            copy.operands[index] = copies[operand]
        copies.update(zip(operation.results, copy.results, strict=True))
    for result, value in zip(call.results, terminator.operands, strict=True):
        result.replace_all_uses_with(copies[value])
    call.erase()
