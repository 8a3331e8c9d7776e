# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.mpmd.partition`: from a program with names to programs of fragments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import cast

from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import Diagnostic, UsageError, collect, emit, error, warning
from mlir_sdy.discardable import remove_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh
from mlir_sdy.mpmd.reading import (
    FRAGMENT_CALL,
    MESH_SHAPE,
    NAMED_COMPUTATION,
    NAMED_TENSOR,
    name_of,
    topology_of,
)
from mlir_sdy.mpmd.values import Topology
from mlir_sdy.sdy import MeshOp
from mlir_sdy.values import map_shardings, set_argument_attributes, set_result_attributes
from mlir_sdy.verify import verify
from pyshardy.any_program import Program, module_of
from pyshardy.api import propagate_with
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.functions import ENTRY, CallGraph
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import FunctionView, callee_of, function_type_of
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd import tracing
from pyshardy.mpmd.options import Transfers
from pyshardy.mpmd.passes.conflicts import REDUCTIONS, TRANSFERS
from pyshardy.mpmd.passes.import_names import annotate_names
from pyshardy.mpmd.passes.merging import NOT_ABSORBED
from pyshardy.mpmd.passes.validating import changes_sharding, copying_calls, message_of
from pyshardy.mpmd.pipelines import convert_shardings, export_pipeline, propagate, simplify
from pyshardy.mpmd.plan import ExecutionPlan, UnitRecorder, execution_plan
from pyshardy.mpmd.program import FragmentFunction, MpmdProgram
from pyshardy.mpmd.rewriting.bodies import inline_shared_bodies, share_bodies
from pyshardy.mpmd.rewriting.functions import entry_points
from pyshardy.mpmd.rewriting.marks import LAYOUT_MODE
from pyshardy.mpmd.rewriting.transfers import without_detours
from pyshardy.mpmd.schedules.schedule import WrittenSchedule, read_schedule
from pyshardy.mpmd.tracing import (
    ASSIGNMENT,
    IN_MESHES,
    KEPT,
    OUT_MESHES,
    Axes,
    Place,
    annotate,
    told_by,
)
from pyshardy.pipeline import PassPipeline, PassUse, PipelineError, pipeline_of, run_pipeline, use
from pyshardy.program import PartitionedProgram
from pyshardy.program import partition as partition_program

_MESH = "mesh"
"""The name of the mesh in the module of a fragment, so that equal fragments have equal texts."""


def partition(
    module: Program,
    *,
    schedule: str | WrittenSchedule = "1f1b",
    topology: Topology | Mapping[str, Axes] | None = None,
    assignment: Mapping[str, Place] | None = None,
    infer_transfers: bool = True,
    infer_reductions: bool = True,
    transfers: Transfers = "auto",
    hardware: Hardware | str = DEFAULT_HARDWARE,
) -> MpmdProgram:
    """Partition a program with names into fragments on meshes, each of them partitioned.

        program = sdy.mpmd.partition(module, schedule="1f1b")
        outputs = program.run(inputs, backend="jit")

    Args:
        module: a program with names: one that `sdy.mpmd.trace` returned, or a text with operations
            of the mpmd dialect. It isn't changed.
        schedule: the order of the fragments of each mesh: a name with options, such as
            `"zb-h2{latency=1}"`, `"none"` for the order of the program, or a `sdy.mpmd.Schedule`.
        topology: the meshes, if the program has none.
        assignment: the meshes of names, if the program has none; see `sdy.mpmd.trace`.
        infer_transfers: whether operations without a name get transfers that they need.
        infer_reductions: whether reductions of values of several meshes are split by mesh.
        transfers: how values go to meshes that need another sharding: `direct` for messages from
            shards to shards; `same-sharding` for fragments that change the sharding, if the meshes
            are equal; `auto` for the way of least estimated time, which may also be that devices
            that need equal shards get a part each, and gather it.
        hardware: the devices and links that fragments are partitioned for.

    Raises:
        UsageError: the program has no topology; a schedule or mesh is unknown, or the schedule
            isn't for such a program.
        PipelineError: names have no mesh, or need transfers, or can't be converted.
        VerificationError: a value has a sharding that its type can't have.
    """
    splits_backward(schedule)  # an unknown schedule is said before the import
    given = Partitioning(
        module_of("mpmd.partition", module),
        topology=topology,
        assignment=assignment,
        infer_transfers=infer_transfers,
        infer_reductions=infer_reductions,
        transfers=transfers,
        hardware=hardware,
    )
    return given.by(schedule)


def splits_backward(schedule: str | WrittenSchedule) -> bool:
    """Whether a schedule, as for `partition`, orders the halves of backward fragments.

    Raises:
        UsageError: the schedule is unknown.
    """
    if not isinstance(cast("object", schedule), str | WrittenSchedule):
        message = (
            f"'schedule' is a name, such as '1f1b', or an 'sdy.mpmd.Schedule' of the order of each "
            f"mesh, got: {type(schedule).__name__}"
        )
        raise UsageError(error(message))
    written = str(schedule)
    return written != "none" and read_schedule(written).splits_backward


