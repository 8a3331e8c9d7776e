# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lookup of values of a module that later passes changed in the record of its propagation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mlir_sdy.host import identity, ir
from mlir_sdy.values import get_sharding
from pyshardy.propagation.engine import Engine

_REPLACED = {
    "func.call": "sdy.named_computation",
    "func.func": "sdy.named_computation",
    "sdy.reshard": "sdy.sharding_constraint",
}
"""The operations that propagation saw in place of operations that later passes create."""


class LaterValues:
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
