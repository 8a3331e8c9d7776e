# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of a propagation: its steps, with the axes that each one propagated or refused."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mlir_sdy import sdy
from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.host import identity, ir
from mlir_sdy.model import OpShardingRule, TensorSharding
from mlir_sdy.op_classes import view_as
from mlir_sdy.values import get_sharding, manual_axes
from pyshardy.display import Displayed
from pyshardy.irtools.locations import named_in, scopes_of, user_place
from pyshardy.irtools.modules import text_of
from pyshardy.irtools.named_values import argument_names, result_names
from pyshardy.propagation.debugging.flows import AxisFlow, flows
from pyshardy.propagation.debugging.refusals import Refusal, refusals, refusals_of_meshes
from pyshardy.propagation.engine import Engine, Run, StepChange
from pyshardy.propagation.groups import slots_in_groups
from pyshardy.propagation.program import NOWHERE
from pyshardy.propagation.relation import Relation, RelationFamily, RelationKind
from pyshardy.rules import TensorType

_REPLACED = {
    "func.call": "sdy.named_computation",
    "func.func": "sdy.named_computation",
    "sdy.reshard": "sdy.sharding_constraint",
}
"""The operations that propagation saw in place of operations that later passes create."""


@dataclass(frozen=True, slots=True)
class RecordedTensor:
    """A tensor of the program at the start of propagation.

    Attributes:
        slot: its number.
        description: the name that the user gave it, such as `params['w']`; for other values the
            operation and its scope, such as `dot_general in layers.3/mlp`. Without names and scopes
            `argument 1 of @main` and `result 0 of stablehlo.add`.
        location: the source location of its definition, if the program has locations.
        is_named: whether the description is a name that the user gave.
        numbered: the description without that name; empty if there is none.
    """

    slot: int
    description: str
    location: SourceLocation | None
    is_named: bool = False
    numbered: str = ""

    def __str__(self) -> str:
        where = "" if self.location is None else f" ({self.location})"
        return f"{self.description}{where}"


@dataclass(frozen=True, slots=True, repr=False)
class PropagationStep(Displayed):
    """One step that changed something.

    Attributes:
        number: its place in the order of steps.
        name: the name of the operation that was stepped through; `func.func` for a result of a
            function.
        location: the source location of the operation.
        run: the strategy and the priorities at that time.
        rule: the rule that was applied.
        tensors: the operands of the operation, then its results.
        before: their shardings by factors before the step.
        after: their shardings by factors after the step.
        flows: the axes that each tensor gained, with the factor.
        refusals: the axes that tensors did not get, with reasons.
    """

    number: int
    name: str
    location: SourceLocation | None
    run: Run
    rule: OpShardingRule
    tensors: tuple[RecordedTensor, ...]
    before: tuple[TensorSharding | None, ...]
    after: tuple[TensorSharding | None, ...]
    flows: tuple[AxisFlow, ...]
    refusals: tuple[Refusal, ...]

    @property
    def changes(self) -> str:
        """The axes that tensors gained: `result 0 got "data"`."""
        gained: dict[int, dict[str, None]] = {}
        for flow in self.flows:
            gained.setdefault(flow.target, {}).update(dict.fromkeys(map(str, flow.axes)))
        return ", ".join(
            f"{position_text(target, self.rule)} got {', '.join(axes)}"
            for target, axes in gained.items()
        )

    def summary(self) -> str:
        """Return the operation and the axes that its tensors gained in one line."""
        where = "" if self.location is None else f" ({self.location})"
        return f"{self.number}: {self.name}{where}, {self.changes}"


def position_text(position: int, rule: OpShardingRule) -> str:
    """Return the text for a tensor at a position among operands and results: `operand 1`."""
    num_operands = len(rule.operand_mappings)
    if position < num_operands:
        return f"operand {position}"
    return f"result {position - num_operands}"


