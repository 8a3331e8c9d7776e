# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver: takes steps through a program until nothing changes.

One run goes like this; ties between conflicting shardings depend on the order, so it is fixed:

1. A step for each result of the main function, in order.
2. A work list, which is a stack without duplicates, holds all operations, the first one on top.
   Take the top one:

   - If it only makes results that nobody uses, it is erased, and the operations that make its
     operands are put on the list, where at most one other user is left.
   - Otherwise take its step. For each tensor that it changed, in order, put the operations to be
     visited again on the list (`Users`), but not this one; then do the same for the other members
     of the tensor's sharding group, which get the same sharding. An operation that is on the list
     keeps its place. With an operation go those around it.

3. As 1.

All of that happens in tables; `write_back` brings the outcome to the IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mlir_sdy.effects import is_removable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from pyshardy.propagation.groups import slots_in_groups
from pyshardy.propagation.program import NO_OPERATION, NOWHERE, Program
from pyshardy.propagation.relation import (
    ALL_PRIORITIES,
    Relation,
    RelationKind,
    ShardingTable,
    Stepper,
    Strategy,
    Updates,
)
from pyshardy.propagation.relations import RelationReader
from pyshardy.propagation.users import Users


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
class Change:
    """A step that changed something.

    Attributes:
        run: the run that the step belongs to.
        operation: the number of the operation; that of the function for a result of a function.
        relation: what was stepped through.
        kind: how.
        state: the shardings of its tensors before, by number.
        updates: the tensors that changed, by position, and their new shardings.
    """

    run: Run
    operation: int
    relation: Relation
    kind: RelationKind
    state: tuple[int, ...]
    updates: Updates


