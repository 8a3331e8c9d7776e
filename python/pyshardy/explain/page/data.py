# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The data of the report as plain values; operations, values and shardings are numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.model import Mesh, TensorSharding
from pyshardy.drawing import draw
from pyshardy.explain.collectives import CollectiveExplanation
from pyshardy.explain.page.scopes import Group, group_operations, scopes_of
from pyshardy.explain.program import ExplainedProgram
from pyshardy.irtools.named_values import name_of
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.propagation.explanation import Gain, dim_of, gain_of
from pyshardy.propagation.flows import Flow
from pyshardy.propagation.program import DATA_FLOW_EDGE, SHARDING_GROUP, TERMINATORS
from pyshardy.propagation.record import PropagationStep

_HIDDEN = frozenset({"func.func", "sdy.mesh", DATA_FLOW_EDGE, SHARDING_GROUP})


@dataclass(frozen=True, slots=True)
class ValueData:
    """A value.

    Attributes:
        name: its name.
        slot: the index of its sharding; several values may share one.
        kind: `input`, `output` or `value`.
        type: the global type, without `tensor`.
        shape: the global shape.
        element_bytes: the bytes of an element.
        sharding: the number of its sharding after propagation.
        given: the number of its sharding before propagation.
        node: the operation that defines it; None for an input.
        place: its source location.
    """

    name: str
    slot: int
    kind: str
    type: str
    shape: tuple[int, ...]
    element_bytes: int
    sharding: int
    given: int
    node: int | None
    place: SourceLocation | None


@dataclass(frozen=True, slots=True)
class NodeData:
    """An operation.

    Attributes:
        name: its name.
        place: its source location.
        operands: the values that it uses.
        results: the values that it defines.
        refused: descriptions of the axes that its tensors refused.
        collectives: the collectives of its lowering.
    """

    name: str
    place: SourceLocation | None
    operands: tuple[int, ...]
    results: tuple[int, ...]
    refused: tuple[str, ...]
    collectives: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FlowData:
    """Axes that a step propagated to a dimension.

    Attributes:
        target: the slot of the tensor that they were added to.
        dim: the dimension.
        axes: the names of the axes.
        source: the slot of the tensor that they came from; None if there are several.
        source_dim: the dimension that they came from.
        told: a description.
    """

    target: int
    dim: int
    axes: tuple[str, ...]
    source: int | None
    source_dim: int
    told: str


@dataclass(frozen=True, slots=True)
class StepData:
    """A step of propagation.

    Attributes:
        node: the operation that was propagated through.
        changes: the slots that changed, each with the number of its new sharding.
        flows: the propagated axes.
    """

    node: int
    changes: tuple[tuple[int, int], ...]
    flows: tuple[FlowData, ...]


@dataclass(frozen=True, slots=True)
class CollectiveData:
    """A collective.

    Attributes:
        kind: its kind.
        axes: its axes.
        nbytes: the bytes that a device sends in a run.
        times: the number of executions; None if unknown.
        place: its source location.
        reason: its reason in one sentence.
        told: the complete explanation.
        node: the operation that it comes from; None if unknown.
    """

    kind: str
    axes: tuple[str, ...]
    nbytes: int
    times: int | None
    place: SourceLocation | None
    reason: str
    told: str
    node: int | None


@dataclass(frozen=True, slots=True)
class ShardingData:
    """A sharding.

    Attributes:
        text: its assembly.
        dims: for each dimension the names of its axes and sub-axes.
        num_shards: for each dimension the number of shards.
    """

    text: str
    dims: tuple[tuple[str, ...], ...]
    num_shards: tuple[int, ...]


@dataclass(frozen=True)
class PageData:
    """The data of the report.

    Attributes:
        title: the name of the program.
        axes: the axes of the mesh, with their sizes.
        num_devices: the devices of the mesh.
        values: by number.
        nodes: by number.
        groups: the functions, as groups of operations.
        shardings: by number; number 0 stands for no sharding.
        steps: in order.
        collectives: in the order of the partitioned program.
        pictures: drawings of the shards, as SVG, by the number of a sharding and a shape: `3:8x4`.
        sent: the bytes that a device sends in a run.
    """

    title: str
    axes: tuple[tuple[str, int], ...]
    num_devices: int
    values: dict[int, ValueData]
    nodes: dict[int, NodeData]
    groups: tuple[Group, ...]
    shardings: tuple[ShardingData, ...]
    steps: tuple[StepData, ...]
    collectives: tuple[CollectiveData, ...]
    pictures: dict[str, str]
    sent: int


