# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partitioning of programs, and partitioned programs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from mlir_sdy.attribute_search import values_of_attribute
from mlir_sdy.diagnostics import (
    SourceLocation,
    UsageError,
    collect,
    emit,
    error,
    note,
    warning,
    wrong_type,
)
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding, mesh_of
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import SHARDING
from pyshardy.backends import CompileOptions, SpmdProgram, spmd_program
from pyshardy.backends.arrays.sharded_arrays import (
    Column,
    PartNumbers,
    ShardedArray,
    gather,
    run_columns,
    scatter,
)
from pyshardy.backends.donations import settle_donations, shift_aliases
from pyshardy.backends.unsharded import unsharded
from pyshardy.caching.programs import run_or_restore
from pyshardy.caching.store import CacheFolder, Store
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, load_hardware, warn_of_other_axes
from pyshardy.display import Displayed, Table, check_number_of_arrays, counted
from pyshardy.forms import Form, in_form
from pyshardy.irtools.functions import ENTRY, has_body
from pyshardy.irtools.modules import copy_of, form_of, text_of
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of, symbol_name, target_of
from pyshardy.irtools.tokens import close_entry, is_token
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.communication import Collective, collectives_of
from pyshardy.local_program.custom_calls import drop_inspections
from pyshardy.local_program.entry import in_order
from pyshardy.local_program.front_end_hooks import implementations_of, run_steps
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.tensor_spec import Array, TensorSpec
from pyshardy.partition.local.preconditions import check_no_inner_modules
from pyshardy.pipeline import Instrumentation, PipelineError, pipeline_of, run_pipeline, use
from pyshardy.program_interface import (
    LIFT_MESHES,
    WITH_SHARDY,
    InterfaceRecorder,
    Port,
    main_of,
    port_names,
    signature_of,
)
from pyshardy.propagation.unpropagated import looks_unpropagated
from pyshardy.timeline.durations import resource_use_of
from pyshardy.timeline.run import Timeline, TimelineOrder, run_timeline

if TYPE_CHECKING:
    import jax
    from typing_extensions import Unpack

    from pyshardy.frontends.jax.callable import JaxProgram
    from pyshardy.pipeline.options import OptionValue
    from pyshardy.pipelines.partition import PartitionOptions

__all__ = [
    "Collective",
    "PartitionedProgram",
    "Port",
    "ShardedArray",
    "TensorSpec",
    "partition",
    "run_unpartitioned",
    "unsharded",
]

_PIPELINE = "sdy-partition-pipeline"

_LOG = logging.getLogger(__name__)

