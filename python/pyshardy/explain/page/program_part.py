# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading of a propagated program into the first part of the report."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.model.equivalence import mesh_of
from mlir_sdy.traversal import named_operations_in
from pyshardy.drawing import draw
from pyshardy.explain.page.collective_nodes import HIDDEN, NOT_DRAWN, is_drawn
from pyshardy.explain.page.data import (
    GainData,
    NodeData,
    OutputData,
    PatternData,
    ProgramData,
    ShardingData,
    StepData,
    TypeData,
    ValueData,
)
from pyshardy.explain.page.groups import Group, group_operations
from pyshardy.explain.page.other_plan import OtherPlan, other_plan
from pyshardy.explain.page.texts import TextData, program_text, python_texts
from pyshardy.explain.program import ExplainedProgram
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.modules import text_of
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.program_interface import port_names
from pyshardy.propagation.debugging.axis_chains import dim_of, origin_of_given
from pyshardy.propagation.debugging.explanation import Propagation, gain_of
from pyshardy.propagation.debugging.flows import AxisFlow
from pyshardy.propagation.debugging.record import PropagationStep
from pyshardy.propagation.engine import StepChange
from pyshardy.propagation.program import DATA_FLOW_EDGE

_CONSTANTS = frozenset({"stablehlo.constant", "sdy.constant", "stablehlo.iota"})
_OF_CONSTANTS = frozenset({"stablehlo.broadcast_in_dim", "stablehlo.convert", "stablehlo.reshape"})
"""Operations that are constants if their operands are."""

_MOST_PICTURES = 200

_FEW = 3
"""The maximum number of nested operations without a group, as in a reduction body."""


def program_data(
    module: ir.Module, record: Propagation, in_form: Callable[[str], str] = str
) -> ProgramData:
    """Return the part of the report that is known before the program is partitioned.

    Args:
        module: the propagated module.
        record: the record of its propagation.
        in_form: writes shardings in the form of the program.
    """
    return _ProgramReader(module, record, {}, in_form).read()


def compared_program_data(
    explained: ExplainedProgram, other: ExplainedProgram | None
) -> tuple[ProgramData, OtherPlan | None]:
    """Return the part of the report of a propagated program, and a comparison with another plan.

    Args:
        explained: the program.
        other: the other plan.

    Raises:
        UsageError: the other plan is for another program.
    """
    others = {} if other is None else other.record.engine.program.meshes
    reader = _ProgramReader(explained.module, explained.record, others, explained.in_form)
    compared = None if other is None else other_plan(explained, other, reader.number_of)
    return reader.read(), compared


