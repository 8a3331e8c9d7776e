# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program between tactics.

The program is imported once. A tactic adds axes to its shardings, from which propagation goes on:
as in propagation by user priorities, the shardings of earlier tactics stay. A copy is exported and
partitioned for the preview.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import (
    get_sharding,
    result_shardings,
    set_result_shardings,
    set_sharding,
)
from mlir_sdy.verify import verify
from pyshardy.irtools.functions import main_function
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.named_values import NamedValues, name_of, result_names
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.op_facts.device_meshes import device_mesh_of
from pyshardy.pipeline import PassPipeline, PassUse, pipeline_of, run_pipeline
from pyshardy.pipeline.options import with_defaults
from pyshardy.pipelines.propagation import (
    PropagationOptions,
    after_propagation,
    before_propagation,
    propagation_itself,
)
from pyshardy.propagation.explained_record import Propagation
from pyshardy.propagation.observer import observed_by
from pyshardy.schedules.groups import group_members
from pyshardy.schedules.separate_reshards import separate_reshards
from pyshardy.schedules.tactics import Assignment, SeparateReshards
from pyshardy.schedules.view import TacticProgram, TacticValue
from pyshardy.schedules.weights import partial_results, weight_dims


@dataclass(frozen=True, slots=True)
class Skipped:
    """An assignment that has no effect.

    Attributes:
        assignment: the assignment.
        reason: the reason.
    """

    assignment: Assignment
    reason: str

    def __str__(self) -> str:
        return f"{self.assignment.value}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Propagated:
    """A program after a tactic, exported.

    Attributes:
        module: the program.
        values: its values by name.
        record: the record of the propagation since the tactic before.
    """

    module: ir.Module
    values: NamedValues
    record: Propagation


