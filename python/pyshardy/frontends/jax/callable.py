# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partitioned programs as functions of JAX."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, stablehlo
from mlir_sdy.model import Mesh, ReductionOp, TensorSharding
from mlir_sdy.uses import replace_by
from pyshardy.backends import jax_internals
from pyshardy.backends.custom_calls import check_no_transfers
from pyshardy.backends.donations import drop_donations
from pyshardy.backends.xla.preparation import prepare_for_xla
from pyshardy.display import Displayed, check_number_of_arrays, counted
from pyshardy.frontends.jax import callbacks
from pyshardy.frontends.jax.dtypes import dtype_of, with_keys, without_keys
from pyshardy.frontends.jax.lowered import Structure, structure_of
from pyshardy.frontends.jax.meshes import (
    RefinedMesh,
    available_devices,
    check_axis_names,
    cut_mesh,
    device_mesh,
    explicit_mesh,
    mesh_in_force,
    mesh_of_model,
    partition_spec,
    refined_mesh,
)
from pyshardy.frontends.portable import serialize
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import COLLECTIVES, CollectiveView
from pyshardy.irtools.tensor_types import element_type_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.process_groups import Groups, Layout, process_groups, process_pairs
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.packages import require
from pyshardy.partition.types.local_builder import LocalBuilder

if TYPE_CHECKING:
    import jax


_ARGUMENT = re.compile(r"argument arrays\[(\d+)\] of \S+")
"""An argument in JAX's errors, which name it by the parameters of a function in this module."""

_NO_MEMBER = -1