class _ProgramReader:
    """Reads the tables of propagation, which hold the state of the program at its start."""

    def __init__(
        self,
        module: ir.Module,
        record: Propagation,
        other_meshes: Mapping[str, Mesh],
        in_form: Callable[[str], str],
    ):
        self._in_form = in_form
        self._module = module
        self._record = record
        self._engine = record.engine
        self._program = self._engine.program
        self._meshes = {**other_meshes, **self._program.meshes}
        self._shardings: dict[TensorSharding | None, int] = {None: 0}
        self._told: list[ShardingData] = [ShardingData("no sharding", (), ())]
        self._types: dict[int, int] = {}
        self._type_data: list[TypeData] = []

    def read(self) -> ProgramData:
        names = self._port_names()
        values = tuple(self._values(names[0]))
        nodes = tuple(self._nodes())
        folded = self._folded()
        patterns, steps = self._steps()
        groups = [
            self._group(function, f"@{name}", folded)
            for name, function in self._program.functions.items()
        ]
        return ProgramData(
            tuple(self._type_data),
            values,
            tuple(self._outputs(names[1])),
            nodes,
            tuple(sorted(folded)),
            tuple(groups),
            tuple(self._told),
            patterns,
            steps,
            self._pictures(values),
            tuple(self._texts(nodes)),
            origin_of_given(self._record).value,
        )

    def number_of(self, sharding: TensorSharding | None) -> int:
        """Return the number of a sharding in the report."""
        known = self._shardings.get(sharding)
        if known is None:
            assert sharding is not None, "no sharding has a number"
            known = self._shardings[sharding] = len(self._told)
            dims = tuple(
                tuple(str(a) if a.sub_axis_info else a.name for a in axes)
                for axes in sharding.dim_axes
            )
            mesh = mesh_of(sharding, self._meshes)
            assert mesh is not None, "a verified module has the meshes of its shardings"
            num_shards = tuple(mesh.axes_size(axes) for axes in sharding.dim_axes)
            self._told.append(ShardingData(self._in_form(str(sharding)), dims, num_shards))
        return known

    # --- Values and operations --------------------------------------------------------------

    def _port_names(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the names of the arguments and of the results of the program."""
        program = self._program
        for function in functions_of(self._module):
            if program.functions.get(symbol_name(function)) == program.main:
                return port_names(function, text_of(self._module))
        return (), ()

    def _values(self, names: Sequence[str]) -> Iterator[ValueData]:
        program = self._program
        main = program.main
        returned = frozenset[int]() if main is None else frozenset(program.returned(main))
        inputs = range(0) if main is None else program.arguments.get(main, range(0))
        for number in range(1, program.num_values):
            slot = program.slots[number]
            tensor = self._record.tensor(number)
            is_input = number in inputs
            name = tensor.description.removesuffix(" of @main")
            if is_input and inputs.index(number) < len(names):
                name = names[inputs.index(number)]
            yield ValueData(
                number,
                name,
                slot,
                "input" if is_input else "output" if number in returned else "value",
                self._type(number),
                self.number_of(self._engine.sharding(slot)),
                self.number_of(self._record.given(slot)),
                None if is_input else program.makers[number],
                tensor.location if is_input else None,
            )

    def _outputs(self, names: Sequence[str]) -> Iterator[OutputData]:
        main = self._program.main
        returned: Sequence[int] = () if main is None else self._program.returned(main)
        for name, value in zip(names, returned, strict=False):
            yield OutputData(name, self._shown[value])

    def _nodes(self) -> Iterator[NodeData]:
        program, shown = self._program, self._shown
        for number, name in enumerate(program.names):
            if name not in HIDDEN:
                yield NodeData(
                    number,
                    name,
                    self._record.operation(number)[1],
                    tuple([shown[operand] for operand in program.operands[number]]),
                    tuple(program.results[number]),
                    self._refused(number),
                )

    def _type(self, number: int) -> int:
        """Return the index of the type of a value."""
        key = self._program.types[number]
        known = self._types.get(key)
        if known is None:
            known = self._types[key] = len(self._type_data)
            tensor = self._program.tensor_type(number)
            shape, element = ((), "") if tensor is None else (tensor.shape, tensor.element_type)
            nbytes = TensorSpec((1,), element).nbytes if element else 0
            text = "x".join([*map(str, shape), element])
            self._type_data.append(TypeData(text, shape, nbytes))
        return known

    @functools.cached_property
    def _shown(self) -> Sequence[int]:
        """For each value itself, or the input of the data-flow edges that it results from."""
        program = self._program
        shown = list(range(program.num_values))
        for value, maker in enumerate(program.makers[: program.num_values]):
            if program.names[maker] == DATA_FLOW_EDGE:
                shown[value] = shown[program.operands[maker][0]]
        return shown

    def _refused(self, operation: int) -> tuple[str, ...]:
        """Return descriptions of the axes that the tensors of an operation refuse."""
        relation = self._engine.relations[operation]
        refused = [each for each in self._record.refusals(operation) if each.is_next]
        if relation is not None:
            refused.sort(key=lambda each: relation.tensors[each.target])
        return tuple(dict.fromkeys([f"{each.axis}: {each.reason.value}" for each in refused]))

    # --- Steps ------------------------------------------------------------------------------

    def _steps(self) -> tuple[tuple[PatternData, ...], tuple[StepData, ...]]:
        """Return the steps; they have equal patterns if kind, state and run are equal."""
        known: dict[object, int] = {}
        patterns: list[PatternData] = []
        steps: list[StepData] = []
        for number, change in enumerate(self._record.changes):
            key = change.kind, change.state, change.run, self._program.names[change.operation]
            if key not in known:
                known[key] = len(patterns)
                patterns.append(self._pattern(change, self._record[number]))
            steps.append(StepData(change.operation, known[key], tuple(change.relation.tensors)))
        return tuple(patterns), tuple(steps)

    def _pattern(self, change: StepChange, step: PropagationStep) -> PatternData:
        table = self._engine.table
        changes = [(position, self.number_of(table[number])) for position, number in change.updates]
        gains = tuple(_gain(step, flow) for flow in step.flows)
        num_operands = len(step.rule.operand_mappings)
        return PatternData(step.name, num_operands, tuple(changes), gains)

    def _pictures(self, values: Sequence[ValueData]) -> dict[str, str]:
        """Return a drawing for each sharding and shape, up to a maximum number."""
        by_number = {number: sharding for sharding, number in self._shardings.items()}
        pictures: dict[str, str] = {}
        for value in values:
            shape = self._type_data[value.type].shape
            key = f"{value.sharding}:{'x'.join(map(str, shape))}"
            sharding = by_number[value.sharding]
            is_drawn = key in pictures or len(pictures) == _MOST_PICTURES
            if is_drawn or sharding is None or sharding.is_fully_replicated:
                continue
            if len(sharding.dim_shardings) == len(shape):
                mesh = mesh_of(sharding, self._meshes)
                assert mesh is not None, "`number_of` found it"
                pictures[key] = draw(sharding, shape, mesh).svg
        return pictures

    # --- Groups -----------------------------------------------------------------------------

    def _folded(self) -> frozenset[int]:
        """Return the constants and their broadcasts."""
        program = self._program
        folded = set[int]()
        for number, name in enumerate(program.names):
            is_constant = name in _CONSTANTS or (
                name in _OF_CONSTANTS
                and all(program.makers[operand] in folded for operand in program.operands[number])
            )
            if is_constant and program.results[number]:
                folded.add(number)
        return frozenset(folded)

    def _group(self, operation: int, label: str, folded: frozenset[int]) -> Group:
        """Return the group of the operations inside an operation."""
        program, record = self._program, self._record
        members = [
            number
            for number in program.inside(operation)
            if program.parents[number] == operation
            and program.names[number] not in NOT_DRAWN
            and number not in folded
        ]
        inside: dict[int, Group] = {}
        for number in members:
            if len(program.inside(number)) > _FEW:
                name = self._called.get(number) or program.names[number].partition(".")[2]
                inside[number] = self._group(number, name, folded)
                inside[number].operation = number
        scopes = {number: record.scopes(number) for number in members}
        places = ((number, record.operation(number)[1]) for number in members)
        lines = {
            number: f"{place.filename.rpartition('/')[2]}:{place.line}"
            for number, place in places
            if place is not None
        }
        shown, makers = self._shown, program.makers
        sources = {
            number: [makers[shown[each]] for each in program.operands[number]] for number in members
        }
        return group_operations(label, members, self._kinds, scopes, inside, lines, sources)

    @functools.cached_property
    def _called(self) -> dict[int | None, str]:
        """The functions that operations call."""
        calls = operations_named(("func.call",), self._module)
        number_of = self._record.later_values.operation
        return {number_of(call): callee_of(call) for call in calls}

    @functools.cached_property
    def _kinds(self) -> dict[int, str]:
        """The name of each operation, with its types."""
        types = self._program.types
        return {
            number: " ".join([name, *(str(types[each]) for each in self._program.results[number])])
            for number, name in enumerate(self._program.names)
        }

    # --- Texts --------------------------------------------------------------------------------

    def _texts(self, nodes: Sequence[NodeData]) -> Iterator[TextData]:
        numbers = (
            self._record.later_values.operation(operation)
            for operation, _ in named_operations_in(self._module)
        )
        shown = [number if is_drawn(number, self._program) else None for number in numbers]
        yield program_text("Program", self._module, shown)
        yield from python_texts({node.number: node.place for node in nodes})


def _gain(step: PropagationStep, flow: AxisFlow) -> GainData:
    source_dim = 0 if flow.source is None else dim_of(step.rule, flow.source, flow.factor)
    names = tuple(axis.name if axis.sub_axis_info is None else str(axis) for axis in flow.axes)
    told = str(gain_of(step, flow)).partition(" got ")[2]
    return GainData(flow.target, flow.dim, names, flow.source, source_dim, f"got {told}")
