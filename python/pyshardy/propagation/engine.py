# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fixed-point iteration: propagate through operations until nothing changes.

The order of one run is fixed, since it decides ties between conflicting shardings:

1. A step for each result of the main function, in order.
2. A work list, which is a stack without duplicates, holds all operations, the first one on top.
   Take the top one:

   - If it has no effects and its results have no uses, it is erased, and the operations that
     define its operands are put on the list if at most one other user is left.
   - Otherwise take its step. For each tensor that it changed, in order, put the operations to be
     visited again on the list (`Users`), but not this one; then do the same for the other members
     of the tensor's sharding group, which get the same sharding. An operation that is on the list
     keeps its place. The operations around an operation are put on the list with it.

3. As 1.

All of this works on tables; the driver writes the result to the IR. An operation whose tensors
have not changed since its last visit is skipped, but keeps its place in the work list.
"""

from __future__ import annotations

import enum
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mlir_sdy.effects import is_removable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.values import ASYNC_START
from pyshardy.propagation.groups import slots_in_groups
from pyshardy.propagation.program import NO_OPERATION, NOWHERE, TERMINATORS, Program
from pyshardy.propagation.relation import (
    ALL_PRIORITIES,
    Relation,
    RelationFamily,
    RelationKind,
    RelationReader,
    ShardingTable,
    Stepper,
    Strategy,
    Updates,
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the driver.

    Attributes:
        strategy: decides which axes a step propagates.
        priority: the operation priority up to which axes may flow.
        user_priority: the user priority up to which shardings are visible.
    """

    strategy: Strategy
    priority: int = ALL_PRIORITIES
    user_priority: int = 0


@dataclass(frozen=True, slots=True)
class StepChange:
    """A step that changed something.

    Attributes:
        run: the run that the step belongs to.
        operation: the number of the operation; that of the function for a result of a function.
        relation: the relation that was stepped through.
        kind: the kind of the relation in this run.
        state: the shardings of its tensors before, by number.
        updates: the tensors that changed, by position, and their new shardings.
    """

    run: Run
    operation: int
    relation: Relation
    kind: RelationKind
    state: tuple[int, ...]
    updates: Updates


class _Unsharded(enum.Enum):
    """The state of a relation none of whose tensors has a sharding: no step changes anything."""

    UNSHARDED = enum.auto()


_UNSHARDED = _Unsharded.UNSHARDED