class PortLike(Protocol):
    """An argument or a result of a partitioned program; see `pyshardy.program.Port`."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def spec(self) -> TensorSpec: ...  # noqa: D102
    @property
    def sharding(self) -> TensorSharding | None: ...  # noqa: D102
    @property
    def local_spec(self) -> TensorSpec: ...  # noqa: D102
    @property
    def mesh(self) -> Mesh: ...  # noqa: D102
    @property
    def donated_to(self) -> int | None: ...  # noqa: D102


class JaxProgram(Displayed):
    """A partitioned program as a function of arrays of JAX on the devices of a mesh.

    It is a function made by `jax.jit`, so it may be called within other jitted functions, and on
    arrays that are on the devices; its results stay there, sharded. Arguments whose shardings
    differ from `in_shardings` are resharded on the devices.

    Args:
        module: the local program. It isn't changed.
        mesh: the devices by their numbers in the program.
        inputs: the arguments.
        outputs: the results.
        devices: the mesh of JAX to run on. The default is the mesh for which JAX traced the
            program, or that of `jax.set_mesh` if it has the same axes, or else the first devices.
        nan_safe: whether maxima and minima of several devices keep NaN on a CPU.

    Attributes:
        mesh: the mesh of JAX. Its axes are split where shardings use sub-axes, and keep their kinds
            (`jax.sharding.AxisType`), but are of kind Explicit if an argument or a result is
            unreduced, since JAX has no other unreduced arrays.
        in_shardings: the shardings of the arguments, as a tree like `(args, kwargs)` if JAX has
            traced the program, and as a tuple otherwise.
        out_shardings: the shardings of the results, as a tree like the result.

    Raises:
        UsageError: JAX is missing or has too few devices; `devices` doesn't match the mesh of the
            program; the shardings can't be expressed on one mesh of JAX.
    """

    def __init__(
        self,
        module: ir.Module,
        mesh: Mesh,
        inputs: Sequence[PortLike],
        outputs: Sequence[PortLike],
        devices: jax.sharding.Mesh | None = None,
        *,
        nan_safe: bool = False,
    ):
        require("jax", "'as_jax'", extra="jax")
        import jax  # noqa: PLC0415

        self._inputs, self._outputs = tuple(inputs), tuple(outputs)
        self._structure = structure_of(module, arguments=len(inputs), results=len(outputs))
        refined = refined_mesh(mesh, ((port.sharding, port.mesh) for port in (*inputs, *outputs)))
        in_specs, out_specs = (
            tuple(_partition_spec(port, refined) for port in ports) for ports in (inputs, outputs)
        )
        cut = cut_mesh(refined, _uncut_mesh(mesh, devices, self._structure))
        has_unreduced = any(spec.unreduced for spec in (*in_specs, *out_specs))
        self.mesh = explicit_mesh(cut) if has_unreduced else cut
        shardings = [
            [jax.sharding.NamedSharding(self.mesh, spec) for spec in specs]
            for specs in (in_specs, out_specs)
        ]
        self._shardings = shardings[0]
        self.in_shardings: Any = self._in_tree_of(shardings[0])
        self.out_shardings: Any = self._out_tree_of(shardings[1])

        platform = self.mesh.devices.flat[0].platform

        def compiled(failures: callbacks.Failures | None) -> Callable[..., Any]:
            local = jax.shard_map(
                _local_function(
                    module, mesh, inputs, outputs, failures, platform, nan_safe=nan_safe
                ),
                mesh=self.mesh,
                in_specs=in_specs,
                out_specs=out_specs,
                # JAX cannot check for a foreign program whether copies are equal on all devices.
                check_vma=False,
            )
            function = _without_batching(_laid_out(local, shardings[0]))
            if not self._calls_back:  # JAX has no gradient of its own for those that do
                function = _without_gradient(function)
            donated = [index for index, port in enumerate(inputs) if port.donated_to is not None]
            return jax.jit(
                function, out_shardings=tuple(shardings[1]), donate_argnums=tuple(donated)
            )

        self._calls_back = bool(callbacks.functions_in(module))
        self._failures = callbacks.Failures()
        self._run = compiled(self._failures if self._calls_back else None)
        # Within another jitted function, no exception can be raised after the run.
        self._run_within = compiled(None) if self._calls_back else self._run

    def summary(self) -> str:
        """Return the mesh and the numbers of arguments and results in one line."""
        arguments = counted(len(self._inputs), "argument")
        return f"mesh {dict(self.mesh.shape)}, {arguments}, {counted(len(self._outputs), 'result')}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program.

        Args:
            args: the arguments, as trees if JAX has traced the program.
            kwargs: the keyword arguments, if it was traced with some.

        Returns:
            The results: a tree like the result of the traced function, else a tuple.

        Raises:
            UsageError: the arguments don't match the program.
            Exception: a callback of the program raised it.
        """
        import jax.core  # noqa: PLC0415

        leaves = self._leaves(args, kwargs)
        arrays = [
            _placed(_fitting(without_keys(leaf), port), sharding, port.name)
            for leaf, port, sharding in zip(leaves, self._inputs, self._shardings, strict=True)
        ]
        if any(isinstance(array, jax.core.Tracer) for array in arrays):
            results = self._run_within(*arrays)
        else:
            results = self._run_on_devices(arrays)
            if self._calls_back:
                jax.block_until_ready(results)
                jax.effects_barrier()
                self._failures.check()
        if self._structure is not None:
            results = map(with_keys, results, self._structure.keys)
        return self._out_tree_of(results)

    def _run_on_devices(self, arrays: Sequence[Any]) -> Any:
        """Run the program on arrays; an error of JAX about an array names the argument."""
        try:
            return self._run(*arrays)
        except ValueError as refusal:
            found = _ARGUMENT.search(str(refusal))
            if found is None:
                raise
            message = _ARGUMENT.sub(f"argument {self._inputs[int(found[1])].name}", str(refusal))
            raise UsageError(error(message.splitlines()[0])) from None

    def _leaves(self, args: Any, kwargs: Any) -> Sequence[Any]:
        import jax  # noqa: PLC0415

        if self._structure is None:
            if kwargs:
                message = f"the program takes no keyword arguments, got: {', '.join(kwargs)}"
                raise UsageError(error(message))
            check_number_of_arrays(len(args), [port.name for port in self._inputs])
            return args
        leaves, tree = jax.tree.flatten((args, kwargs))
        if tree != self._structure.in_tree:
            expected = _tree_text(self._structure.in_tree)
            message = f"the program takes arguments like {expected}, got: {_tree_text(tree)}"
            raise UsageError(error(message))
        return [leaves[index] for index in self._structure.kept]

    def _in_tree_of(self, leaves: Sequence[Any]) -> Any:
        if self._structure is None:
            return tuple(leaves)
        # Unused arguments may have any sharding.
        every: list[Any] = [None] * self._structure.in_tree.num_leaves
        for index, leaf in zip(self._structure.kept, leaves, strict=True):
            every[index] = leaf
        return self._structure.in_tree.unflatten(every)

    def _out_tree_of(self, leaves: Iterable[Any]) -> Any:
        if self._structure is None:
            return tuple(leaves)
        return self._structure.out_tree.unflatten(leaves)


