# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing of JAX functions with names, and what a module says about its meshes."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, SupportsIndex, cast

from mlir_sdy.diagnostics import UsageError, emit, error, warning
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh
from mlir_sdy.model.errors import ModelError
from mlir_sdy.mpmd import values
from mlir_sdy.mpmd.attributes import attribute_of
from mlir_sdy.mpmd.dialect import register
from mlir_sdy.mpmd.reading import TOPOLOGY, topology_of
from mlir_sdy.suggest import did_you_mean
from pyshardy.frontends.jax import trace as trace_by_jax
from pyshardy.frontends.jax.lowered import structure_of
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.mpmd.names import spread
from pyshardy.mpmd.options import Assigned, read_assignment
from pyshardy.mpmd.passes.import_names import annotate_names
from pyshardy.packages import require
from pyshardy.pipeline.collection import collection_paused
from pyshardy.program_interface import main_of

ASSIGNMENT, IN_MESHES, OUT_MESHES, KEPT = (
    f"mpmd.{name}" for name in ("assignment", "in_meshes", "out_meshes", "keep")
)
"""The attributes of the entry with the meshes of names, arguments and results."""

Place = str | tuple[str, int]
"""A mesh, `m0` or `m0#pinned_host`; or a mesh and a stage."""

Axes = Mapping[str, int] | Mesh


def Topology(meshes: Mapping[str, Axes]) -> values.Topology:  # noqa: N802 (it makes values of it)
    """Return the topology of meshes in the order of the pipeline.

        sdy.mpmd.Topology({"m0": {"data": 2, "model": 2}, "m1": {"data": 2, "model": 2}})

    Raises:
        UsageError: there is no mesh, one has no axes, or a name can't occur in an assignment.
    """
    given = cast("object", meshes)
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        message = (
            f"a topology is the meshes by their names, got: {meshes!r}; "
            'pass {"m0": {"data": 2}, "m1": {"data": 2}}'
        )
        raise UsageError(error(message))
    try:
        named = tuple(values.NamedMesh(name, Mesh.of(axes)) for name, axes in meshes.items())
        if not named:
            raise UsageError(error("a topology needs at least one mesh"))
        if "" in meshes:
            raise UsageError(error("a mesh of the topology has an empty name"))
        for each in named:
            if not each.mesh.axes:
                advice = 'for a single device, name an axis of size 1, as in {"x": 1}'
                raise UsageError(error(f"mesh '{each.name}' of the topology has no axes: {advice}"))
            if "," in each.name or "/" in each.name.removesuffix("/cpu"):
                message = f"the name of a mesh must not contain ',' or '/': '{each.name}'"
                raise UsageError(error(message))
        return values.Topology(named)
    except ModelError as refusal:
        raise UsageError(error(str(refusal))) from None


def trace(
    function: Callable[..., Any],
    *arguments: Any,
    topology: values.Topology | Mapping[str, Axes],
    assignment: Mapping[str, Place],
    in_meshes: Any = None,
    out_meshes: Any = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    donate_argnums: int | Sequence[int] = (),
    keep: Sequence[tuple[int, int]] = (),
    context: ir.Context | None = None,
) -> ir.Module:
    """Trace a JAX function with names for a topology, and return its module.

        module = sdy.mpmd.trace(step, params, state, batch, topology=topology,
                                assignment={"layer[01]": "m0", "layer[23]": "m1"})

    The module is plain StableHLO, in which names are calls of functions; it runs as any other.
    Specs of shardings are for the first mesh; each ends up on the mesh of its fragment.

    Args:
        function: the function, as for `sdy.jax.trace`, with its gradients and updates.
        arguments: its arguments: arrays, or `jax.ShapeDtypeStruct` in their place.
        topology: the meshes.
        assignment: the mesh of each name: `"m0"`, `("m0", 1)` with a stage, and for a tensor
            `"m0#pinned_host"`. A name may be a pattern, such as `layer[01]`; earlier ones win.
        in_meshes: meshes of arguments, inferred by default: a tree like `arguments`, or a prefix.
        out_meshes: meshes of results, likewise.
        in_shardings: as for `sdy.jax.trace`.
        out_shardings: as for `sdy.jax.trace`.
        donate_argnums: as for `sdy.jax.trace`.
        keep: pairs of an argument and a result of equal trees, whose leaves are on equal meshes.
        context: a context with the dialects; a new one by default.

    Raises:
        UsageError: JAX is missing; a mesh is unknown; trees don't match; as for `sdy.jax.trace`.
    """
    require("jax", "sdy.mpmd.trace", extra="jax")
    import jax  # noqa: PLC0415
    from jax.extend.source_info_util import register_exclusion  # noqa: PLC0415

    register_exclusion(str(Path(__file__).parent))
    if not isinstance(topology, values.Topology):
        topology = Topology(topology)
    compiled = jax.jit(function)

    @functools.wraps(function)
    def entry(*given: Any) -> Any:  # else the entry of a function that only calls a name is lost
        return compiled(*given)

    with collection_paused():
        module = trace_by_jax(
            entry,
            *arguments,
            mesh=topology.meshes[0].mesh,
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            donate_argnums=donate_argnums,
            context=context,
        )
    main = main_of(module)
    types = function_type_of(main)
    structure = structure_of(module, arguments=len(types.inputs), results=len(types.results))
    if structure is None:
        raise UsageError(error("the function has effects, which no mesh of several can order"))
    results = jax.tree.unflatten(structure.out_tree, range(structure.out_tree.num_leaves))
    told = {
        IN_MESHES: _by_leaf("in_meshes", in_meshes, arguments),
        OUT_MESHES: _by_leaf("out_meshes", out_meshes, results),
        KEPT: _kept(jax, keep, arguments, results, types),
    }
    annotate(module, topology, assignment, told, annotate_names(module))
    return module


