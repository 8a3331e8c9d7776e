# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program between tactics.

The program is imported once. A tactic adds axes to its shardings, from which propagation goes on:
as in propagation by user priorities, the shardings of earlier tactics stay. A copy is exported and
partitioned for the preview.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mlir_sdy import sdy
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.op_classes import view_as
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import (
    get_sharding,
    result_shardings,
    set_result_shardings,
    set_sharding,
)
from mlir_sdy.verify import verify
from pyshardy.irtools.functions import main_function
from pyshardy.irtools.locations import untagged
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.named_values import NamedValues, name_of, result_names
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.irtools.walks import Place, operations_named, textual_order
from pyshardy.partition.types.one_mesh import device_mesh_of
from pyshardy.pipeline import PassPipeline, PassUse, pipeline_of, run_pipeline
from pyshardy.pipeline.options import with_defaults
from pyshardy.pipelines.propagation import (
    PropagationOptions,
    after_propagation,
    before_propagation,
    propagation_itself,
)
from pyshardy.propagation.debugging.explanation import Propagation
from pyshardy.propagation.observer import observed_by
from pyshardy.rules.lookup import is_elementwise
from pyshardy.schedules.tactics import Assignment, SeparateReshards, Tactic
from pyshardy.schedules.view import TacticProgram, TacticValue
from pyshardy.schedules.weights import partial_results, weight_dims

_MOVING = frozenset(
    {"sdy.reshard", "stablehlo.convert", "stablehlo.reshape", "stablehlo.transpose"}
)
"""Operations between an argument and a use; each use gets a copy of them."""


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
        annotated: the program before that propagation.
    """

    module: ir.Module
    values: NamedValues
    record: Propagation
    annotated: ir.Module


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
        self._groups = _group_members(self._module, self._values)
        _run(self._module, before_propagation(self._options))
        main = main_function(self._module)
        mesh = None if main is None else device_mesh_of(main)
        if main is None or mesh is None:
            missing = "an entry '@main'" if main is None else "a mesh"
            raise UsageError(error(f"a schedule needs a program with {missing}"))
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
        """Return the partial results along an axis; the copies of a value count once."""
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
        annotated = copy_of(self._module)
        with observed_by(record):
            _run(self._module, propagation_itself(self._options))
        exported, values, self._inner = self._module, self._values, {}
        self._module = copy_of(exported)
        self._values = values.in_copy(self._module)
        _run(exported, after_propagation(self._options))
        for name in self._separate:
            for value in values.find(name):
                _separate_reshards(value)
        verify(exported)
        return Propagated(exported, values, record, annotated)

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


def propagated_with(
    module: ir.Module,
    tactics: Iterable[Tactic],
    options: PropagationOptions = PropagationOptions(),
) -> ir.Module:
    """Return a program that is propagated with tactics, one after another.

    Args:
        module: the annotated program, which isn't changed.
        tactics: the tactics in order.
        options: the options of `sdy-propagation-pipeline`.

    Raises:
        UsageError: a pattern matches nothing; the mesh has no such axis; the program has no mesh or
            no entry.
        PipelineError: propagation fails.
    """
    state = ProgramState(module, options)
    for each in tactics:
        state.propagate()
        state.apply(each.effects(state.view()))
    last = state.propagate()
    last.values.remove_marks()
    return last.module


def _run(module: ir.Module, passes: PassPipeline | PassUse) -> None:
    """Run a part of `sdy-propagation-pipeline`, which verifies the program at its end only."""
    run_pipeline(module, pipeline_of(passes), verify_each=False)


# --- Sharding groups -----------------------------------------------------------------------------


def _group_members(module: ir.Module, values: NamedValues) -> dict[str, list[str]]:
    """Return the names of the members of each sharding group: `sharding_group 7`.

    Args:
        module: the program, before it is imported, which numbers its groups anew.
        values: its values by name.
    """
    found: dict[str, list[str]] = {}
    main = main_function(module)
    for operation in operations_named({"sdy.sharding_group"}, module):
        member = operation.operands[0]
        if isinstance(member, ir.BlockArgument):
            if member.owner.owner.operation != main:
                continue  # its name is unique in its function only
            name = name_of(member) or f"arg{member.arg_number}"
        else:
            at = ir.OpResult(member).result_number
            name = values.result_names_of(member.owner.operation)[at]
        group = view_as(sdy.ShardingGroupOp, operation).group_id.value
        found.setdefault(f"sharding_group {group}", []).append(name)
    return found


@dataclass(frozen=True, slots=True)
class _Use:
    """A use of an argument.

    Attributes:
        operation: the operation.
        operand: the number of its operand.
        chain: the operations that its operand is made by, beginning at the argument.
    """

    operation: ir.Operation
    operand: int
    chain: tuple[ir.Operation, ...]


# --- Separate reshards ---------------------------------------------------------------------------


def _separate_reshards(argument: ir.Value) -> None:
    """Give every use of an argument, after the first use in the text, a value of its own.

    The partitioner reshards a value once for all operations that need it in another sharding. A
    weight that is gathered in the forward pass is so kept until the backward pass. A barrier before
    each later use makes it a value of its own, which is gathered there again:

        %0:2 = stablehlo.optimization_barrier %gradient, %weight
        %1 = stablehlo.dot_general %0#0, %0#1

    The barrier has the other operand, too, so that a compiler doesn't gather before it is known.

    1. Conversions, transposes, reshapes and reshards belong to the uses behind them.
    2. Elementwise operations, such as the update of a parameter, work on shards: they are no uses.
    3. Uses in regions, and those by operations with regions, stay as they are: a loop reshards
       inside of it already, or once for all iterations.

    Args:
        argument: the argument of a function whose shardings have been propagated.
    """
    block = argument.owner
    function = block.owner.operation
    uses = [each for each in _uses_of(argument, ()) if each.operation.block == block]
    uses.sort(key=lambda use: textual_order(Place.of(use.operation, function)))
    for use in uses[1:]:
        _separate(argument, use)


def _uses_of(value: ir.Value, chain: tuple[ir.Operation, ...]) -> Iterator[_Use]:
    for use in value.uses:
        user = use.owner.operation
        if user.name in _MOVING:
            yield from _uses_of(user.results[0], (*chain, user))
        elif len(user.results) and not len(user.regions) and not is_elementwise(user):
            yield _Use(user, use.operand_number, chain)


def _separate(argument: ir.Value, use: _Use) -> None:
    """Put a barrier, and a copy of the chain, before a use."""
    operation = use.operation
    other = _computed_operand(operation, use.operand)
    with ir.InsertionPoint(operation), untagged(operation.location):
        values = [argument] if other is None else [argument, operation.operands[other]]
        results = _barrier(values)
        separated = results[0]
        for each in use.chain:
            copy = each.clone()
            copy.location = untagged(each.location)
            copy.operands[0] = separated
            separated = copy.results[0]
    operation.operands[use.operand] = separated
    if other is not None:
        operation.operands[other] = results[1]


def _computed_operand(operation: ir.Operation, besides: int) -> int | None:
    """Return the number of the first operand but `besides` that an operation computes, or None."""
    for number, operand in enumerate(operation.operands):
        if number != besides and not isinstance(operand, ir.BlockArgument):
            return number
    return None


def _barrier(values: Sequence[ir.Value]) -> list[ir.Value]:
    results = StablehloBuilder().optimization_barrier(values)
    for value, result in zip(values, results, strict=True):
        sharding = get_sharding(value)
        if sharding is not None:
            set_sharding(result, sharding)
    return results