def _uncut_mesh(mesh: Mesh, given: Any, structure: Structure | None) -> jax.sharding.Mesh:
    """Return the mesh of JAX to run on, with the axes of the program's mesh."""
    import jax  # noqa: PLC0415

    check_axis_names(mesh)
    if given is not None:
        if not isinstance(given, jax.sharding.Mesh):
            got = f"got: {type(given).__name__}"
            raise UsageError(error(f"expected a jax.sharding.Mesh to run on, {got}"))
        if (found := mesh_of_model(given)).axes != mesh.axes:
            message = f"the program is partitioned for the mesh {mesh} and cannot run on {found}"
            raise UsageError(error(message))
        return given
    for known in (structure and structure.mesh, mesh_in_force()):
        if known is not None and mesh_of_model(known).axes == mesh.axes:
            return known
    first = available_devices(mesh.total_size)
    return device_mesh(mesh, [first[device] for device in mesh.devices])


def _laid_out(function: Callable[..., Any], shardings: Sequence[Any]) -> Callable[..., Any]:
    """Return a function that reshards its arguments as the program requires.

    With axes of kind Auto only, the compiler reshards the arguments. With Explicit axes, on the
    mesh of the program or of an argument, the reshards have to be inserted: JAX rejects such an
    argument, or (from 0.11 on) lowers an invalid program.
    """
    import jax  # noqa: PLC0415

    explicit = jax.sharding.AxisType.Explicit

    def lay_out(array: Any, sharding: Any) -> Any:
        if explicit in sharding.mesh.axis_types:
            return jax.sharding.reshard(array, sharding)
        if explicit in jax.typeof(array).sharding.mesh.axis_types:
            return jax.device_put(array, sharding)
        return array

    return lambda *arrays: function(*map(lay_out, arrays, shardings))


def _without_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a gradient rule that raises an error with a hint."""
    import jax  # noqa: PLC0415

    refusing = jax.custom_vjp(function)
    refusing.defvjp(_refuse_gradient, _refuse_gradient)
    return refusing


def _refuse_gradient(*_: Any) -> Any:
    message = "a partitioned program cannot be differentiated"
    raise UsageError(error(f"{message}: trace and partition its gradient, jax.grad(f), instead"))


def _without_batching(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a rule for `jax.vmap` that raises an error with a hint."""
    import jax.custom_batching  # noqa: PLC0415

    refusing = jax.custom_batching.custom_vmap(function)
    refusing.def_vmap(_refuse_batching)
    return refusing


def _refuse_batching(*_: Any) -> Any:
    message = "a partitioned program cannot be batched"
    raise UsageError(error(f"{message}: trace and partition jax.vmap(f) instead"))


def _partition_spec(port: PortLike, grid: RefinedMesh) -> jax.sharding.PartitionSpec:
    if port.sharding is None or port.sharding.has_no_axes:
        return partition_spec([()] * len(port.spec.shape))
    if port.sharding.reduction_kind is not ReductionOp.SUM:
        message = (
            f"{port.name} is unreduced by {port.sharding.reduction_kind.keyword}, but unreduced "
            "arrays of JAX are sums: complete it by an all-reduce, or use 'run'"
        )
        raise UsageError(error(message))
    unreduced = grid.names_of(port.sharding.unreduced_axes, port.mesh)
    return partition_spec(grid.axes_of(port.sharding, port.mesh), unreduced)


def _local_function(
    module: ir.Module,
    mesh: Mesh,
    inputs: Sequence[PortLike],
    outputs: Sequence[PortLike],
    failures: callbacks.Failures | None,
    platform: str,
    *,
    nan_safe: bool,
) -> Callable[..., Any]:
    """Return the local program as a function of shards.

    JAX can call foreign programs in the form of `jax.export.Exported`. So a function with the same
    arguments and results is exported, and its body is replaced.
    """
    import jax  # noqa: PLC0415
    import jax.export  # noqa: PLC0415
    from jax import numpy as jnp  # noqa: PLC0415

    arguments, results = (
        [jax.ShapeDtypeStruct(p.local_spec.shape, dtype_of(p.local_spec.element)) for p in ports]
        for ports in (inputs, outputs)
    )

    def stand_in(*_: Any) -> tuple[Any, ...]:
        return tuple(jnp.zeros(result.shape, result.dtype) for result in results)

    exported = jax.export.export(
        jax.jit(stand_in, keep_unused=True),
        disabled_checks=[jax.export.DisabledSafetyCheck.platform()],
    )(*arguments)
    local = copy_of(module)
    if mesh.device_ids:
        renumber(local, mesh.device_ids)
    check_no_transfers(local, "JAX")
    drop_donations(ir.SymbolTable(local.operation)["main"].operation)  # They are those of JAX.
    prepare_for_xla(local, platform, nan_safe=nan_safe)
    version = stablehlo.get_smaller_version(
        stablehlo.get_current_version(), jax_internals.stablehlo_version()
    )

    def with_callbacks(first: int, kind: str) -> jax.export.Exported:
        """Return the program whose first callback has a number, on a platform."""
        numbered = callbacks.numbered(local, first, kind)
        # The gradient of the placeholder is not that of the program.
        return jax_internals.with_artifact(exported, serialize(numbered, version))

    functions = callbacks.functions_in(local, failures)
    if not functions:
        return with_callbacks(0, platform).call
    return jax_internals.CallingProgram(
        with_callbacks, functions, results, callbacks.have_effects(local), _refuse_gradient
    )


