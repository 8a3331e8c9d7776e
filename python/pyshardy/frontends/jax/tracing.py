# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing of JAX functions, with shardings of JAX or pyshardy."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.values import set_argument_shardings, set_result_shardings
from mlir_sdy.verify import verify
from pyshardy.backends.jax_internals import keeping_ragged_products
from pyshardy.frontends import is_auto
from pyshardy.frontends.jax.closed_over import share_constants, warn_of_large_constants
from pyshardy.frontends.jax.libraries import plain_function
from pyshardy.frontends.jax.lowered import from_lowered
from pyshardy.frontends.jax.meshes import (
    MeshOfJax,
    abstract_mesh,
    available_devices,
    device_mesh,
    has_automatic_axes,
    in_force,
    mesh_in_force,
    mesh_of_model,
    named_sharding,
)
from pyshardy.frontends.jax.symbolic import num_symbols
from pyshardy.frontends.meshes import declare_meshes, on_mesh
from pyshardy.irtools.functions import (
    can_be_inlined,
    entry_block,
    functions_of,
    main_function,
    must_stay,
    replace_by_body,
)
from pyshardy.irtools.named_values import argument_names, result_names
from pyshardy.irtools.stablehlo_views import (
    FunctionView,
    callee_of,
    function_type_of,
    symbol_name,
)
from pyshardy.irtools.tokens import is_token
from pyshardy.packages import require

_PLATFORM_WITHOUT_DEVICES = "cpu"
_NO_PREFIX = "shardings specification must be a tree prefix"
_OTHER_TREE = "at key path\n    pjit out_shardings"
_WRONG_RANK = "is incompatible with its sharding annotation"
_UNEVEN = "should evenly divide the shape"
_NEEDS_DEVICES = "primitives that require devices"
_NEEDS_MESH = ("requires a non-empty mesh in context", "The context mesh cannot be empty")