_RUN = "PartitionedProgram.run"


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The origin of a partitioned program.

    Attributes:
        module: the module that was partitioned, which may have changed since then.
        options: the options of the partitioner.
    """

    module: ir.Module
    options: Mapping[str, OptionValue]


@dataclass(frozen=True, repr=False)
class PartitionedProgram(Displayed):
    """A partitioned program: the local program that all devices of a mesh run.

    Attributes:
        module: the local program, StableHLO with collectives, entered at `@main`. The id of a
            device is `stablehlo.partition_id`.
        mesh: the devices.
        inputs: the arguments.
        outputs: the results.
        collectives: the collectives of the local program.
        origin: the module that was partitioned, if it is known.
    """

    module: ir.Module
    mesh: Mesh
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    collectives: tuple[Collective, ...]
    origin: Origin | None = field(default=None, compare=False)
    _executables: dict[tuple[str, CompileOptions], SpmdProgram] = field(
        default_factory=dict[tuple[str, CompileOptions], SpmdProgram],
        init=False,
        compare=False,
    )
    _timelines: dict[tuple[Hardware, TimelineOrder], Timeline] = field(
        default_factory=dict[tuple[Hardware, TimelineOrder], Timeline], init=False, compare=False
    )

    def summary(self) -> str:
        """Return the mesh, and the numbers of arguments, results and collectives, in one line."""
        sent = sum(each.nbytes_total for each in self.collectives)
        counts = (
            counted(len(items), noun)
            for items, noun in (
                (self.inputs, "argument"),
                (self.outputs, "result"),
                (self.collectives, "collective"),
            )
        )
        return f"mesh {self.mesh}, {', '.join(counts)}, {counted(sent, 'byte')} sent"

    def tables(self, form: Form | None = None) -> list[Table]:
        """Return tables of the arguments, the results and the collectives.

        Args:
            form: the form of shardings; by default that of the front end: `P('data', None)` for a
                program that JAX traced.
        """
        form = form or form_of(self.module)
        collectives = Table(
            "Collectives of pyshardy's partitioner (bytes sent by each device)",
            ("collective", "axes", "location", "times", "bytes sent"),
            [
                (
                    one.kind,
                    ", ".join(one.axes or ()),
                    one.location or "",
                    "?" if one.repetitions is None else one.repetitions,
                    f"{one.nbytes_total:,}",
                )
                for one in self.collectives
            ],
            num_numeric=2,
        )
        return [
            *(
                Table(
                    title,
                    ("name", "global", "sharding", "on each device"),
                    [
                        (
                            port.name,
                            port.spec,
                            in_form(str(port.sharding or "replicated"), form, self.mesh),
                            port.local_spec,
                        )
                        for port in ports
                    ],
                )
                for title, ports in (("Arguments", self.inputs), ("Results", self.outputs))
            ),
            collectives,
        ]

    @property
    def in_shardings(self) -> tuple[TensorSharding | None, ...]:
        """The sharding of each argument; None if replicated."""
        return tuple(port.sharding for port in self.inputs)

    @property
    def out_shardings(self) -> tuple[TensorSharding | None, ...]:
        """The sharding of each result; None if replicated."""
        return tuple(port.sharding for port in self.outputs)

    def run(
        self,
        inputs: Sequence[npt.ArrayLike] | Mapping[str, npt.ArrayLike],
        backend: str = "interpreter",
        options: CompileOptions | None = None,
    ) -> list[Array]:
        """Run the program on simulated devices.

        Args:
            inputs: the global arrays of the arguments, in order or by name. See
                `local_program.tensor_spec` for the arrays of element types that NumPy lacks.
            backend: the name of a backend (see `pyshardy.backends.registry`).
            options: the compile options.

        Returns:
            The global arrays of the results. Small floating-point types are those that `ml_dtypes`
            adds to NumPy, such as `bfloat16`.

        Raises:
            UsageError: the inputs don't match the program, there is no such backend, or a required
                package is missing.
            ExecutionError: the run failed, or devices that should hold equal shards of a result
                hold different values.
        """
        return [array.gather() for array in self.run_sharded(inputs, backend, options)]

    def run_sharded(
        self,
        inputs: Sequence[npt.ArrayLike | ShardedArray] | Mapping[str, npt.ArrayLike | ShardedArray],
        backend: str = "interpreter",
        options: CompileOptions | None = None,
    ) -> list[ShardedArray]:
        """Run the program, and keep the results on the devices.

            state = program.run_sharded([state, batch], "xla")[0]

        Args:
            inputs: global arrays, or results of an earlier run on the devices. These are not copied
                if they have the sharding of the argument.
            backend: the name of a backend.
            options: the compile options.

        Returns:
            The results, whose shards are on the devices.

        Raises:
            UsageError: as for `run`.
            ExecutionError: as for `run`.
        """
        if not isinstance(backend, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            got = type(backend).__name__
            message = f"a backend is given by its name, got a value of type {got}"
            raise UsageError(error(f"{message}; arrays are one list: 'program.run([x, y])'"))
        if not isinstance(options, CompileOptions | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type(_RUN, "options that 'CompileOptions' makes", options)
        inputs = in_order(inputs, [port.name for port in self.inputs])
        check_number_of_arrays(len(inputs), [port.name for port in self.inputs])
        columns = [_column(value, port) for value, port in zip(inputs, self.inputs, strict=True)]
        executable = self.compile(backend, options)
        results = run_columns(executable, columns, self.mesh.total_size)
        return [
            ShardedArray(port.name, port.spec, port.sharding, port.mesh, port.local_spec, column)
            for port, column in zip(self.outputs, results, strict=True)
        ]

    def compile(self, backend: str, options: CompileOptions | None = None) -> SpmdProgram:
        """Compile the program for a backend, once for equal options.

        Args:
            backend: the name of a backend.
            options: the compile options.

        Raises:
            UsageError: there is no such backend, or a required package is missing.
            ExecutionError: the backend rejects the program.
        """
        options = _with_callbacks(options or CompileOptions(), self.module)
        key = backend, options
        executable = self._executables.get(key)
        if executable is None:
            layout = Layout(1, self.mesh.total_size)
            executable = self._executables[key] = spmd_program(
                backend, self.module, layout, options
            )
        return executable

    def as_jax(
        self, devices: jax.sharding.Mesh | None = None, *, nan_safe: bool = False
    ) -> JaxProgram:
        """Return the program as a function of JAX arrays, on the devices of a mesh.

            step = program.as_jax()
            parameters = step(parameters, batch)

        Args:
            devices: the mesh of JAX to run on, which has the axes of `mesh`. The default is the
                mesh for which JAX traced the program, or else the first devices of JAX.
            nan_safe: as in `CompileOptions`.

        Raises:
            UsageError: JAX is missing or has too few devices; `devices` doesn't match the mesh of
                the program; the shardings can't be expressed on one mesh of JAX.
        """
        from pyshardy.frontends.jax.callable import JaxProgram  # noqa: PLC0415 (loads JAX)

        return JaxProgram(
            self.module, self.mesh, self.inputs, self.outputs, devices, nan_safe=nan_safe
        )

    def timeline(self, hardware: Hardware | str, order: TimelineOrder = "scheduled") -> Timeline:
        """Return what runs when on each device, in estimated time.

            print(program.timeline("h100"))

        Args:
            hardware: the devices and links.
            order: `written` for the order of the program; `scheduled` for that in which least
                communication is exposed, which a back end with a scheduler can reach.

        Raises:
            UsageError: there is no such hardware or order.
        """
        model = load_hardware(hardware)
        key = model, order
        if key not in self._timelines:
            use = resource_use_of(self.module)
            self._timelines[key] = run_timeline(use, self.collectives, model, order)
        return self._timelines[key]

    def scatter(self, inputs: Sequence[npt.ArrayLike]) -> list[list[Array]]:
        """Return the shards of the arguments for each device.

        Raises:
            UsageError: the inputs don't match the program.
        """
        arrays = fitting(inputs, [(port.name, port.spec) for port in self.inputs])
        scattered = [_scattered(*each) for each in zip(arrays, self.inputs, strict=True)]
        return [[parts[device] for parts in scattered] for device in range(self.mesh.total_size)]

    def gather(self, held: Sequence[Sequence[Array]]) -> list[Array]:
        """Return the global results from the shards of each device.

        Raises:
            ExecutionError: devices that should hold equal shards of a result hold different values.
        """
        return [
            gather([parts[index] for parts in held], port.sharding, port.mesh, port.spec, port.name)
            for index, port in enumerate(self.outputs)
        ]


def partition(
    module: ir.Module,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    instrumentation: Sequence[Instrumentation] = (),
    cache: CacheFolder = None,
    **options: Unpack[PartitionOptions],
) -> PartitionedProgram:
    """Partition a program, as `pyshardy.partition` does, without advice on violated contracts.

    Raises:
        UsageError: as for `pyshardy.partition`; a call is of a form that XLA reads.
        PipelineError: the program can't be partitioned.
    """
    model = load_hardware(hardware)
    keywords = dict(cast("Mapping[str, OptionValue]", options))
    if model != load_hardware(DEFAULT_HARDWARE):
        keywords["hardware"] = hardware if isinstance(hardware, str) else hardware.text
    local = _entered_at_main(module)
    _check_calls(local)
    interface = InterfaceRecorder()
    pipeline = pipeline_of(use(_PIPELINE, **keywords))

    def run() -> dict[str, Any]:
        if _is_unpropagated(local):
            message = (
                "no operation of the program is sharded, although its arguments are; propagate "
                "their shardings first: sdy.propagate(module)"
            )
            emit(warning(message, location_of(main_of(local).location)))
        run_steps(main_of(local), local)
        drop_inspections(local)
        observers = (interface, *instrumentation)
        run_pipeline(local, pipeline, instrumentation=observers, restore_on_failure=False)
        return interface.to_json()

    store = None if instrumentation else Store.at(cache)
    run_or_restore(store, local, pipeline, run, interface.restore)
    mesh, meshes = interface.mesh, interface.meshes
    sizes = {axis.name: axis.size for each in meshes.values() for axis in each.axes}
    warn_of_other_axes(model, sizes)
    local_specs = signature_of(main_of(local))
    shardings = interface.shardings
    port_meshes = [[_counting_mesh(s, meshes, mesh) for s in some] for some in shardings]
    inputs, outputs = (
        tuple(map(Port, *columns))
        for columns in zip(
            interface.names, interface.specs, shardings, local_specs, port_meshes, strict=True
        )
    )
    place = location_of(main_of(local).location)
    for port in (*inputs, *outputs):
        _check_local_type(port, mesh, place)
    inputs = _with_donations(inputs, outputs, main_of(local))
    collectives = collectives_of(local, mesh)
    _LOG.info("partitioned for %d devices: %d collectives", mesh.total_size, len(collectives))
    return PartitionedProgram(local, mesh, inputs, outputs, collectives, Origin(module, keywords))


_OF_GSPMD = frozenset({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"})


def _check_calls(module: ir.Module) -> None:
    """Check that no calls stand for constraints or manual computations, as in forms of XLA.

    Raises:
        UsageError: one does.
    """
    for call in operations_named({"stablehlo.custom_call"}, module):
        target = target_of(call)
        if target.startswith("xla.sdy."):
            advice = (
                "represents sdy by strings, as in portable artifacts: convert the program by "
                "'sdy-translate FILE --to=portable -o NEW.mlirbc', and read the new file"
            )
        elif target in _OF_GSPMD and not has_discardable(call, SHARDING):
            advice = f"is of GSPMD: {WITH_SHARDY}"
        else:
            continue
        message = f"the custom call '@{target}' {advice}"
        raise UsageError(error(message, location_of(call.location)))


def _is_unpropagated(module: ir.Module) -> bool:
    """Whether nothing in a program is sharded, but propagation would shard or drop something.

    Conflicts can leave nothing sharded in a program that was propagated.
    """
    if not looks_unpropagated(main_of(module)):
        return False
    copy = copy_of(module)
    try:
        with collect():
            run_pipeline(copy, pipeline_of(use("sdy-propagation-pipeline")))
    except PipelineError:
        return False  # The partitioner will report what is wrong.
    before, after = (len([*operations_in(main_of(each))]) for each in (module, copy))
    return after < before or bool(values_of_attribute(SHARDING, main_of(copy)))


def _with_donations(
    inputs: Sequence[Port], outputs: Sequence[Port], entry: ir.Operation
) -> tuple[Port, ...]:
    """Return the arguments; donated ones have the results that reuse their memory."""
    parts = PartNumbers()
    layouts = [
        [
            (port.spec, port.local_spec, parts.of(port.spec.shape, port.sharding, port.mesh))
            for port in ports
        ]
        for ports in (inputs, outputs)
    ]
    donated_to, unused = settle_donations(entry, *layouts)
    for index in unused:
        port, place = (
            inputs[index],
            location_of(entry.regions[0].blocks[0].arguments[index].location),
        )
        message = (
            f"{port.name} is donated, but no remaining result has its type and sharding, "
            f"{port.spec} sharded by {port.sharding}: its memory is not reused"
        )
        emit(warning(message, place))
    return tuple(
        replace(port, donated_to=result) for port, result in zip(inputs, donated_to, strict=True)
    )


def run_unpartitioned(
    module: ir.Module,
    inputs: Sequence[npt.ArrayLike],
    backend: str = "interpreter",
    options: CompileOptions | None = None,
) -> list[Array]:
    """Run the unpartitioned program on one device, ignoring its shardings.

    Args:
        module: the program, entered at `@main` or its only function. It isn't changed.
        inputs: the arrays of its arguments.
        backend: the name of a backend.
        options: the compile options.

    Raises:
        UsageError: the inputs don't match the program, or there is no such backend.
        ExecutionError: the run failed.
        PassError: it has no unsharded form; see `unsharded`.
    """
    return compile_unpartitioned(module, backend, options)(inputs)


def compile_unpartitioned(
    module: ir.Module, backend: str = "interpreter", options: CompileOptions | None = None
) -> Callable[[Sequence[npt.ArrayLike]], list[Array]]:
    """Compile the unpartitioned program for one device, to run it several times.

    The arguments and errors are those of `run_unpartitioned`.

    Returns:
        A function from the arrays of the arguments to those of the results.
    """
    plain = unsharded(_entered_at_main(module))
    drop_inspections(plain)
    entry = main_of(plain)
    options = _with_callbacks(options or CompileOptions(), plain)
    arguments, results = signature_of(entry)
    names, _ = port_names(entry, text_of(module))
    ports = list(zip(names, arguments, strict=True))
    program = spmd_program(backend, plain, Layout(1, 1), options)

    def run(inputs: Sequence[npt.ArrayLike]) -> list[Array]:
        outputs = program.run([fitting(inputs, ports)])[0]
        return [
            array.astype(spec.result_dtype, copy=False)
            for array, spec in zip(outputs, results, strict=True)
        ]

    return run


def mesh_of_program(module: ir.Module) -> Mesh:
    """Return the mesh that `partition` partitions a program for.

    Args:
        module: the program, which isn't changed.

    Raises:
        UsageError: the program has no mesh or no entry.
    """
    copy = _entered_at_main(module)
    interface = InterfaceRecorder()
    run_pipeline(copy, pipeline_of(use(LIFT_MESHES)), instrumentation=[interface])
    return interface.mesh


def _entered_at_main(module: ir.Module) -> ir.Module:
    """Return a copy of a module whose entry is named `@main`."""
    check_no_inner_modules(operations_named({"builtin.module"}, module))
    copy = copy_of(module)
    top_level = [view.operation for view in copy.body.operations]
    functions = [operation for operation in top_level if operation.name == "func.func"]
    names = [symbol_name(function) for function in functions]
    if ENTRY not in names:
        if len(functions) != 1:
            place = location_of(module.operation.location)
            found = f"it has {len(functions)} functions, none of them '@{ENTRY}'"
            erased = (
                "propagation erases private functions that nothing calls: the entry must be public"
            )
            notes = () if functions else (note(erased),)
            raise UsageError(error(f"the program has no entry: {found}", place, notes))
        FunctionView(functions[0]).sym_name = ENTRY
        entry = functions[0]
    else:
        entry = functions[names.index(ENTRY)]
    if not has_body(entry):
        message = f"the program has no entry: '@{ENTRY}' is a declaration without a body"
        raise UsageError(error(message, location_of(entry.location)))
    if FunctionView(entry).sym_visibility is not None:
        # A private function is erased when its last call is inlined, and the entry must stay.
        FunctionView(entry).sym_visibility = "public"
    results = function_type_of(entry).results
    kept = [index for index, each in enumerate(results) if not is_token(each)]
    close_entry(entry)
    shift_aliases(entry, {old: new for new, old in enumerate(kept)})
    return copy


def _with_callbacks(options: CompileOptions, module: ir.Module) -> CompileOptions:
    """Return the options with the functions that the front end of a module has registered."""
    functions = implementations_of(module)
    if not functions:
        return options
    return replace(options, custom_calls=functions | dict(options.custom_calls))


def _column(value: npt.ArrayLike | ShardedArray, port: Port) -> Column:
    """Return the shards of an argument for all devices."""
    if isinstance(value, ShardedArray):
        if value.is_laid_out_as(port.spec, port.sharding, port.mesh, port.local_spec):
            return value.parts
        value = value.gather()
    (array,) = fitting([value], [(port.name, port.spec)])
    return _scattered(array, port)


def _scattered(array: Array, port: Port) -> list[Array]:
    return scatter(array, port.sharding, port.mesh, port.local_spec.shape)


def fitting(
    inputs: Sequence[npt.ArrayLike], expected: Sequence[tuple[str, TensorSpec]]
) -> list[Array]:
    """Return the inputs as arrays of the types that the program expects."""
    names = [name for name, _ in expected]
    given = in_order(inputs, names)
    check_number_of_arrays(len(given), names)
    arrays: list[Array] = []
    for value, (name, spec) in zip(given, expected, strict=True):
        try:
            array = np.asarray(value)
        except ValueError as reason:  # such as rows of different lengths
            raise UsageError(error(f"{name} can't become an array: {reason}")) from None
        if array.shape != spec.shape or not np.can_cast(array.dtype, spec.dtype, "same_kind"):
            got = f"{array.dtype} of shape {array.shape}"
            raise UsageError(
                error(f"{name} must be an array of {spec.dtype} of shape {spec.shape}, got: {got}")
            )
        converted = array.astype(spec.dtype, copy=False)
        are_integers = array.dtype.kind in "iu" and converted.dtype.kind in "iu"
        if converted is not array and are_integers and not np.array_equal(converted, array):
            message = f"{name} has an integer of {array.dtype} that {spec.dtype} can't hold"
            raise UsageError(error(message))
        arrays.append(converted)
    return arrays


def _counting_mesh(
    sharding: TensorSharding | None, meshes: Mapping[str, Mesh], default: Mesh
) -> Mesh:
    """Return the mesh of a sharding; meshes may order the same devices differently."""
    if sharding is None or sharding.has_no_axes:
        return default
    return mesh_of(sharding, meshes) or default


def _check_local_type(port: Port, mesh: Mesh, place: SourceLocation | None) -> None:
    """Check that the local type of an argument or result matches its sharding."""
    if port.mesh.total_size != mesh.total_size:
        message = (
            f"{port.name} is sharded over {port.mesh.total_size} devices, but the program runs on "
            f"{mesh.total_size}: all meshes must have the same number of devices"
        )
        raise UsageError(error(message, place))
    shape = port.spec.shape
    if port.sharding is not None:
        shape = port.sharding.local_shape(shape, port.mesh)
    if port.local_spec.shape != shape:
        message = (
            f"{port.name} has the local type {port.local_spec}, but its sharding requires "
            f"{port.spec.with_shape(shape)}"
        )
        raise UsageError(error(message, place))