class ProgramState:
    """An imported program with the shardings of the tactics so far.

    Args:
        module: the annotated program, which isn't changed.
        options: the options of propagation.

    Raises:
        UsageError: it has no entry or no mesh.
        PipelineError: it can't be imported.
    """

    def __init__(self, module: ir.Module, options: PropagationOptions):
        self._options = with_defaults(PropagationOptions, options)
        self._annotated = module
        self._module = copy_of(module)
        self._values = NamedValues.marked(self._module, NamedValues(module).text)
        self._groups = group_members(self._module, self._values)
        _run(self._module, before_propagation(self._options))
        main = main_function(self._module)
        mesh = None if main is None else device_mesh_of(main)
        if main is None or mesh is None:
            missing = "entry '@main'" if main is None else "mesh"
            raise UsageError(error(f"a schedule needs a program with a {missing}"))
        self._mesh_name = mesh
        self._inner: dict[str, list[ir.Value]] = {}
        self._separate: dict[str, None] = {}
        self._has_tactics = False

    @property
    def mesh(self) -> Mesh:
        """The mesh of the shardings."""
        return meshes_of(self._module)[self._mesh_name]

    def view(self) -> TacticProgram:
        """Return the arguments and results with their present shardings."""
        main = self._main()
        arguments: list[TacticValue] = []
        for index, argument in enumerate(main.regions[0].blocks[0].arguments):
            name, shape = name_of(argument) or f"arg{index}", shape_of(argument.type)
            dims = weight_dims(argument)
            arguments.append(
                TacticValue(
                    name, shape, get_sharding(argument), dims.free, dims.batch, dims.indexed
                )
            )
        types, shardings = function_type_of(main).results, result_shardings(main)
        results = [
            TacticValue(name or f"result[{index}]", shape_of(result), sharding)
            for index, (name, result, sharding) in enumerate(
                zip(result_names(main), types, shardings, strict=True)
            )
        ]
        return TacticProgram(
            arguments, results, self.mesh, self._annotated, self._partial_results()
        )

    def _partial_results(self) -> dict[str, list[TacticValue]]:
        """Return the partial results along each axis; the copies of a value are one."""
        self._inner = {}
        found: dict[str, list[TacticValue]] = {}
        for value, axes in partial_results(self._module):
            (name,) = self._values.result_names_of(value.owner.operation)
            copies = self._inner.setdefault(name, [])
            if name and not copies:
                partial = TacticValue(name, shape_of(value.type), get_sharding(value))
                for axis in axes:
                    found.setdefault(axis, []).append(partial)
            copies.append(value)
        return found

    def apply(
        self, effects: Iterable[Assignment | SeparateReshards]
    ) -> tuple[list[Assignment], list[Skipped]]:
        """Add axes to shardings; return the assignments that were made, and the others.

        Reshards are separated when the program is exported.

        Raises:
            UsageError: there is no such value.
        """
        self._has_tactics = True
        made: list[Assignment] = []
        skipped: list[Skipped] = []
        for assignment in effects:
            if isinstance(assignment, SeparateReshards):
                self._separate[assignment.value] = None
                continue
            reason = self._assign(assignment)
            if reason:
                skipped.append(Skipped(assignment, reason))
            else:
                made.append(assignment)
        return made, skipped

    def propagate(self) -> Propagated:
        """Propagate the shardings, and return an exported copy for which the record is valid."""
        record = Propagation(follows_tactics=self._has_tactics)
        with observed_by(record):
            _run(self._module, propagation_itself(self._options))
        exported, values, self._inner = self._module, self._values, {}
        self._module = copy_of(exported)
        self._values = values.in_copy(self._module)
        _run(exported, after_propagation(self._options))
        for name in self._separate:
            for value in values.find(name):
                separate_reshards(value)
        verify(exported)
        return Propagated(exported, values, record)

    def _assign(self, assignment: Assignment) -> str:
        """Add an axis to the shardings of a name; return the reason if it can't be added."""
        main = self._main()
        names = [name or f"result[{index}]" for index, name in enumerate(result_names(main))]
        if assignment.value in names:
            index = names.index(assignment.value)
            result = function_type_of(main).results[index]
            before = result_shardings(main)[index]
            after = self._with_axis(before, shape_of(result), assignment)
            if isinstance(after, TensorSharding):
                set_result_shardings(main, {index: after})
                return ""
            return after
        reasons: list[str] = []
        for value in self._values_of(assignment.value):
            after = self._with_axis(get_sharding(value), shape_of(value.type), assignment)
            if isinstance(after, TensorSharding):
                set_sharding(value, after)
            else:
                reasons.append(after)
        return "; ".join(dict.fromkeys(reasons))

    def _values_of(self, word: str) -> list[ir.Value]:
        """Return the values that a word of an assignment means."""
        members = self._groups.get(word)
        if members is not None:
            return [value for name in members for value in self._values.find(name)]
        return self._inner.get(word) or self._values.find(word)

    def _with_axis(
        self, sharding: TensorSharding | None, shape: Sequence[int], assignment: Assignment
    ) -> TensorSharding | str:
        """Return a sharding with the axis of an assignment, or the reason why it can't have it."""
        axis, dim = assignment.axis, assignment.dim
        known = sharding or TensorSharding.fully_open(len(shape), self._mesh_name)
        if dim is not None and dim >= len(shape):
            return f"it has {len(shape)} dimensions"
        for at, axes in enumerate(known.dim_axes):
            if any(each.name == axis for each in axes):
                return "" if at == dim else f"'{axis}' already shards dimension {at}"
        if known.is_axis_bound(axis):
            return "" if dim is None else f"it is kept replicated along '{axis}'"
        mesh = self.mesh
        if dim is None:
            return known.replicated_on(axis, mesh)
        if known.dim_shardings[dim].is_closed:
            return f"dimension {dim} is closed by an annotation"
        count = mesh.axes_size(known.dim_axes[dim]) * next(
            each.size for each in mesh.axes if each.name == axis
        )
        if shape[dim] % count:
            return f"{count} shards don't divide dimension {dim} of size {shape[dim]} evenly"
        return known.with_axis(dim, axis)

    def _main(self) -> ir.Operation:
        main = main_function(self._module)
        assert main is not None, "checked at the beginning"
        return main


def _run(module: ir.Module, passes: PassPipeline | PassUse) -> None:
    """Run a part of `sdy-propagation-pipeline`, which verifies the program at its end only."""
    run_pipeline(module, pipeline_of(passes), verify_each=False)
