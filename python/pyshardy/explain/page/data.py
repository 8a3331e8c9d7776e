# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The data of the report; operations, values and shardings are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mlir_sdy.diagnostics import SourceLocation
from pyshardy.explain.against_xla import ComparedKind
from pyshardy.explain.page.costs import CostData
from pyshardy.explain.page.groups import Group
from pyshardy.explain.page.other_plan import OtherPlan
from pyshardy.explain.page.reasons import ReasonData
from pyshardy.explain.page.texts import TextData


@dataclass(frozen=True, slots=True)
class TypeData:
    """A type of values.

    Attributes:
        text: its assembly, without `tensor`.
        shape: the global shape.
        element_bytes: the bytes of an element.
    """

    text: str
    shape: tuple[int, ...]
    element_bytes: int


class ValueData(NamedTuple):
    """A value.

    Attributes:
        number: its number.
        name: its name.
        slot: the index of its sharding; several values may share one.
        kind: `input`, `output` or `value`.
        type: the index of its type.
        sharding: the number of its sharding after propagation.
        given: the number of its sharding before propagation.
        node: the operation that defines it; None for an input.
        place: the source location of an input; other values have that of their operation.
    """

    number: int
    name: str
    slot: int
    kind: str
    type: int
    sharding: int
    given: int
    node: int | None
    place: SourceLocation | None


@dataclass(frozen=True, slots=True)
class OutputData:
    """A result of the program.

    Attributes:
        name: its name.
        value: the value that is returned.
    """

    name: str
    value: int


class NodeData(NamedTuple):
    """An operation.

    Attributes:
        number: its number.
        name: its name.
        place: its source location.
        operands: the values that it uses.
        results: the values that it defines.
        refused: descriptions of the axes that its tensors refused.
    """

    number: int
    name: str
    place: SourceLocation | None
    operands: tuple[int, ...]
    results: tuple[int, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GainData:
    """Axes that a step propagated to a dimension; operands and results are positions.

    Attributes:
        target: the tensor that they were added to.
        dim: the dimension.
        axes: the names of the axes.
        source: the tensor that they came from; None if there are several.
        source_dim: the dimension that they came from.
        told: a description of the gain, without the tensor.
    """

    target: int
    dim: int
    axes: tuple[str, ...]
    source: int | None
    source_dim: int
    told: str


@dataclass(frozen=True, slots=True)
class PatternData:
    """The effect of steps; equal operations with equal shardings take equal steps.

    Attributes:
        name: the name of the operation.
        num_operands: the number of its operands.
        changes: the tensors that changed, each with the number of its new sharding.
        gains: the propagated axes.
    """

    name: str
    num_operands: int
    changes: tuple[tuple[int, int], ...]
    gains: tuple[GainData, ...]


class StepData(NamedTuple):
    """A step of propagation.

    Attributes:
        node: the operation that was propagated through.
        pattern: the index of the pattern.
        slots: the slots of the operands and results.
    """

    node: int
    pattern: int
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DecisionData:
    """The sharding of a value at its definition or at a use.

    Attributes:
        title: `definition` or `use`.
        what: the value or operand.
        place: its source location.
        node: the operation; None if unknown.
        sharding: the assembly of the sharding.
        reasons: the annotations that it follows from, and the refused axes.
    """

    title: str
    what: str
    place: SourceLocation | None
    node: int | None
    sharding: str
    reasons: tuple[str, ...]


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
        decisions: the shardings that it is between.
        node: the operation that it is shown at; None if unknown.
        value: the value that it completes or moves; None if unknown.
    """

    kind: str
    axes: tuple[str, ...]
    nbytes: int
    times: int | None
    place: SourceLocation | None
    reason: str
    decisions: tuple[DecisionData, ...]
    node: int | None
    value: int | None


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
class ProgramData:
    """The propagated program.

    Attributes:
        types: by index.
        values: in the order of their numbers.
        outputs: the results of the program.
        nodes: in the order of their numbers.
        folded: the constants and their broadcasts, which the graph doesn't show.
        groups: the functions, as groups of operations.
        shardings: by number; number 0 stands for no sharding.
        patterns: by index.
        steps: in order.
        pictures: drawings of the shards, as SVG, by the number of a sharding and a shape: `3:8x4`.
        texts: the program, and its Python sources.
        origin_of_given: the origin of shardings from before propagation, as a participle.
    """

    types: tuple[TypeData, ...]
    values: tuple[ValueData, ...]
    outputs: tuple[OutputData, ...]
    nodes: tuple[NodeData, ...]
    folded: tuple[int, ...]
    groups: tuple[Group, ...]
    shardings: tuple[ShardingData, ...]
    patterns: tuple[PatternData, ...]
    steps: tuple[StepData, ...]
    pictures: dict[str, str]
    texts: tuple[TextData, ...]
    origin_of_given: str


@dataclass(frozen=True)
class PlanData:
    """The partitioned program, without its costs.

    Attributes:
        title: the name of the program.
        axes: the axes of the mesh, with their sizes.
        num_devices: the devices of the mesh.
        collectives: in the order of the partitioned program.
        sent: the bytes that a device sends in a run.
        partitioned: the text of the partitioned program.
        other: the plan that this one is compared with.
        xla: the kinds of collectives here and in XLA's partitioning; empty if not compared.
    """

    title: str
    axes: tuple[tuple[str, int], ...]
    num_devices: int
    collectives: tuple[CollectiveData, ...]
    sent: int
    partitioned: TextData
    other: OtherPlan | None
    xla: tuple[ComparedKind, ...]


@dataclass(frozen=True)
class PageData:
    """The data of the report.

    Attributes:
        program: the propagated program.
        plan: the partitioned program.
        costs: its estimated costs.
        reasons: why values aren't sharded further.
    """

    program: ProgramData
    plan: PlanData
    costs: CostData
    reasons: ReasonData
