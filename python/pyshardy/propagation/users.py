# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations to visit again when the sharding of a value changes."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.values import ASYNC_START
from pyshardy.propagation.program import NO_OPERATION, NOWHERE, TERMINATORS, Program

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