def _fitting(value: Any, port: PortLike) -> Any:
    """Return the value as an array of the type that the program expects, or raise an error."""
    import jax  # noqa: PLC0415
    from jax import numpy as jnp  # noqa: PLC0415

    dtype = dtype_of(port.spec.element)
    if isinstance(value, bool | int | float | complex):
        value = jnp.asarray(value, dtype)
    found = getattr(value, "dtype", None)
    if (
        found is None
        or jax.dtypes.canonicalize_dtype(found) != dtype
        or (value.shape != port.spec.shape)
    ):
        got = type(value).__name__ if found is None else f"{found} of shape {value.shape}"
        expected = f"an array of {dtype} of shape {port.spec.shape}"
        raise UsageError(error(f"{port.name} must be {expected}, got: {got}"))
    return value


def _placed(array: Any, sharding: jax.sharding.NamedSharding, name: str) -> Any:
    """Return an array on the devices if it is to become unreduced, which JAX requires then."""
    import jax.core  # noqa: PLC0415

    given = getattr(array, "sharding", None)
    if isinstance(array, jax.core.Tracer) or not sharding.spec.unreduced:
        return array
    if isinstance(given, jax.sharding.NamedSharding) and given.spec.unreduced:
        return array
    if array.dtype.kind == "c":  # XLA would end the process.
        message = f"{name} is unreduced, and JAX makes no complex array unreduced: use 'run'"
        raise UsageError(error(message))
    complete = jax.sharding.PartitionSpec(*sharding.spec.partitions)
    return jax.device_put(array, jax.sharding.NamedSharding(sharding.mesh, complete))


def _tree_text(tree: Any) -> str:
    return str(tree).removeprefix("PyTreeDef(").removesuffix(")")


def renumber(module: ir.Module, ids: Sequence[int]) -> None:
    """Renumber devices: `position` is the new number of the device `ids[position]`.

    1. The groups and pairs of collectives are mapped to positions.
    2. Reads of the device id become look-ups of `ids` at the position.

    With `ids` 2, 0, 1, the groups [[0, 1]] become [[1, 2]].

    Args:
        module: a local program for as many partitions as there are ids. It is changed in place.
        ids: a permutation of 0, 1, ...
    """
    layout = Layout(1, len(ids))
    position_of = {device: position for position, device in enumerate(ids)}
    collectives = operations_named(COLLECTIVES, module)
    questions = operations_named(["stablehlo.partition_id"], module)
    with module.context:
        for collective in collectives:
            if collective.name == "stablehlo.collective_permute":
                field, groups = (
                    CollectiveView.source_target_pairs,
                    process_pairs(collective, layout),
                )
            else:
                field, groups = CollectiveView.replica_groups, process_groups(collective, layout)
            moved = tuple(tuple(position_of[device] for device in group) for group in groups)
            field.set_on(collective, ir.DenseElementsAttr.get(_table(moved)))
        for question in questions:
            with ir.InsertionPoint(question), question.location:
                builder = LocalBuilder({})
                device = builder.per_device(list(ids))
                answer = builder.convert(device, element_type_of(question.result.type))
            replace_by(question, answer)


def _table(groups: Groups) -> np.ndarray:
    """Return groups as rows of one length, in StableHLO's form."""
    longest = max(map(len, groups))
    rows = [[*group, *[_NO_MEMBER] * (longest - len(group))] for group in groups]
    return np.array(rows, np.int64)