def trace(
    function: Callable[..., Any],
    *arguments: Any,
    in_shardings: Any = None,
    out_shardings: Any = None,
    mesh: Mesh | MeshOfJax | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    kwargs: Mapping[str, Any] | None = None,
    context: ir.Context | None = None,
) -> ir.Module:
    """Trace a JAX function for arguments of the given types, and return its module.

        mesh = sdy.Mesh.of({"data": 2, "model": 4})
        module = sdy.jax.trace(step, parameters, batch, mesh=mesh,
                               in_shardings=(None, PartitionSpec("data")))

    Arguments are named by their paths, as in `parameters['w']`, and operations are located in the
    source of the function. The function isn't executed.

    Args:
        function: a function that `jax.jit`, `nnx.jit` or `equinox.filter_jit` accepts or returned,
            or a module of `flax.nnx` or equinox, which becomes the first argument of the program;
            see docs/guide/flax.md.
        arguments: its arguments: arrays, or `jax.ShapeDtypeStruct` in their place, and trees of
            them, such as modules.
        in_shardings: the shardings of the arguments: a tree like `arguments` or a prefix of it. A
            leaf is a `jax.sharding.NamedSharding`; a `PartitionSpec` on `mesh`; a
            `TensorSharding`, which may be open, uneven and along sub-axes; or None for an open
            sharding. `sdy.AUTO`, or "auto" for all, is open as well, for `sdy.auto_shard`.
        out_shardings: the same for the result.
        mesh: the mesh of each `PartitionSpec` and `TensorSharding`; by default, the mesh of
            `jax.set_mesh`. It is also the mesh of constraints and of each `shard_map` inside the
            function that have none. It may be without devices: a `Mesh` or a
            `jax.sharding.AbstractMesh`.
        static_argnums: the positions of arguments that aren't arrays.
        static_argnames: the names of further ones, which may be in `kwargs`.
        donate_argnums: the positions of arguments whose memory results may reuse, besides those
            that a function made by `jax.jit` donates.
        kwargs: the keyword arguments. With `in_shardings` they are passed by position, since JAX
            has no shardings of keyword arguments.
        context: a context with the dialect; a new one by default.

    Raises:
        WrongTypeError: it is no function.
        UsageError: JAX is missing, or shardings don't match the arguments, or are given for
            keyword-only arguments; it is a module whose weights are elsewhere.
        VerificationError: a `TensorSharding` is invalid for its argument.
    """
    require("jax", "sdy.jax.trace", extra="jax")
    import jax  # noqa: PLC0415

    _leave_out_own_frames()
    original_function, original_arguments, given_shardings = function, arguments, in_shardings
    names = {static_argnames} if isinstance(static_argnames, str) else {*static_argnames}
    keywords = dict(kwargs or {})
    if keywords and in_shardings is not None:
        arguments, keywords = _by_position(function, arguments, keywords, names)
    static = _static_positions(function, static_argnums, names, len(arguments))
    plain = plain_function(function, arguments, keywords, static)
    static, in_shardings = plain.positions(static), plain.shardings(in_shardings)
    reader = _Shardings(mesh)
    shardings = reader.for_jax(in_shardings), reader.for_jax(out_shardings)
    platforms = None
    placed: tuple[type, ...] = (np.ndarray,)
    if reader.is_without_devices:
        # JAX takes no arrays that are on some device then, and is to be told of a platform.
        placed = np.ndarray, jax.Array
        platforms = (_PLATFORM_WITHOUT_DEVICES,)
    keyword_types = {
        name: value if name in names else _types_of((value,), placed, ())[0]
        for name, value in keywords.items()
    }
    donations = plain.donated
    if plain.arguments is arguments:
        types = _types_of(arguments, placed, static)
        donations = _donated(function, types, keyword_types, static, reader.mesh_of_function)
    function, arguments = plain.function, _types_of(plain.arguments, placed, static)
    donated = tuple(sorted({*donations, *plain.positions(donate_argnums)}))
    if keywords and in_shardings is not None:  # These are static; JAX takes none with shardings.
        function = functools.wraps(function)(functools.partial(function, **keywords))
        names, keyword_types = names - keywords.keys(), {}
    compiled = jax.jit(
        function,
        in_shardings=shardings[0],
        out_shardings=shardings[1],
        static_argnums=static,
        static_argnames=sorted(names),
        donate_argnums=donated,
        keep_unused=True,
    )

    def lower(mesh: Any = None) -> Any:
        if not isinstance(mesh, jax.sharding.AbstractMesh):
            traced = compiled.trace(*arguments, **keyword_types)
            return traced.lower(lowering_platforms=platforms, **keeping_ragged_products())
        types = _types_of(arguments, (np.ndarray, jax.Array), static)
        traced = compiled.trace(*types, **keyword_types)
        platform = (_PLATFORM_WITHOUT_DEVICES,)
        return traced.lower(lowering_platforms=platform, **keeping_ragged_products())

    try:
        lowered = _with_mesh_if_needed(lower, reader.mesh_of_function)
    except ValueError as refusal:
        if _NEEDS_DEVICES in str(refusal):
            return trace(
                original_function,
                *original_arguments,
                in_shardings=given_shardings,
                out_shardings=out_shardings,
                mesh=_with_devices(mesh),
                static_argnums=static_argnums,
                static_argnames=static_argnames,
                donate_argnums=donate_argnums,
                kwargs=kwargs,
                context=context,
            )
        message = _mismatch(str(refusal))
        if message is None:
            raise  # of the function, or JAX tells better than we could
        raise UsageError(error(f"the shardings do not match the function: {message}")) from None
    module = from_lowered(lowered, context)
    _look_through_call(module)
    share_constants(module)
    warn_of_large_constants(original_function, module)
    (tree_of_arguments, _) = jax.tree.unflatten(lowered.in_tree, [0] * lowered.in_tree.num_leaves)
    tree_of_results = jax.tree.unflatten(lowered.out_tree, [0] * lowered.out_tree.num_leaves)
    ours_in = reader.ours(in_shardings, tree_of_arguments, module)
    ours_out = reader.ours(out_shardings, tree_of_results, module)
    reader.declare_meshes(module, [*ours_in.values(), *ours_out.values()])
    if ours_in or ours_out:
        entry = ir.SymbolTable(module.operation)["main"]
        signature = function_type_of(entry.operation)
        first = num_symbols(entry.operation)
        names, of_results = argument_names(entry.operation, None), result_names(entry.operation)
        of_arguments = {first + index: sharding for index, sharding in ours_in.items()}
        set_argument_shardings(entry, _behind_tokens(of_arguments, signature.inputs, names))
        set_result_shardings(entry, _behind_tokens(ours_out, signature.results, of_results))
        verify(module)
    return module