def annotate(
    module: ir.Module,
    topology: values.Topology | None,
    assignment: Mapping[str, Place],
    told: Mapping[str, Sequence[str]],
    names: Iterable[str],
) -> None:
    """Write meshes of a program into the attributes of its entry.

    Args:
        module: the module.
        topology: the meshes; None for those that the entry has.
        assignment: the meshes of names, or of patterns of names.
        told: the texts of other attributes.
        names: the names of the program; a warning says which the assignment has besides.

    Raises:
        UsageError: a mesh isn't in the topology, or is none.
    """
    main = main_of(module)
    if not isinstance(cast("object", assignment), Mapping):
        message = (
            f"an assignment is the meshes of names, got: {type(assignment).__name__}; "
            'pass {"layer0": "m0", "layer1": "m1"}'
        )
        raise UsageError(error(message))
    register(module.context)
    given = {pattern: _text(pattern, place) for pattern, place in assignment.items()}
    found = read_assignment(given.values())
    placed = [*found.values(), *(each for texts in told.values() for each in _placed(texts))]
    known = topology or topology_of(main)
    for mesh in [each.mesh for each in placed]:
        if known is not None and known.named(mesh) is None:
            advice = did_you_mean(mesh, known.names) or f"; it has {', '.join(known.names)}"
            raise UsageError(error(f"the topology has no mesh '{mesh}'{advice}"))
    listed = sorted(names)
    matched: dict[str, str] = {}
    for pattern, text in given.items():
        matching = [name for name in listed if name == pattern or fnmatchcase(name, pattern)]
        if not matching:
            advice = did_you_mean(pattern, listed)
            emit(warning(f"the assignment has '{pattern}', which the program doesn't{advice}"))
        for name in matching:
            matched.setdefault(name, name + text[len(pattern) :])
    with module.context:
        if topology is not None:
            set_discardable(main, TOPOLOGY, attribute_of(topology))
        for name, texts in ((ASSIGNMENT, [*matched.values()]), *told.items()):
            if texts:
                array = ir.ArrayAttr.get([ir.StringAttr.get(each) for each in texts])
                set_discardable(main, name, array)


def told_by(entry: ir.Operation, name: str) -> tuple[str, ...]:
    """Return the texts of an attribute of the entry; nothing without it."""
    return tuple(ir.StringAttr(each).value for each in get_discardable(entry, name) or ())


def _placed(texts: Sequence[str]) -> list[Assigned]:
    return list(read_assignment(each for each in texts if "@" in each).values())


def _text(name: str, place: Place) -> str:
    match place:
        case _ if not isinstance(cast("object", name), str):
            raise UsageError(error(f"an assignment has the names as texts, got: {name!r}"))
        case str():
            return f"{name}@{place}"
        case (str() as mesh, SupportsIndex() as stage) if stage >= 0:
            return f"{name}@{mesh}/{stage}"
        case _:
            message = (
                f"the place of '{name}' must be a mesh, such as 'm0', or a mesh and a stage, such "
                f"as ('m0', 1), got: {place!r}"
            )
            raise UsageError(error(message))


def _by_leaf(what: str, prefix: Any, tree: Any) -> list[str]:
    """Return the meshes of leaves, `0@m0`, from a prefix of a tree."""
    try:
        found = spread(prefix, tree)
    except ValueError as refusal:
        raise UsageError(error(f"'{what}' doesn't match: {refusal}")) from None
    return [f"{index}@{place}" for index, place in enumerate(found) if place is not None]


def _kept(
    jax: Any, keep: Sequence[tuple[int, int]], arguments: Any, results: Any, types: ir.FunctionType
) -> list[str]:
    """Return pairs of leaves, `0:2`, from pairs of an argument and a result."""
    numbers = jax.tree.unflatten(
        jax.tree.structure(arguments), range(len(jax.tree.leaves(arguments)))
    )
    outputs = results if isinstance(results, tuple) else (results,)
    given_types, made_types, pairs = list(types.inputs), list(types.results), list[str]()
    if not isinstance(cast("object", keep), Sequence):
        keep = (cast("Any", keep),)  # which is said to be no pair
    for pair in keep:
        if not isinstance(cast("object", pair), Sequence) or len(pair) != 2:
            message = f"'keep' has {pair!r} instead of a pair: ((0, 0),) is argument 0 and result 0"
            raise UsageError(error(message))
        argument, result = pair
        if argument not in range(len(numbers)) or result not in range(len(outputs)):
            raise UsageError(error(f"'keep' has ({argument}, {result}), which is out of range"))
        leaves = jax.tree.leaves(numbers[argument]), jax.tree.leaves(outputs[result])
        if len(leaves[0]) != len(leaves[1]):
            message = (
                f"'keep' has ({argument}, {result}), but argument {argument} has {len(leaves[0])} "
                f"arrays, and result {result} has {len(leaves[1])}"
            )
            raise UsageError(error(message))
        for first, second in zip(*leaves, strict=True):
            given, made = given_types[first], made_types[second]
            if list(given.shape) != list(made.shape):
                message = (
                    f"'keep' has ({argument}, {result}), but argument {argument} has an array of "
                    f"type {given} where result {result} has one of type {made}"
                )
                raise UsageError(error(message))
            pairs.append(f"{first}:{second}")
    return pairs
