# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations have to be visited again when the sharding of a value changes."""

from __future__ import annotations

from collections.abc import Iterator

from pyshardy.propagation.program import NO_OPERATION, NOWHERE, Program

_OTHER_TERMINATORS = frozenset({"sdy.return", "stablehlo.return"})


class Users:
    """Finds the operations to notify, in order, and remembers them for each value.

    1. The operation that makes the value, or around it.
    2. Its users, in the order of the use list. Instead of a return come the users of the results
       of all calls of the function, instead of a call those of the function's argument, and
       instead of another operation that ends a block the one around it.
    """

    def __init__(self, program: Program):
        self._program = program
        self._notified: dict[int, tuple[int, ...]] = {}
        self._last_users: list[int] = [NO_OPERATION] * len(program.values)
        self.counts = [0] * len(program.values)
        for operation, operands in enumerate(program.operands):
            for value in operands:
                self.counts[value] += 1
                self._last_users[value] = operation

    def notified(self, value: int) -> tuple[int, ...]:
        """The operations to visit again, functions left out."""
        known = self._notified.get(value)
        if known is None:
            known = self._notified[value] = tuple(self._find(value))
        return known

    def of(self, value: int) -> set[int]:
        """The operations that use a value, as they were at first."""
        return {user for user, _ in self._uses(value)}

    def _find(self, value: int) -> Iterator[int]:
        program = self._program
        if value == NOWHERE or value >= len(program.values):
            return
        maker = program.makers[value]
        if program.names[maker] != "func.func":
            yield maker
        yield from self._users(value, set())

    def _users(self, value: int, seen: set[int]) -> Iterator[int]:
        if value in seen:  # A recursive function passes its argument on.
            return
        seen.add(value)
        program = self._program
        for user, position in self._uses(value):
            name = program.names[user]
            if name == "func.return":
                for call in program.calls_of(program.parents[user]):
                    yield from self._users(program.results[call][position], seen)
            elif name in _OTHER_TERMINATORS:
                yield program.parents[user]
            elif name == "func.call":
                callee = program.callee(user)
                arguments = program.arguments.get(callee, ())
                if len(arguments) > position:
                    yield from self._users(arguments[position], seen)
            else:
                yield user

    def _uses(self, value: int) -> Iterator[tuple[int, int]]:
        """The users of a value, in the order of its use list, and at which operand they have it."""
        program = self._program
        if not self.counts[value]:
            return
        if self.counts[value] == 1:
            user = self._last_users[value]
            yield user, program.operands[user].index(value)
            return
        for use in program.values[value].uses:
            yield program.operation_number(use.owner.operation), use.operand_number