class Partitioning:
    """The work that programs of one module share, which differ in their schedules.

    Shardings are propagated before a schedule orders the fragments, or needs halves of backward
    ones, so that they don't depend on it. Equal fragments share a program, here and in other
    modules with the same `programs`.

    Args:
        module: the module. It isn't changed.
        topology: the meshes, if the program has none.
        assignment: the meshes of names, if the program has none.
        infer_transfers: as for `partition`.
        infer_reductions: as for `partition`.
        transfers: as for `partition`.
        hardware: the devices and links that fragments are partitioned for.
        programs: the programs of fragments by their texts.

    Attributes:
        given: the module, with the topology and the meshes of its names.
        assignment: the meshes of names as texts, `name@mesh`.

    Raises:
        UsageError: the program has no topology, or a mesh is unknown.
    """

    def __init__(
        self,
        module: ir.Module,
        *,
        topology: Topology | Mapping[str, Axes] | None = None,
        assignment: Mapping[str, Place] | None = None,
        infer_transfers: bool = True,
        infer_reductions: bool = True,
        transfers: Transfers = "auto",
        hardware: Hardware | str = DEFAULT_HARDWARE,
        programs: dict[str, PartitionedProgram] | None = None,
    ) -> None:
        local = copy_of(module)
        given = tracing.Topology(topology) if isinstance(topology, Mapping) else topology
        names = annotate_names(local) | names_of(local)
        if given is not None or assignment is not None:
            annotate(local, given, assignment or {}, {}, names)
        entries = entry_points(local)
        if len(entries) != 1:
            place, count = location_of(local.operation.location), len(entries)
            message = f"the program has {count} public functions with a topology instead of one"
            remedy = "give 'topology' (--topology of sdy-mpmd), or see sdy.mpmd.trace"
            raise UsageError(error(f"{message}: {remedy}", place))
        assert topology_of(entries[0]) is not None, "it is an entry point"
        if calls := operations_named({FRAGMENT_CALL}, entries[0]):
            message = "the program is partitioned already: pass the one that it was made from"
            raise UsageError(error(message, location_of(calls[0].location)))
        told = {
            name: told_by(entries[0], name) for name in (ASSIGNMENT, IN_MESHES, OUT_MESHES, KEPT)
        }
        self._import = use(
            "mpmd-import-pipeline",
            name_to_mesh_assignment=told[ASSIGNMENT],
            input_assignment=told[IN_MESHES],
            output_assignment=told[OUT_MESHES],
            input_output_constraints=told[KEPT],
            infer_transfers=infer_transfers,
            infer_cross_mesh_reductions=infer_reductions,
        )
        self.assignment = told[ASSIGNMENT]
        self.given = local
        self._hardware = hardware
        self._propagation = (
            "mpmd-move-shardings-to-meshes",
            *propagate(transfers, hardware.text if isinstance(hardware, Hardware) else hardware),
        )
        self._programs = {} if programs is None else programs

    def by(self, schedule: str | WrittenSchedule) -> MpmdProgram:
        """Return the program in the order of a schedule.

        Raises:
            UsageError: the schedule is unknown, or isn't for such a program.
            PipelineError: names have no mesh, or need transfers, or can't be converted.
            VerificationError: a value has a sharding that its type can't have.
        """
        written = str(schedule)
        local = copy_of(self._split if splits_backward(schedule) else self._whole)
        units = UnitRecorder()
        _run(
            local,
            use("mpmd-optimize-pipeline", pipeline_schedule=written),
            *(each for each in export_pipeline().passes() if each.name not in _SKIPPED),
            units=units,
        )
        for call in filter(changes_sharding, copying_calls(local)):
            emit(warning(message_of(call), location_of(call.location)))
        inline_shared_bodies(local)
        verify(local)  # takes longer before equal fragments have a function
        (main,) = entry_points(local)
        plan = execution_plan(main, units.units)
        fragments = _fragments(local, plan, self._hardware, self._programs)
        return MpmdProgram(local, plan, fragments, written)

    @cached_property
    def _propagated(self) -> ir.Module:
        """The program with fragments, and the shardings of all values."""
        local = copy_of(self.given)
        _run(local, self._import)
        for entry in entry_points(local):
            without_detours(entry)
        _run(local, *self._propagation)
        return local

    @cached_property
    def _whole(self) -> ir.Module:
        """The program with shardings in its types, its backward fragments whole."""
        return self._converted(splits_backward=False)

    @cached_property
    def _split(self) -> ir.Module:
        """The program with shardings in its types, its backward fragments in halves."""
        return self._converted(splits_backward=True)

    def _converted(self, *, splits_backward: bool) -> ir.Module:
        local = copy_of(self._propagated)
        _run(local, *convert_shardings(splits_backward=splits_backward), *simplify())
        share_bodies(local)
        return local