_Traced = tuple[
    tuple[TensorSharding | None, ...],
    tuple[TensorSharding | None, ...],
    tuple[AxisFlow, ...],
    tuple[Refusal, ...],
]
"""The shardings before and after a step, its flows and its refusals."""


class Record:
    """Observer that records the steps of a propagation in order.

    Only the changes are recorded; the details of a step are computed on demand.

    Attributes:
        follows_tactics: whether the shardings at the start include those of a schedule's tactics.
    """

    def __init__(self, *, follows_tactics: bool = False) -> None:
        self.follows_tactics = follows_tactics
        self._engine: Engine | None = None
        self._changes: list[StepChange] = []
        self._steps: dict[int, PropagationStep] = {}
        self._initial: list[int] = []
        self._locations: list[ir.Location] = []
        self._without_results: dict[int, int] = {}
        self._manual_axes: dict[int, tuple[str, ...]] = {}
        self._called: dict[int, str] = {}  # the functions that named computations were
        self._argument_locations: dict[int, list[ir.Location]] = {}
        self._argument_names: dict[int, list[str | None]] = {}
        self._result_names: dict[int, list[str | None]] = {}
        self._groups: Mapping[int, Sequence[int]] = {}
        self._traces: dict[tuple[RelationKind, tuple[int, ...]], _Traced] = {}
        self._tensors: dict[int, RecordedTensor] = {}
        self._places: dict[int, SourceLocation | None] = {}
        self._scopes: dict[int, tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def __iter__(self) -> Iterator[PropagationStep]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> PropagationStep:
        number = range(len(self))[index]
        if number not in self._steps:  # explanations of different values share most of them
            self._steps[number] = self._step(number)
        return self._steps[number]

    def _step(self, number: int) -> PropagationStep:
        change = self._changes[number]
        before, after, moved, refused = self._trace(change.kind, change.state)
        return PropagationStep(
            number,
            self.engine.program.names[change.operation],
            user_place(self._locations[change.operation]),
            change.run,
            change.kind.rule,
            tuple(map(self.tensor, change.relation.tensors)),
            before,
            after,
            moved,
            tuple(each for each in refused if each.is_next),
        )

    # --- Observer -----------------------------------------------------------------------------

    def on_start(self, engine: Engine) -> None:
        """Record the program before propagation."""
        self._engine = engine
        self._initial = list(engine.state)
        self._groups = slots_in_groups(engine.program)

    def on_step(self, change: StepChange) -> None:
        """Record a step."""
        self._changes.append(change)

    def on_end(self, engine: Engine) -> None:
        """Record the identities and locations of operations, which later passes may erase."""
        program, text = engine.program, text_of(engine.program.module)
        self._locations = [operation.location for operation in program.operations]
        self._without_results = {
            identity(operation): number
            for number, operation in enumerate(program.operations)
            if not program.results[number]
        }
        for number in program.functions.values():
            self._result_names[number] = result_names(program.operations[number])
            for block in list(program.operations[number].regions[0].blocks)[:1]:
                self._argument_locations[number] = [each.location for each in block.arguments]
                self._argument_names[number] = argument_names(program.operations[number], text)
        for number, name in enumerate(program.names):
            if engine.is_erased[number]:
                continue
            if name == "sdy.manual_computation":
                self._manual_axes[number] = manual_axes(program.operations[number])
            elif name == "sdy.named_computation":
                view = view_as(sdy.NamedComputationOp, program.operations[number])
                self._called[number] = view.name.value

    # --- Data of explanations -----------------------------------------------------------------

    @property
    def has_started(self) -> bool:
        """Whether a propagation is recorded."""
        return self._engine is not None

    @property
    def engine(self) -> Engine:
        """The state of the program after propagation."""
        if self._engine is None:
            raise ValueError("nothing was propagated")
        return self._engine

    def given(self, slot: int) -> TensorSharding | None:
        """Return the sharding of a tensor before propagation."""
        return self.engine.table[self._initial[slot]]

    def tensor(self, slot: int) -> RecordedTensor:
        """Return the tensor of a slot."""
        if slot not in self._tensors:
            self._tensors[slot] = self._read_tensor(slot)
        return self._tensors[slot]

    def _read_tensor(self, slot: int) -> RecordedTensor:
        program = self.engine.program
        maker = program.makers[slot]
        if maker < 0:
            return RecordedTensor(slot, "a value that can't be sharded", None)
        edge = program.edges.get(maker)
        if edge is not None:  # Its operation exists only during propagation.
            return replace(self._made(edge.owner), slot=slot)
        return self._made(slot)

    def _made(self, slot: int) -> RecordedTensor:
        """Return the tensor, described by the operation that defines it."""
        program = self.engine.program
        maker = program.makers[slot]
        name = program.names[maker]
        if name == "func.func":
            name = f"@{next(key for key, at in program.functions.items() if at == maker)}"
        elif maker in self._called:
            name = f"@{self._called[maker]}"
        elif name == "sdy.constant":
            name = "stablehlo.constant"  # which importing has replaced
        if program.is_result_of_function(slot):
            index = program.function_results[maker].index(slot)
            names = self._result_names.get(maker, [])
            what = (names[index] if index < len(names) else None) or f"result {index} of {name}"
        elif slot in program.results[maker]:
            index = program.results[maker].index(slot)
            scoped = named_in(name, self.scopes(maker))
            what = f"result {index} of {scoped or name}"
            if scoped and len(program.results[maker]) == 1:
                what = scoped
        else:
            index = program.arguments[maker].index(slot)
            what = f"argument {index} of {name}"
            if maker in self._called:
                operand = self.tensor(program.slots[program.operands[maker][index]])
                if operand.is_named:
                    return replace(operand, slot=slot)
            if maker in self._argument_locations:
                location = self._argument_locations[maker][index]
                name = self._argument_names[maker][index]
                place = user_place(location) or self._place(maker)
                return RecordedTensor(slot, name or what, place, name is not None, what)
        return RecordedTensor(slot, what, self._place(maker))

    def _place(self, number: int) -> SourceLocation | None:
        """Return the source location of an operation, found once."""
        if number not in self._places:
            self._places[number] = user_place(self._locations[number])
        return self._places[number]

    def result_place(self, slot: int) -> tuple[ir.Location, int] | None:
        """Return the full location of the operation with a tensor as its result, and the index.

        None for an argument, and for a result of a function.
        """
        program = self.engine.program
        maker = program.makers[slot]
        edge = program.edges.get(maker)
        if edge is not None:  # its operation exists only during propagation
            return self.result_place(edge.owner)
        if maker < 0 or program.is_result_of_function(slot) or slot not in program.results[maker]:
            return None
        return self._locations[maker], program.results[maker].index(slot)

    def inner_argument_place(self, slot: int) -> tuple[ir.Location, int] | None:
        """Return the location of the operation whose body has a tensor as argument, and the index.

        None for other tensors, and for an argument of a function.
        """
        program = self.engine.program
        maker = program.makers[slot]
        edge = program.edges.get(maker)
        if edge is not None:
            return self.inner_argument_place(edge.owner)
        if maker < 0 or program.names[maker] == "func.func":
            return None
        arguments = program.arguments.get(maker, ())
        return (self._locations[maker], arguments.index(slot)) if slot in arguments else None

    @property
    def changes(self) -> Sequence[StepChange]:
        """Return the changes of all steps, in order."""
        return self._changes

    def location(self, number: int) -> ir.Location:
        """Return the full location of the operation of a number."""
        return self._locations[number]

    def operation(self, number: int) -> tuple[str, SourceLocation | None]:
        """Return the name of the operation of a number, and its source location if there is one."""
        return self.engine.program.names[number], self._place(number)

    @property
    def groups(self) -> Mapping[int, Sequence[int]]:
        """The other members of the sharding group by member."""
        return self._groups

    def final_kind(self, family: RelationFamily) -> RelationKind | None:
        """Return the kind of a family's relations in the last run; None if nothing flows."""
        run = self.engine.last_run
        return None if run is None else self.engine.kind_of(family, run.strategy)

    def manual_axes(self, number: int | None) -> tuple[str, ...]:
        """Return the manual axes of an operation; none if it isn't a manual computation."""
        return () if number is None else self._manual_axes.get(number, ())

    def tensor_type(self, slot: int) -> TensorType | None:
        """Return the type of a tensor; None if it isn't a ranked one."""
        program = self.engine.program
        if slot == NOWHERE:
            return None
        if program.is_result_of_function(slot):
            function = program.makers[slot]
            returned = program.returned(function)
            index = program.function_results[function].index(slot)
            return program.tensor_type(returned[index]) if index < len(returned) else None
        return program.tensor_type(slot)

    def scoped_name(self, number: int) -> str | None:
        """Return the name of an operation with its scope; None if it has none."""
        if number in self._called:
            return f"the call of @{self._called[number]}"
        return named_in(self.engine.program.names[number], self.scopes(number))

    def scopes(self, number: int) -> tuple[str, ...]:
        """Return the scopes of the operation of a number, outer ones first."""
        if number not in self._scopes:
            self._scopes[number] = scopes_of(self._locations[number])
        return self._scopes[number]

    def members(self, slot: int) -> Sequence[int]:
        """Return the other members of the sharding group of a tensor."""
        return self._groups.get(slot, ())

    def gained(self, slot: int) -> list[int]:
        """Return the steps that changed a tensor, in order."""
        return self._steps_by_slot.get(slot, [])

    def flows(self, number: int) -> tuple[AxisFlow, ...]:
        """Return the axes that tensors gained in a step."""
        change = self._changes[number]
        return self._trace(change.kind, change.state)[2]

    def still_refused(
        self, slot: int, *, every: bool = False
    ) -> list[tuple[int, Refusal, Relation]]:
        """Return the refused axes of a tensor in the final state, with operations and relations.

        Args:
            slot: the tensor.
            every: whether axes that wouldn't come next are among them; see `Refusal.is_next`.
        """
        return [
            (operation, refusal, relation)
            for operation in dict.fromkeys(self.engine.relations_of(slot))
            if (relation := self.engine.relations[operation]) is not None
            for refusal in self.refusals(operation)
            if relation.tensors[refusal.target] == slot and (every or refusal.is_next)
        ]

    def refusals(self, operation: int) -> Sequence[Refusal]:
        """Return the axes that the tensors of an operation refuse in the final state."""
        engine = self.engine
        relation = engine.relations[operation]
        if relation is None or engine.is_erased[operation]:
            return ()
        kind, state = self.final_kind(relation.family), engine.state
        if kind is None:
            return ()
        return self._trace(kind, tuple([state[tensor] for tensor in relation.tensors]))[3]

    @functools.cached_property
    def later_values(self) -> _LaterValues:
        """The values that replace those of the program in later passes."""
        return _LaterValues(self.engine, self._locations, self._without_results)

    @functools.cached_property
    def _steps_by_slot(self) -> dict[int, list[int]]:
        steps: defaultdict[int, list[int]] = defaultdict(list)
        for number, change in enumerate(self._changes):
            for position, _ in change.updates:
                steps[change.relation.tensors[position]].append(number)
        return steps

    def _trace(self, kind: RelationKind, state: tuple[int, ...]) -> _Traced:
        """Return the details of a step, computed once for each kind and state."""
        traced = self._traces.get((kind, state))
        if traced is None:
            traced = self._traces[kind, state] = self._compute_trace(kind, state)
        return traced

    def _compute_trace(self, kind: RelationKind, state: tuple[int, ...]) -> _Traced:
        trace = self.engine.stepper.trace(kind, state)
        if trace is None:
            shardings = tuple(self.engine.stepper.shardings(kind, state))
            return shardings, shardings, (), tuple(refusals_of_meshes(kind.rule, shardings))
        before = trace.before(kind.rule)
        after = tuple(
            trace.updates.get(position, sharding)
            for position, sharding in enumerate(trace.shardings)
        )
        updated = set(trace.updates)
        moved = tuple(
            flow
            for flow in flows(kind.rule, before, trace.after, trace.mesh)
            if flow.target in updated
        )
        refused = tuple(refusals(kind, before, trace.after, updated, trace.mesh))
        return tuple(trace.shardings), after, moved, refused


# --- Values of modules that later passes changed -------------------------------------------------


class _LaterValues:
    """Finds the slots of values of a module that has changed since it was propagated.

    1. A value that propagation saw has its own slot. Memory of erased operations is reused, so the
       operation must also have its former name, or replace one as in 2, and have the same source
       location.
    2. A call has the slot of the named computation at its source location, and a reshard that of
       the constraint. If there are several, as in a function that is called twice, it is the first
       one whose final axes are those of the value.
    3. Other values have no slot.

    Args:
        engine: the state after propagation.
        locations: the source location of each operation.
        without_results: the number of each operation without results, by its identity at the end
            of propagation.
    """

    def __init__(
        self,
        engine: Engine,
        locations: Sequence[ir.Location],
        without_results: Mapping[int, int],
    ):
        self._engine = engine
        self._without_results = without_results
        self._program = engine.program
        self._locations = locations
        self._by_place: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for operation, name in enumerate(self._program.names):
            if name in _REPLACED.values():
                self._by_place[name, str(locations[operation])].append(operation)

    def slot(self, value: ir.Value) -> int | None:
        """Return the slot of a value; None if there is none."""
        number = self.number(value)
        return None if number is None else self._program.slots[number]

    def number(self, value: ir.Value) -> int | None:
        """Return the number of a value in the propagated program; None if it has none."""
        program = self._program
        operation, index = _origin(value)
        try:
            number = program.number_of(value)
        except KeyError:
            pass
        else:
            maker = program.makers[number]
            names = operation.name, _REPLACED.get(operation.name)
            if program.names[maker] in names and self._locations[maker] == operation.location:
                return number
        numbers = list(self._replaced(value, operation, index))
        sharded_alike = (each for each in numbers if self._axes_of(each) == _axes(value))
        return next(sharded_alike, numbers[0] if numbers else None)

    def operation(self, operation: ir.Operation) -> int | None:
        """Return the number of an operation in the propagated program; None if it has none."""
        if len(operation.results):
            number = self.number(operation.results[0])
            return None if number is None else self._program.makers[number]
        found = self._without_results.get(identity(operation))
        if found is None:
            return None
        is_same = self._program.names[found] == operation.name
        return found if is_same and self._locations[found] == operation.location else None

    def _replaced(self, value: ir.Value, operation: ir.Operation, index: int) -> Iterator[int]:
        program = self._program
        is_argument = isinstance(value, ir.BlockArgument)
        place = _REPLACED.get(operation.name, ""), str(operation.location)
        for maker in self._by_place.get(place, ()):
            values = program.arguments[maker] if is_argument else program.results[maker]
            # The operation may be erased, so its values must not be accessed.
            if index < len(values) and program.types[values[index]] == identity(value.type):
                yield values[index]

    def _axes_of(self, number: int) -> object:
        sharding = self._engine.sharding(self._program.slots[number])
        return () if sharding is None else tuple(dim.axes for dim in sharding.dim_shardings)


def _origin(value: ir.Value) -> tuple[ir.Operation, int]:
    """Return the operation that defines a value or has it as a block argument, and its index."""
    if isinstance(value, ir.BlockArgument):
        return value.owner.owner.operation, value.arg_number
    result = ir.OpResult(value)
    return result.owner.operation, result.result_number


def _axes(value: ir.Value) -> object:
    sharding = get_sharding(value)
    return () if sharding is None else tuple(dim.axes for dim in sharding.dim_shardings)