def _look_through_call(module: ir.Module) -> None:
    """Replace an entry that only calls a function, as for `jax.jit`, by the body of the function.

    It stays where the function has shardings or other attributes of its own on arguments or
    results, or must not be inlined.
    """
    main = main_function(module)
    block = None if main is None else entry_block(main)
    if block is None or len(block.operations) != 2:
        return
    call, end = (view.operation for view in block.operations)
    if call.name != "func.call" or must_stay(call):
        return
    function = next(each for each in functions_of(module) if symbol_name(each) == callee_of(call))
    view, body = FunctionView(function), entry_block(function)
    attributes = (view.arg_attrs, view.res_attrs)
    if body is None or not can_be_inlined(function) or any(map(any, filter(None, attributes))):
        return
    assert end.name == "func.return", "the entry returns"
    replace_by_body(call, body)
    function.erase()


def _with_mesh_if_needed(trace_function: Callable[..., Any], mesh: Any) -> Any:
    """Trace a function, and if it refers to a mesh in force, again with a mesh of JAX in force.

    Not at once, since JAX refuses a `shard_map` over another mesh then.

    Args:
        trace_function: traces it; gets the mesh if that is in force.
        mesh: the mesh; None if JAX must be told.
    """
    try:
        return trace_function()
    except (RuntimeError, ValueError) as refusal:
        if mesh is None or not any(each in str(refusal) for each in _NEEDS_MESH):
            raise
    with in_force(mesh):
        return trace_function(mesh)


def _with_devices(mesh: Mesh | MeshOfJax | None) -> MeshOfJax:
    """Return a mesh on the first devices of JAX, for a function that is lowered for devices only.

    Raises:
        UsageError: it isn't an `sdy.Mesh`, or there are too few devices.
    """
    if not isinstance(mesh, Mesh):
        message = (
            "JAX lowers calls of the function for devices only, such as "
            "jax.debug.inspect_array_sharding: pass a jax.sharding.Mesh of devices as 'mesh'"
        )
        raise UsageError(error(message))
    return device_mesh(mesh, available_devices(mesh.total_size))


def _mismatch(refusal: str) -> str | None:
    """Return JAX's message that shardings don't match arguments or results; None for others."""
    if _OTHER_TREE in refusal:
        return "out_shardings must be a tree prefix of the results"
    message = refusal.split("\n", 1)[0]
    if _UNEVEN in refusal:
        return f"{message}; shardings of sdy may be uneven: sdy.sharding(PartitionSpec('x', None))"
    return message if _NO_PREFIX in refusal or _WRONG_RANK in refusal else None


@functools.cache
def _leave_out_own_frames() -> None:
    """Exclude the frames of this package from JAX's source locations."""
    from jax.extend.source_info_util import register_exclusion  # noqa: PLC0415

    register_exclusion(str(Path(__file__).parent))


class _Shardings:
    """Reads trees of shardings that refer to a mesh.

    Attributes:
        is_without_devices: whether JAX was given a mesh without devices.
    """

    def __init__(self, mesh: Mesh | MeshOfJax | None):
        import jax  # noqa: PLC0415

        self._kinds = (jax.sharding.Sharding, jax.sharding.PartitionSpec, TensorSharding)
        mesh = mesh_in_force() if mesh is None else mesh
        if isinstance(mesh, Mesh) and mesh.device_ids:
            message = f"JAX orders the devices itself, so the mesh cannot have device ids: {mesh}"
            raise UsageError(error(message))
        self._mesh: Mesh | None
        self._mesh_of_jax: Any
        if mesh is None or isinstance(mesh, Mesh):
            self._mesh, self._mesh_of_jax = mesh, mesh and abstract_mesh(mesh)
        else:
            self._mesh, self._mesh_of_jax = mesh_of_model(mesh), mesh
        self.is_without_devices = False

    @property
    def mesh_of_function(self) -> Any:
        """The mesh of each `PartitionSpec` inside the function; None if JAX must be told it."""
        mesh = self._mesh_of_jax
        return mesh if mesh is not None and has_automatic_axes(mesh) else None

    def for_jax(self, tree: Any) -> Any:
        """Return the tree with JAX's shardings, and None for each `TensorSharding`."""
        import jax  # noqa: PLC0415

        return jax.tree.map(self._for_jax, tree, is_leaf=self._is_leaf)

    def ours(self, tree: Any, full: Any, module: ir.Module) -> dict[int, TensorSharding]:
        """Return each `TensorSharding` in a tree by the index of its leaf in the full tree.

        They refer to the mesh by a name that the module has for no other one.
        """
        import jax  # noqa: PLC0415

        spread = jax.tree.broadcast(tree, full, is_leaf=self._is_leaf)
        leaves = jax.tree.leaves(spread, is_leaf=self._is_leaf)
        return {
            index: on_mesh(module, leaf, self._mesh)
            for index, leaf in enumerate(leaves)
            if isinstance(leaf, TensorSharding)
        }

    def declare_meshes(self, module: ir.Module, shardings: Sequence[TensorSharding]) -> None:
        """Declare the mesh by the names under which shardings refer to it, unless declared."""
        declare_meshes(module, shardings, self._mesh)

    def _is_leaf(self, value: object) -> bool:
        return value is None or is_auto(value) or isinstance(value, self._kinds)

    def _for_jax(self, leaf: Any) -> Any:
        import jax  # noqa: PLC0415

        if leaf is None or is_auto(leaf) or isinstance(leaf, TensorSharding):
            return None
        if isinstance(leaf, jax.sharding.PartitionSpec):
            if self._mesh_of_jax is None:
                message = f"{leaf} requires a mesh: pass 'mesh' or use 'jax.set_mesh'"
                raise UsageError(error(message))
            leaf = named_sharding(self._mesh_of_jax, leaf)
        if not isinstance(leaf, jax.sharding.Sharding):
            message = (
                "expected a NamedSharding, a PartitionSpec, a TensorSharding or None as sharding, "
                f"got: {leaf!r}"
            )
            raise UsageError(error(message))
        if isinstance(leaf, jax.sharding.NamedSharding):
            self.is_without_devices |= isinstance(leaf.mesh, jax.sharding.AbstractMesh)
        return leaf