_KEYWORDS = {
    TRANSFERS: "'infer_transfers=True' of sdy.mpmd.partition",
    REDUCTIONS: "'infer_reductions=True' of sdy.mpmd.partition",
}
"""The remedies of mesh inference as keywords, instead of options of passes."""

_SKIPPED = {
    f"mpmd-validate-no-{what}" for what in ("inferred-fragments", "backward-deps", "reshards")
}
"""Passes that warn of what is usual here: fragments without a name, such as updates of weights;
values that go to a mesh with an earlier name, in steps of decoding and from stage to stage; and
fragments that return their arguments in equal shardings."""


def _run(
    module: ir.Module, *passes: str | PassUse | PassPipeline, units: UnitRecorder | None = None
) -> None:
    """Run passes, whose diagnostics are for callers of `partition`."""
    observers = [] if units is None else [units]
    with collect() as warnings:
        try:
            run_pipeline(
                module,
                pipeline_of(*passes),
                instrumentation=observers,
                verify_each=False,
                restore_on_failure=False,
            )
        except PipelineError as failure:
            first, *others = map(_spelled, failure.diagnostics)
            failure.diagnostics = first, *others
            raise
    for each in warnings:
        if not each.message.endswith(NOT_ABSORBED):  # it isn't a fragment of the user
            emit(each)


def _spelled(diagnostic: Diagnostic) -> Diagnostic:
    message = diagnostic.message
    for option, keyword in _KEYWORDS.items():
        message = message.replace(option, keyword)
    return replace(diagnostic, message=message)


def names_of(module: ir.Module) -> set[str]:
    """Return the names of computations and tensors in a module."""
    return {name_of(each) for each in operations_named({NAMED_COMPUTATION, NAMED_TENSOR}, module)}


def _fragments(
    module: ir.Module,
    plan: ExecutionPlan,
    hardware: Hardware | str,
    known: dict[str, PartitionedProgram],
) -> dict[str, FragmentFunction]:
    """Return the fragments by the names of their functions; equal ones share a program.

    Args:
        module: the exported module.
        plan: its fragments and transfers.
        hardware: the devices and links.
        known: programs by the text of their module, to which new ones are added.
    """
    graph = CallGraph(module)
    found: dict[str, FragmentFunction] = {}
    for call in plan.calls:
        if call.name not in found:
            named = plan.topology.named(call.mesh)
            assert named is not None, "calls are verified"
            alone = fragment_module(module, graph, call.name, named.mesh)
            key = alone.operation.get_asm(assume_verified=True)
            if key not in known:
                propagate_with(alone, {}, is_temporary=True)
                known[key] = partition_program(alone, hardware=hardware)
            found[call.name] = FragmentFunction(call.name, known[key])
    return found


def fragment_module(module: ir.Module, graph: CallGraph, name: str, mesh: Mesh) -> ir.Module:
    """Return the function of a fragment as the entry of a module with one mesh."""
    alone = ir.Module.create(module.operation.location)
    for attribute, value in module.operation.attributes.items():  # names the callbacks of JAX
        set_discardable(alone.operation, attribute, value)
    with alone.context, alone.operation.location, ir.InsertionPoint(alone.body):
        MeshOp(_MESH, attribute_of(mesh))
    for each in [name, *_called(graph, name)]:
        copy = graph.functions[each].clone(ip=False).operation
        alone.body.append(copy)
        if each == name:
            remove_discardable(copy, MESH_SHAPE, "reserved_hbm_bytes")
            # Its memory is free after the run, whether a result reuses it or not.
            inputs, results = function_type_of(copy).inputs, function_type_of(copy).results
            set_argument_attributes(copy, "jax.buffer_donor", dict.fromkeys(range(len(inputs))))
            # The arrays of all engines have the default layout.
            set_argument_attributes(copy, LAYOUT_MODE, dict.fromkeys(range(len(inputs))))
            set_result_attributes(copy, LAYOUT_MODE, dict.fromkeys(range(len(results))))
            FunctionView(copy).sym_name = ENTRY
            FunctionView(copy).sym_visibility = "public"
    map_shardings(alone, lambda sharding: sharding.with_mesh(_MESH))
    return alone


def _called(graph: CallGraph, name: str) -> list[str]:
    """Return the functions that a function calls, directly or indirectly."""
    found: dict[str, None] = {}
    stack = [name]
    while stack:
        for call in graph.calls[stack.pop()]:
            if callee_of(call) not in found:
                found[callee_of(call)] = None
                stack.append(callee_of(call))
    return list(found)