class Engine:
    """The state of a program under propagation.

    Attributes:
        program: the program.
        relations: the relation of each operation, None where there is none.
        table: the shardings that occur.
        stepper: computes steps.
        state: the number of the sharding in each slot.
        written_state: a copy of `state` from when it was last written to the IR.
        erased: the operations that turned out to be dead, in the order of their erasure.
        num_erased_in_ir: the number of these that have been erased from the IR.
        on_change: called with each step that changes something; None without observers.
        last_run: the current run, or the last one.
    """

    def __init__(self, program: Program, reader: RelationReader):
        self.program = program
        self.relations = reader.read()
        self.table = ShardingTable()
        self.stepper = Stepper(self.table, program.meshes)
        self.state = [self.table.number(sharding) for sharding in program.shardings]
        self.written_state = list(self.state)
        self.erased: list[int] = []
        self.num_erased_in_ir = 0
        self.on_change: Callable[[StepChange], None] | None = None
        self.last_run: Run | None = None
        self._kinds = reader.table
        self._function_results = reader.function_results()
        self._users = Users(program)
        self._groups = slots_in_groups(program)
        self._is_erased = bytearray(len(program.operations))
        self._use_counts = list(program.use_counts)
        counts = self._use_counts
        self._live_uses = [sum(counts[results.start : results.stop]) for results in program.results]
        # The operations that relate each slot, and the kind for which each is unchanged, or
        # `_UNSHARDED`.
        self._relations_of: list[list[int]] = [[] for _ in self.state]
        self._at_rest: list[RelationKind | _Unsharded | None] = []
        # The number of the family of each relation; 0 without a relation.
        families = {family: 1 + at for at, family in enumerate(reader.table.families)}
        self._families = array(
            "i",
            (0 if each is None else families[each.family] for each in self.relations),
        )
        state = self.state
        for operation, relation in zip(program.numbers, self.relations, strict=True):
            is_sharded = 0
            if relation is not None:
                for slot in relation.tensors:
                    self._relations_of[slot].append(operation)
                    is_sharded |= state[slot]
            self._at_rest.append(None if is_sharded else _UNSHARDED)

    # --- Shardings ----------------------------------------------------------------------------

    def sharding(self, slot: int) -> TensorSharding | None:
        """Return the current sharding in a slot."""
        return self.table[self.state[slot]]

    def set_sharding(self, slot: int, sharding: TensorSharding) -> None:
        """Put a sharding into a slot, without any further effect."""
        self._set(slot, self.table.number(sharding))

    def given_shardings(self) -> Iterator[tuple[int, TensorSharding]]:
        """Return all slots in use with their shardings."""
        slots, num_values = self.program.slots, self.program.num_values
        for slot, number in enumerate(self.state):
            if number and (slot >= num_values or slots[slot] == slot):
                sharding = self.table[number]
                if sharding is not None:
                    yield slot, sharding

    def relations_of(self, slot: int) -> Sequence[int]:
        """Return the operations with relations of a slot, repeated for repeated tensors."""
        return self._relations_of[slot]

    def live_operations(self) -> Iterator[tuple[int, ir.Operation]]:
        """Yield the operations that are not erased, with their numbers."""
        for number, operation in enumerate(self.program.operations):
            if not self._is_erased[number]:
                yield number, operation

    @property
    def function_results(self) -> Sequence[Relation]:
        """For each result of the main function its relation to the returned value."""
        return self._function_results

    @property
    def is_erased(self) -> Sequence[int]:
        """Whether each operation is erased, by its number."""
        return self._is_erased

    def kind(
        self, relation: Relation, strategy: Strategy, priority: int = ALL_PRIORITIES
    ) -> RelationKind | None:
        """Return the kind of a relation in a run; None if nothing flows through it.

        At priority 0 the operands of its operation are assumed to have no other uses.
        """
        return self.kind_of(relation.family, strategy, priority)

    def kind_of(
        self, family: RelationFamily, strategy: Strategy, priority: int = ALL_PRIORITIES
    ) -> RelationKind | None:
        """Return the kind of a family's relations, as `kind` does."""
        return self._kinds.kind(family, strategy, priority, True)

    # --- One run ------------------------------------------------------------------------------

    def run(self, run: Run) -> None:
        """Propagate until nothing changes."""
        self.last_run = run
        self._step_function_results(run)
        self._drain(run)
        self._step_function_results(run)

    def _step_function_results(self, run: Run) -> None:
        main = self.program.main
        for relation in self._function_results:
            kind = self.kind(relation, run.strategy, run.priority)
            if kind is None or main is None:
                continue
            state = tuple(self.state[slot] for slot in relation.tensors)
            updates = kind.outcomes.get(state)
            if updates is None:
                updates = self.stepper.step(kind, state)
            if updates:
                if self.on_change is not None:
                    self.on_change(StepChange(run, main, relation, kind, state, updates))
                for position, number in updates:
                    slot = relation.tensors[position]
                    self._put(slot, number)
                    for other in self._groups.get(slot, ()):
                        self._put(other, number)

    def _kinds_of_run(self, run: Run) -> list[RelationKind | None]:
        """Return the kinds of the relations, at priority 0 as if no operand had other uses."""
        key = run.strategy, run.priority, True
        of_family = [None, *(self._kinds.kind(family, *key) for family in self._kinds.families)]
        return list(map(of_family.__getitem__, self._families))

    def _drain(self, run: Run) -> None:
        kinds = self._kinds_of_run(run)
        at_rest, is_erased, live_uses = self._at_rest, self._is_erased, self._live_uses
        is_queued = bytearray(b"\1") * len(kinds)
        pushed: list[int] = []
        # The list is a stack: pushed operations are on top of those not yet reached.
        for operation, kind in enumerate(kinds):
            is_queued[operation] = False
            rest = at_rest[operation]
            if kind is None or rest is kind or rest is _UNSHARDED:
                # The visit would only find out whether the operation is dead.
                if live_uses[operation] or is_erased[operation]:
                    continue
            elif is_erased[operation]:
                continue
            self._visit(operation, run, kinds, pushed, is_queued)
            while pushed:
                operation = pushed.pop()  # noqa: PLW2901 (repeated for the operation around it)
                is_queued[operation] = False
                self._visit(operation, run, kinds, pushed, is_queued)

    def _visit(
        self,
        operation: int,
        run: Run,
        kinds: list[RelationKind | None],
        pushed: list[int],
        is_queued: bytearray,
    ) -> None:
        if not self._live_uses[operation] and self._erase_if_dead(operation, pushed, is_queued):
            return
        relation = self.relations[operation]
        if relation is None:
            return
        kind, family = kinds[operation], relation.family
        if run.priority == 0 and family.depends_on_uses and not self._is_single_user(operation):
            kind = self._kinds.kind(family, run.strategy, 0, False)
        if kind is None:
            return
        state = self.state
        before = tuple([state[slot] for slot in relation.tensors])
        updates = kind.outcomes.get(before)
        if updates is None:
            updates = self.stepper.step(kind, before)
        if not updates:
            self._at_rest[operation] = kind if any(before) else _UNSHARDED
            return
        if self.on_change is not None:
            self.on_change(StepChange(run, operation, relation, kind, before, updates))
        for position, number in updates:
            slot = relation.tensors[position]
            self._update(operation, slot, number, pushed, is_queued)
            for other in self._groups.get(slot, ()):
                self._update(operation, other, number, pushed, is_queued)

    def _is_single_user(self, operation: int) -> bool:
        """Whether all operands of an operation are scalars or have no other use."""
        counts, program = self._use_counts, self.program
        for operand in program.operands[operation]:
            if counts[operand] != 1 and program.rank(operand):
                return False
        return True

    def _update(
        self, operation: int, slot: int, number: int, stack: list[int], is_queued: bytearray
    ) -> None:
        self._put(slot, number)
        for other in self._users.notified(slot):
            if other != operation and not is_queued[other]:
                self._push(other, stack, is_queued)

    def _put(self, slot: int, number: int) -> None:
        """Put a sharding into a slot, with the effects of setting the sharding of its value."""
        if slot == NOWHERE:
            return
        if not self.state[slot]:
            self._open_others(slot, number)
        self._set(slot, number)

    def _set(self, slot: int, number: int) -> None:
        self.state[slot] = number
        for operation in self._relations_of[slot]:
            self._at_rest[operation] = None

    def _open_others(self, slot: int, number: int) -> None:
        """Make the other values of a new list of shardings fully open."""
        together = self.program.held_together(slot)
        sharding = self.table[number]
        if len(together) == 1 or sharding is None:
            return
        for other in together:
            if other != slot and not self.state[other]:
                opened = TensorSharding.fully_open(self.program.rank(other), sharding.mesh_or_ref)
                self._set(other, self.table.number(opened))

    def _push(self, operation: int, stack: list[int], is_queued: bytearray) -> None:
        if self._is_erased[operation]:
            return
        while operation != NO_OPERATION:
            if not is_queued[operation]:
                is_queued[operation] = True
                stack.append(operation)
            operation = self.program.parents[operation]

    # --- Dead operations ----------------------------------------------------------------------

    def _erase_if_dead(self, operation: int, stack: list[int], is_queued: bytearray) -> bool:
        """Erase an operation without uses or effects; return whether it is erased."""
        if self._is_erased[operation]:
            return True
        if not self.program.results[operation] or not is_removable(
            self.program.operations[operation]
        ):
            self._live_uses[operation] = 1  # Its effect counts as a use.
            return False
        self._erase(operation, stack, is_queued)
        self.erased.append(operation)
        return True

    def _erase(self, operation: int, stack: list[int], is_queued: bytearray) -> None:
        program = self.program
        for nested in reversed(program.inside(operation)):
            if program.parents[nested] == operation:
                self._erase(nested, stack, is_queued)
        for operand in program.operands[operation]:
            maker = program.makers[operand]
            if operand in program.results[maker]:
                users = self._users.of(operand)
                others = {user for user in users if user != operation and not self._is_erased[user]}
                if len(others) <= 1:
                    self._push(maker, stack, is_queued)
        for operand in program.operands[operation]:
            self._use_counts[operand] -= 1
            maker = program.makers[operand]
            if operand in program.results[maker]:
                self._live_uses[maker] -= 1
        self._is_erased[operation] = True
        is_queued[operation] = False


