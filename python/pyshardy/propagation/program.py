# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module as tables: what the driver works on instead of the IR.

Operations and values are numbered in the order of the text. Every value has a *slot* for its
sharding, with the number of the value, but some share that of another: the arguments of a while
loop's regions have the slot of the loop's result, the source of a data-flow edge operation that
of its result. Results of the main function have slots of their own, after those of the values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlir_sdy import values as value_shardings
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import COMPUTATIONS, DATA_FLOW_OPERATIONS, OWN_SHARDING, SHARDING
from pyshardy.rules import SHARDING_RULE, ShardingRuleLookup

NOWHERE = 0
"""The slot of values that can't have a sharding."""

NO_OPERATION = -1
"""In place of the operation around one that stands directly in the module."""

_SPECIAL = frozenset({"func.call", "func.func", *OWN_SHARDING, *COMPUTATIONS})
"""Operations of which reading takes note, beside those with shardings."""


@dataclass(frozen=True, slots=True)
class FunctionResults:
    """The results of a function whose shardings take part in propagation.

    Attributes:
        function: the function.
        returned: the values that it returns.
        slots: the slots of its results.
    """

    function: int
    returned: Sequence[int] = ()
    slots: Sequence[int] = ()


class Program:
    """The operations and values of a module by their numbers.

    Attributes:
        module: the module.
        meshes: its meshes by name.
        operations: the operations, each before those in its regions.
        names: the name of each operation.
        parents: the operation around each operation, or `NO_OPERATION`.
        ends: the first operation after each operation and those in its regions.
        operands: the values that each operation uses.
        results: the values that each operation makes.
        arguments: the arguments of the regions of each operation that has any.
        values: the values; number 0 stands for none.
        types: a number for the type of each value, as `type_key` gives it.
        makers: the operation that makes each value, or has it as an argument of a region.
        slots: the slot of each value.
        shardings: what is in each slot.
        functions: the functions by name.
        calls: the calls of each function by its name.
        with_own_rule: the operations that have their rule as an attribute.
        main_results: the results of the main function.
    """

    def __init__(self, module: ir.Module, lookup: ShardingRuleLookup):
        self.module = module
        self.meshes = meshes_of(module)
        self.operations: list[ir.Operation] = []
        self.names: list[str] = []
        self.parents: list[int] = []
        self.ends: list[int] = []
        self.results: list[range] = []
        self.arguments: dict[int, range] = {}
        self.values: list[ir.Value | None] = [None]
        self.types: list[int] = [0]
        self.makers: list[int] = [NO_OPERATION]
        self.functions: dict[str, int] = {}
        self.calls: defaultdict[str, list[int]] = defaultdict(list)
        self.with_own_rule: set[int] = set()
        self._numbers: dict[ir.Value, int] = {}
        self._given: dict[int, TensorSharding | None] = {}
        self._operation_numbers: dict[ir.Operation, int] = {}
        self._type_key = lookup.type_key

        self._read_block(module.body, NO_OPERATION)
        number_of = self._numbers.__getitem__
        self.operands = [tuple(map(number_of, op.operands)) for op in self.operations]
        self.slots = list(range(len(self.values)))
        for operation, name in enumerate(self.names):
            if name in DATA_FLOW_OPERATIONS or operation in self.arguments:
                self._place(operation, name)
        self.shardings: list[TensorSharding | None] = [None] * len(self.values)
        for value, sharding in self._given.items():
            self.shardings[value] = sharding
        self.main_results = self._find_main_results()

    def operation_number(self, operation: ir.Operation) -> int:
        """The number of an operation."""
        if not self._operation_numbers:
            self._operation_numbers = {op: at for at, op in enumerate(self.operations)}
        return self._operation_numbers[operation]

    def callee(self, call: int) -> int:
        """The function that a `func.call` calls."""
        return self.functions[self.operations[call].attributes["callee"].value]

    def calls_of(self, function: int) -> Sequence[int]:
        """The calls of a function."""
        return self.calls.get(self.operations[function].attributes["sym_name"].value, ())

    def inside(self, operation: int) -> range:
        """All operations in the regions of an operation, however deep."""
        return range(operation + 1, self.ends[operation])

    def value(self, number: int) -> ir.Value:
        """The value of that number, which stands for one."""
        value = self.values[number]
        if value is None:
            raise ValueError("there is no such value")
        return value

    def rank(self, value: int) -> int:
        """The number of dimensions of a value, 0 if it isn't a tensor."""
        return value_shardings.rank_of(self.value(value).type)

    def held_together(self, slot: int) -> Sequence[int]:
        """The values whose shardings are kept in one list with that in `slot`."""
        maker = self.makers[slot]
        results = self.results[maker]
        if slot in results:
            return results
        return self.arguments[maker] if self.names[maker] in COMPUTATIONS else (slot,)

    # --- Reading ------------------------------------------------------------------------------

    def _read_block(self, block: ir.Block, parent: int) -> None:
        """Add the operations of a block and all inside them. This is the hot loop of reading."""
        operations, names, parents = self.operations, self.names, self.parents
        ends, results, special = self.ends, self.results, _SPECIAL
        for view in block.operations:
            operation = view.operation
            number = len(operations)
            name = operation.name
            operations.append(operation)
            names.append(name)
            parents.append(parent)
            ends.append(number + 1)
            results.append(self._add_values(operation.results, number))
            attributes = operation.attributes
            if name in special or SHARDING in attributes:
                self._read_special(operation, number, name)
            if SHARDING_RULE in attributes:
                self.with_own_rule.add(number)
            regions = operation.regions
            if len(regions):
                self._read_regions(regions, number)

    def _read_regions(self, regions: ir.RegionSequence, number: int) -> None:
        blocks = [block for region in regions for block in region.blocks]
        first = len(self.values)
        for block in blocks:
            self._add_values(block.arguments, number)
        self.arguments[number] = range(first, len(self.values))
        for block in blocks:
            self._read_block(block, number)
        self.ends[number] = len(self.operations)

    def _read_special(self, operation: ir.Operation, number: int, name: str) -> None:
        if name == "func.func":
            self.functions[operation.attributes["sym_name"].value] = number
            return
        if name == "func.call":
            self.calls[operation.attributes["callee"].value].append(number)
        given = value_shardings.result_shardings_of(operation)
        self._given.update(zip(self.results[number], given, strict=False))

    def _add_values(self, values: Iterable[ir.Value], maker: int) -> range:
        known, numbers, types, makers = self.values, self._numbers, self.types, self.makers
        first = number = len(known)
        for value in values:
            numbers[value] = number
            known.append(value)
            types.append(self._type_key(value.type))
            makers.append(maker)
            number += 1
        return range(first, number)

    def _place(self, number: int, name: str) -> None:
        """Find the slots of an operation's results and arguments where they aren't their own."""
        operation = self.operations[number]
        arguments = self.arguments.get(number, range(0))
        if name == "func.func":
            given = value_shardings.argument_shardings(operation)
            self._given.update(zip(arguments, given, strict=False))
            return
        if name in COMPUTATIONS:
            given = value_shardings.body_argument_shardings(operation)
            self._given.update(zip(arguments, given, strict=False))
        for value in (*arguments, *(self.results[number] if name in DATA_FLOW_OPERATIONS else ())):
            holder = value_shardings.shardable_value(self.value(value))
            self.slots[value] = NOWHERE if holder is None else self._numbers[holder]

    # --- The main function --------------------------------------------------------------------

    def _find_main_results(self) -> FunctionResults | None:
        """The results of the only function, or of `main`; None if it has no body.

        Raises:
            PassError: there are several functions, but none is called `main`.
        """
        functions = self.functions
        if not functions:
            return None
        if len(functions) == 1:
            (main,) = functions.values()
        elif "main" in functions:
            main = functions["main"]
        else:
            where = location_of(self.operations[next(iter(functions.values()))].location)
            raise PassError(error("of several functions one must be called 'main'", where))
        returned = self.returned(main)
        first = len(self.shardings)
        self.shardings.extend(value_shardings.result_shardings(self.operations[main]))
        return FunctionResults(main, returned, range(first, len(self.shardings)))

    def returned(self, function: int) -> Sequence[int]:
        """The values that a function returns; none if it has no body."""
        for block in self.operations[function].regions[0].blocks:
            last = self.operation_number(block.operations[len(block.operations) - 1].operation)
            if self.names[last] == "func.return":
                return self.operands[last]
        return ()