def page_data(explained: ExplainedProgram, title: str) -> PageData:
    """Return the data of the report of a program."""
    return _Gatherer(explained, title).gather()


class _Gatherer:
    """Reads the tables of propagation, which hold the state of the program at its start."""

    def __init__(self, explained: ExplainedProgram, title: str):
        self._explained = explained
        self._title = title
        self._record = explained.record
        self._engine = explained.record.engine
        self._program = self._engine.program
        self._mesh: Mesh = explained.program.mesh
        self._shardings: dict[TensorSharding | None, int] = {None: 0}
        self._told: list[ShardingData] = [ShardingData("no sharding", (), ())]
        self._refused: defaultdict[int, list[str]] = defaultdict(list)

    def gather(self) -> PageData:
        program = self._program
        values = dict(self._values())
        self._read_refusals()
        collectives = tuple(self._collectives())
        of_nodes: defaultdict[int, list[int]] = defaultdict(list)
        for number, collective in enumerate(collectives):
            if collective.node is not None:
                of_nodes[collective.node].append(number)
        nodes = {
            number: NodeData(
                name,
                self._record.operation(number)[1],
                tuple(self._shown(operand) for operand in program.operands[number]),
                tuple(program.results[number]),
                tuple(dict.fromkeys(self._refused[number])),
                tuple(of_nodes[number]),
            )
            for number, name in enumerate(program.names)
            if name not in _HIDDEN
        }
        steps = tuple(self._steps())  # shardings are numbered in order of appearance
        groups = [self._group(function, name) for name, function in program.functions.items()]
        return PageData(
            self._title,
            tuple((axis.name, axis.size) for axis in self._mesh.axes),
            self._mesh.total_size,
            values,
            nodes,
            tuple(groups),
            tuple(self._told),
            steps,
            collectives,
            self._pictures(values),
            sum(each.nbytes for each in collectives),
        )

    # --- Values -----------------------------------------------------------------------------

    def _values(self) -> Iterator[tuple[int, ValueData]]:
        program = self._program
        main = program.main
        returned = frozenset[int]() if main is None else frozenset(program.returned(main))
        inputs = range(0) if main is None else program.arguments.get(main, range(0))
        for number in range(1, len(program.values)):
            slot = program.slots[number]
            tensor = self._record.tensor(number)
            kind = "input" if number in inputs else "output" if number in returned else "value"
            shape, element = self._type(number)
            yield (
                number,
                ValueData(
                    self._name(number, tensor.description),
                    slot,
                    kind,
                    "x".join([*map(str, shape), element]),
                    shape,
                    TensorSpec((1,), element).nbytes if element else 0,
                    self._sharding(self._engine.sharding(slot)),
                    self._sharding(self._record.given(slot)),
                    None if number in inputs else program.makers[number],
                    tensor.location,
                ),
            )

    def _name(self, number: int, description: str) -> str:
        program = self._program
        main = program.main
        if main is None or number not in program.arguments.get(main, range(0)):
            return description  # other operations may be erased and must not be accessed
        return name_of(program.value(number)) or description

    def _type(self, number: int) -> tuple[tuple[int, ...], str]:
        tensor = self._program.tensor_type(number)
        return ((), "") if tensor is None else (tensor.shape, tensor.element_type)

    def _shown(self, number: int) -> int:
        """Return a value, or the input of the data-flow edges that it results from."""
        program = self._program
        while program.names[program.makers[number]] == DATA_FLOW_EDGE:
            number = program.operands[program.makers[number]][0]
        return number

    def _sharding(self, sharding: TensorSharding | None) -> int:
        known = self._shardings.get(sharding)
        if known is None:
            assert sharding is not None, "no sharding has a number"
            known = self._shardings[sharding] = len(self._told)
            dims = tuple(
                tuple(str(a) if a.sub_axis_info else a.name for a in axes)
                for axes in sharding.dim_axes
            )
            num_shards = tuple(self._mesh.axes_size(axes) for axes in sharding.dim_axes)
            self._told.append(ShardingData(str(sharding), dims, num_shards))
        return known

    def _read_refusals(self) -> None:
        """Record the axes that tensors refuse, by the operations that would propagate them."""
        for slot in set(self._program.slots):
            for operation, refusal, _ in self._record.still_refused(slot):
                self._refused[operation].append(f"{refusal.axis}: {refusal.reason.value}")

    # --- Steps and collectives --------------------------------------------------------------

    def _steps(self) -> Iterator[StepData]:
        table = self._engine.table
        for number, change in enumerate(self._record.changes):
            changes = [
                (change.relation.tensors[position], self._sharding(table[sharding]))
                for position, sharding in change.updates
            ]
            step = self._record[number]
            flows = (_flow(gain_of(step, flow), flow, step) for flow in step.flows)
            yield StepData(change.operation, tuple(changes), tuple(flows))

    def _collectives(self) -> Iterator[CollectiveData]:
        for each in self._explained.collectives:
            yield _collective(each, self._node_of(each))

    def _node_of(self, explanation: CollectiveExplanation) -> int | None:
        """Return the operation that defines a collective's value, or the first that uses it."""
        ends = [explanation.made, *explanation.wanted]
        operations = [each.operation for each in ends if each is not None]
        shown = (each for each in operations if each is not None and self._is_shown(each))
        return next(shown, None)

    def _is_shown(self, operation: int) -> bool:
        return self._program.names[operation] not in _HIDDEN | TERMINATORS

    def _pictures(self, values: dict[int, ValueData]) -> dict[str, str]:
        """Return a drawing for each sharding and shape, up to a maximum number."""
        by_number = {number: sharding for sharding, number in self._shardings.items()}
        pictures: dict[str, str] = {}
        for value in values.values():
            sharding = by_number[value.sharding]
            key = f"{value.sharding}:{'x'.join(map(str, value.shape))}"
            is_drawn = key in pictures or len(pictures) == _MOST_PICTURES
            if is_drawn or sharding is None or sharding.is_fully_replicated:
                continue
            if len(sharding.dim_shardings) == len(value.shape):
                pictures[key] = draw(sharding, value.shape, self._mesh).svg
        return pictures

    # --- Groups -----------------------------------------------------------------------------

    def _group(self, operation: int, label: str) -> Group:
        """Return the group of the operations inside an operation."""
        program, record = self._program, self._record
        members = [
            number
            for number in program.inside(operation)
            if program.parents[number] == operation
            and program.names[number] not in _HIDDEN | TERMINATORS
        ]
        inside = {
            number: self._group(number, program.names[number].partition(".")[2])
            for number in members
            if len(program.inside(number)) > _FEW
        }
        scopes = {number: scopes_of(record.location(number)) for number in members}
        names = dict(enumerate(program.names))
        return group_operations(label, members, names, scopes, inside)


def _flow(gain: Gain, flow: Flow, step: PropagationStep) -> FlowData:
    source, source_dim = None, 0
    if flow.source is not None:
        source = step.tensors[flow.source].slot
        source_dim = dim_of(step.rule, flow.source, flow.factor)
    names = tuple(axis.name if axis.sub_axis_info is None else str(axis) for axis in flow.axes)
    return FlowData(gain.tensor.slot, flow.dim, names, source, source_dim, str(gain))


_MOST_PICTURES = 200

_FEW = 3
"""The maximum number of nested operations without a group, as in a reduction body."""


def _collective(explanation: CollectiveExplanation, node: int | None) -> CollectiveData:
    one = explanation.collective
    return CollectiveData(
        one.kind,
        one.axes or (),
        explanation.nbytes_total,
        one.repetitions,
        one.location,
        explanation.reason,
        str(explanation),
        node,
    )
