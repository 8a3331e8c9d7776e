# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver: takes steps through a program until nothing changes.

One run goes like this; ties between conflicting shardings depend on the order, so it is fixed:

1. A step for each result of the main function, in order.
2. A work list, which is a stack without duplicates, holds all operations, the first one on top.
   Take the top one:

   - If it only makes results that nobody uses, it is erased, and the operations that make its
     operands are put on the list, where at most one other user is left.
   - Otherwise take its step. For each tensor that it changed, in order, put the operations to be
     visited again on the list (`Users`), but not this one. An operation that is on the list
     keeps its place. With an operation go those around it.

3. As 1.

All of that happens in tables; `write_back` brings the outcome to the IR.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from pyshardy.propagation.effects import is_removable
from pyshardy.propagation.program import NO_OPERATION, NOWHERE, Program
from pyshardy.propagation.relation import Relation, ShardingTable, Stepper, Strategy, Updates
from pyshardy.propagation.users import Users


@dataclass(frozen=True, slots=True)
class Change:
    """A step that changed something.

    Attributes:
        operation: the number of the operation; that of the function for a result of a function.
        relation: what was stepped through.
        state: the shardings of its tensors before, by number.
        updates: the tensors that changed, by position, and their new shardings.
    """

    operation: int
    relation: Relation
    state: tuple[int, ...]
    updates: Updates


class Engine:
    """The state of a program under propagation.

    Attributes:
        program: the program.
        table: the shardings that occur.
        state: the number of the sharding in each slot.
        erased: the operations that turned out to be dead, in the order of their erasure.
        changes: the steps that changed something, in order.
    """

    def __init__(
        self,
        program: Program,
        relations: list[Relation | None],
        function_results: list[Relation],
    ):
        self.program = program
        self.table = ShardingTable()
        self.state = [self.table.number(sharding) for sharding in program.shardings]
        self.initial_state = list(self.state)
        self.erased: list[int] = []
        self.changes: list[Change] = []
        self._relations = relations
        self._function_results = function_results
        self._users = Users(program)
        self._is_erased = bytearray(len(program.operations))
        # How often the results of each operation are used.
        counts = self._users.counts
        self._live_uses = [sum(counts[results.start : results.stop]) for results in program.results]

    def run(self, strategy: Strategy) -> None:
        """Propagate with a strategy until nothing changes."""
        stepper = Stepper(self.table, self.program.meshes, strategy)
        self._step_function_results(stepper)
        self._drain(stepper)
        self._step_function_results(stepper)

    def _step_function_results(self, stepper: Stepper) -> None:
        results = self.program.main_results
        for relation in self._function_results:
            state = tuple(self.state[slot] for slot in relation.tensors)
            updates = stepper.step(relation.kind, state)
            if updates and results is not None:
                self._apply(results.function, relation, state, updates)

    def _drain(self, stepper: Stepper) -> None:
        relations, live_uses, state = self._relations, self._live_uses, self.state
        stack = [*range(len(relations))]
        stack.reverse()
        is_queued = bytearray(b"\1") * len(relations)
        while stack:
            operation = stack.pop()
            is_queued[operation] = False
            if not live_uses[operation] and self._erase_if_dead(operation, stack, is_queued):
                continue
            relation = relations[operation]
            if relation is None:
                continue
            kind = relation.kind
            before = tuple([state[slot] for slot in relation.tensors])
            updates = kind.outcomes.get(before)
            if updates is None:
                updates = stepper.step(kind, before)
            if updates:
                self._apply(operation, relation, before, updates)
                self._notify(operation, relation, updates, stack, is_queued)

    def _apply(
        self, operation: int, relation: Relation, before: tuple[int, ...], updates: Updates
    ) -> None:
        self.changes.append(Change(operation, relation, before, updates))
        state = self.state
        for position, number in updates:
            slot = relation.tensors[position]
            if slot == NOWHERE:
                continue
            if not state[slot] and slot < len(self.program.values):
                self._open_others(slot, number)
            state[slot] = number

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

    def _notify(
        self,
        operation: int,
        relation: Relation,
        updates: Updates,
        stack: list[int],
        is_queued: bytearray,
    ) -> None:
        for position, _ in updates:
            for other in self._users.notified(relation.tensors[position]):
                if other != operation and not is_queued[other]:
                    self._push(other, stack, is_queued)

    def _push(self, operation: int, stack: list[int], is_queued: bytearray) -> None:
        if self._is_erased[operation]:
            return
        while operation != NO_OPERATION:
            if not is_queued[operation]:
                is_queued[operation] = True
                stack.append(operation)
            operation = self.program.parents[operation]

    def live_operations(self) -> Iterator[tuple[int, ir.Operation]]:
        """The operations that are not erased, with their numbers."""
        for number, operation in enumerate(self.program.operations):
            if not self._is_erased[number]:
                yield number, operation

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
            maker = program.makers[operand]
            if operand in program.results[maker]:
                self._live_uses[maker] -= 1
        self._is_erased[operation] = True
        is_queued[operation] = False