def _donated(
    function: Any,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    static: Sequence[int],
    mesh: Any,
) -> tuple[int, ...]:
    """Return the positions of the donated arguments of a function made by `jax.jit`.

    A wrapper would lose the donations.
    """
    import jax  # noqa: PLC0415

    if not isinstance(function, jax.stages.Wrapped) or not hasattr(function, "trace"):
        return ()
    # The devices of arrays don't matter here, and may conflict with the function.
    types = _types_of(tuple(arguments), (np.ndarray, jax.Array), static)

    def traced(_: Any = None) -> Any:
        return function.trace(*types, **keywords)

    staged = _with_mesh_if_needed(traced, mesh)
    given, _ = getattr(staged, "traced", staged).args_info  # that of flax holds that of JAX
    positions = [position for position in range(len(arguments)) if position not in static]
    return tuple(
        position
        for position, info in zip(positions, given, strict=True)
        if (leaves := jax.tree.leaves(info)) and all(leaf.donated for leaf in leaves)
    )


def _behind_tokens(
    shardings: Mapping[int, TensorSharding], types: Sequence[ir.Type], names: Sequence[str | None]
) -> dict[int, TensorSharding]:
    """Return shardings by position in a signature that begins with effect tokens.

    Raises:
        UsageError: a sharding has another rank than its argument or result.
    """
    tokens = sum(map(is_token, types))
    found = {tokens + index: sharding for index, sharding in shardings.items()}
    for index, sharding in found.items():
        if (rank := ir.RankedTensorType(types[index]).rank) != sharding.rank:
            message = f"{names[index] or 'a value'} has {rank} dimensions, but its sharding"
            advice = "give None for the others"
            raise UsageError(error(f"{message} {sharding} has {sharding.rank}: {advice}"))
    return found


def _types_of(
    arguments: tuple[Any, ...], arrays: tuple[type, ...], static: Sequence[int]
) -> tuple[Any, ...]:
    """Return the arguments with types in place of arrays of some classes."""
    import jax  # noqa: PLC0415

    def type_of(leaf: Any) -> Any:
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) if isinstance(leaf, arrays) else leaf

    return tuple(
        argument if position in static else jax.tree.map(type_of, argument)
        for position, argument in enumerate(arguments)
    )


def _static_positions(
    function: Callable[..., Any], numbers: int | Sequence[int], names: set[str], count: int
) -> list[int]:
    """Return the positions of static arguments, given by their numbers and names."""
    positions = {each % count for each in ([numbers] if isinstance(numbers, int) else numbers)}
    if names:
        parameters = list(inspect.signature(function).parameters)
        positions |= {parameters.index(name) for name in names if name in parameters[:count]}
    return sorted(positions)


def _by_position(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    names: set[str],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return positional and keyword arguments, where only static ones are keywords."""
    try:
        bound = inspect.signature(function).bind(*arguments, **keywords)
    except TypeError as refusal:
        raise UsageError(error(f"the arguments do not fit the function: {refusal}")) from None
    left = [name for name in bound.kwargs if name not in names]
    if left:
        message = (
            f"'in_shardings' can't shard the keyword-only arguments {', '.join(left)}: make them "
            "positional, or wrap the function"
        )
        raise UsageError(error(message))
    return bound.args, bound.kwargs