class Engine:
    """The state of a program under propagation.

    Attributes:
        program: the program.
        relations: the relation of each operation, None where there is none.
        table: the shardings that occur.
        stepper: computes steps.
        state: the number of the sharding in each slot.
        written_state: what `state` was when it was last the same as in the IR.
        erased: the operations that turned out to be dead, in the order of their erasure.
        num_erased_in_ir: how many of those the IR has no more.
        on_change: called with each step that changes something, if anybody wants to know.
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
        self.on_change: Callable[[Change], None] | None = None
        self._kinds = reader.table
        self._function_results = reader.function_results()
        self._users = Users(program)
        self._groups = slots_in_groups(program)
        self._is_erased = bytearray(len(program.operations))
        self._use_counts = list(program.use_counts)
        counts = self._use_counts
        self._live_uses = [sum(counts[results.start : results.stop]) for results in program.results]
        self._is_first_run = True

    # --- Shardings ----------------------------------------------------------------------------

    def sharding(self, slot: int) -> TensorSharding | None:
        """The sharding that is in a slot now."""
        return self.table[self.state[slot]]

    def set_sharding(self, slot: int, sharding: TensorSharding) -> None:
        """Put a sharding into a slot, without any further effect."""
        self.state[slot] = self.table.number(sharding)

    def given_shardings(self) -> Iterator[tuple[int, TensorSharding]]:
        """The shardings in all slots in use, with those."""
        slots, num_values = self.program.slots, len(self.program.values)
        for slot, number in enumerate(self.state):
            if number and (slot >= num_values or slots[slot] == slot):
                sharding = self.table[number]
                if sharding is not None:
                    yield slot, sharding

    def live_operations(self) -> Iterator[tuple[int, ir.Operation]]:
        """The operations that are not erased, with their numbers."""
        for number, operation in enumerate(self.program.operations):
            if not self._is_erased[number]:
                yield number, operation

    def kind(
        self, relation: Relation, strategy: Strategy, priority: int = ALL_PRIORITIES
    ) -> RelationKind | None:
        """How a relation is stepped through in a run; None if nothing flows through it.

        At priority 0 the operands of its operation are taken to have no other uses.
        """
        return self._kinds.kind(relation.family, strategy, priority, True)

    # --- One run ------------------------------------------------------------------------------

    def run(self, run: Run) -> None:
        """Propagate until nothing changes."""
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
                    self.on_change(Change(run, main, relation, kind, state, updates))
                for position, number in updates:
                    slot = relation.tensors[position]
                    self._put(slot, number)
                    for other in self._groups.get(slot, ()):
                        self._put(other, number)

    def _kinds_of_run(self, run: Run) -> list[RelationKind | None]:
        """The kind of each relation, at priority 0 as if all operands had other uses."""
        strategy, priority = run.strategy, run.priority
        # What takes part only if its operands have no other use is looked at when it is visited.
        key = strategy, priority, priority > 0
        kinds: list[RelationKind | None] = []
        find = self._kinds.kind
        for relation in self.relations:
            if relation is None:
                kinds.append(None)
                continue
            family = relation.family
            kinds.append(family.kinds[key] if key in family.kinds else find(family, *key))
        return kinds

    def _drain(self, run: Run) -> None:
        kinds = self._kinds_of_run(run)
        relations, live_uses, state = self.relations, self._live_uses, self.state
        by_uses = run.priority == 0
        if self._is_first_run:
            stack = [*range(len(relations))]
        else:
            # What is dead is gone, so only operations with something to do matter.
            is_erased = self._is_erased
            stack = [
                number
                for number, relation in enumerate(relations)
                if (kinds[number] is not None or (by_uses and relation is not None))
                and not is_erased[number]
            ]
        self._is_first_run = False
        is_queued = bytearray(len(relations))
        for number in stack:
            is_queued[number] = True
        stack.reverse()
        while stack:
            operation = stack.pop()
            is_queued[operation] = False
            if not live_uses[operation] and self._erase_if_dead(operation, stack, is_queued):
                continue
            relation = relations[operation]
            if relation is None:
                continue
            kind = kinds[operation]
            if by_uses and relation.family.depends_on_uses and self._is_single_user(operation):
                kind = self.kind(relation, run.strategy, 0)
            if kind is None:
                continue
            before = tuple([state[slot] for slot in relation.tensors])
            updates = kind.outcomes.get(before)
            if updates is None:
                updates = self.stepper.step(kind, before)
            if updates:
                if self.on_change is not None:
                    self.on_change(Change(run, operation, relation, kind, before, updates))
                for position, number in updates:
                    slot = relation.tensors[position]
                    self._update(operation, slot, number, stack, is_queued)
                    for other in self._groups.get(slot, ()):
                        self._update(operation, other, number, stack, is_queued)

    def _is_single_user(self, operation: int) -> bool:
        """Whether each operand of an operation is a scalar or has no other use."""
        counts, program = self._use_counts, self.program
        return all(
            counts[operand] == 1 or program.rank(operand) == 0
            for operand in program.operands[operation]
        )

    def _update(
        self, operation: int, slot: int, number: int, stack: list[int], is_queued: bytearray
    ) -> None:
        self._put(slot, number)
        for other in self._users.notified(slot):
            if other != operation and not is_queued[other]:
                self._push(other, stack, is_queued)

    def _put(self, slot: int, number: int) -> None:
        if slot == NOWHERE:
            return
        if not self.state[slot] and not self.program.is_result_of_function(slot):
            self._open_others(slot, number)
        self.state[slot] = number

    def _open_others(self, slot: int, number: int) -> None:
        """Where a list of shardings begins to exist, its other values become fully open."""
        together = self.program.held_together(slot)
        sharding = self.table[number]
        if len(together) == 1 or sharding is None:
            return
        for other in together:
            if other != slot and not self.state[other]:
                rank = self.program.rank(other)
                opened = TensorSharding.fully_open(rank, sharding.mesh_or_ref)
                self.state[other] = self.table.number(opened)

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
        """Erase an operation without uses if it does nothing else; whether it is erased now."""
        if self._is_erased[operation]:
            return True
        if not self.program.results[operation] or not is_removable(
            self.program.operations[operation]
        ):
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