# --- Users of a value -----------------------------------------------------------------------------


_FORWARDING = TERMINATORS | {"func.call"}
_REDIRECTING = _FORWARDING | {ASYNC_START}


class Users:
    """Finds the operations to notify, in order, and remembers them for each slot.

    1. For an `sdy.data_flow_edge`: the users of the edge's targets other than the owner.
    2. The operation that defines the value, or that is around it.
    3. The users of the value, in the order of the use list.

    If a value is the source of a data-flow edge, the user is replaced by the edge's operation; a
    return by the users of the results of all calls of the function; a call by the users of the
    function's argument; and any other terminator by the operation around it.
    """

    def __init__(self, program: Program):
        self._program = program
        self._notified: dict[int, list[int]] = {}
        self._last_users: list[int] = [NO_OPERATION] * program.num_values
        for operation, operands in zip(program.numbers, program.operands, strict=True):
            for value in operands:
                self._last_users[value] = operation

    def notified(self, slot: int) -> Sequence[int]:
        """Return the operations to visit again, without functions."""
        known = self._notified.get(slot)
        if known is None:
            known = self._notified[slot] = self._find(slot)
        return known

    def of(self, value: int) -> set[int]:
        """Return the operations that used a value at the start."""
        return {user for user, _ in self._uses(value)}

    def _find(self, slot: int) -> list[int]:
        program = self._program
        found: list[int] = []
        if slot == NOWHERE or program.is_result_of_function(slot):
            return found
        maker = program.makers[slot]
        edge = program.edges.get(maker)
        if edge is not None:
            for target in edge.other_targets:
                self._add_users(target, found, set())
        if program.names[maker] != "func.func":
            found.append(maker)
        if program.use_counts[slot] == 1 and not program.woken_edges:
            user = self._last_users[slot]
            if program.names[user] not in _REDIRECTING:  # most values
                found.append(user)
                return found
        self._add_users(slot, found, set())
        return found

    def _add_users(self, value: int, found: list[int], seen: set[int]) -> None:
        if value in seen:  # A recursive function passes its argument on.
            return
        seen.add(value)
        program = self._program
        for user, position in self._uses(value):
            name = program.names[user]
            edge = program.woken_edges.get((user, position))
            if edge is not None:
                found.append(edge)
            elif name == ASYNC_START:
                self._add_users(program.arguments[user][position], found, seen)
            elif name not in _FORWARDING:
                found.append(user)
            elif name == "func.return":
                for call in program.calls_of(program.parents[user]):
                    self._add_users(program.results[call][position], found, seen)
            elif name == "func.call":
                arguments = program.arguments.get(program.callee(user), ())
                if len(arguments) > position:
                    self._add_users(arguments[position], found, seen)
            else:
                found.append(program.parents[user])

    def _uses(self, value: int) -> list[tuple[int, int]]:
        """Yield the users of a value in the order of its use list, with the operand's position."""
        program = self._program
        count = program.use_counts[value]
        if not count:
            return []
        if count == 1:
            user = self._last_users[value]
            return [(user, program.operands[user].index(value))]
        number = program.operation_number
        return [
            (number(use.owner.operation), use.operand_number) for use in program.value(value).uses
        ]
