# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module as tables, on which the engine works instead of the IR.

Operations and values are numbered in the order of the text. Every value has a *slot* for its
sharding, with the number of the value, but some share that of another: the targets of a data-flow
edge have the slot of its owner, or of the result of the owner's `sdy.data_flow_edge`. Results of
functions have slots of their own, after those of the values.
"""

from __future__ import annotations

import itertools
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy import values as value_shardings
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import identity, ir, location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import may_have_regions
from mlir_sdy.values import (
    ASYNC_DONE,
    ASYNC_START,
    COMPUTATIONS,
    DATA_FLOW_OPERATIONS,
    OWN_SHARDING,
    SHARDING,
)
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.rules import ShardingRuleLookup, TensorType
from pyshardy.rules.own_rules import has_own_rule

NOWHERE = 0
"""The slot of values that can't have a sharding."""

NO_OPERATION = -1
"""The parent of operations directly in the module."""

DATA_FLOW_EDGE = "sdy.data_flow_edge"
SHARDING_GROUP = "sdy.sharding_group"

TERMINATORS = frozenset({"func.return", "mpmd.return", "sdy.return", "stablehlo.return"})
"""The operations that end blocks."""

_NOTED = frozenset(
    {
        "func.call",
        "func.func",
        ASYNC_DONE,
        DATA_FLOW_EDGE,
        SHARDING_GROUP,
        *TERMINATORS,
        *OWN_SHARDING,
    }
    | DATA_FLOW_OPERATIONS
)
"""Operations that reading records, in addition to those with shardings."""


class Program:
    """The operations and values of a module by their numbers.

    Attributes:
        module: the module.
        meshes: its meshes by name.
        operations: the operations, each before those in its regions.
        numbers: their numbers, for loops that keep them: an integer of its own takes 28 bytes.
        names: the name of each operation.
        inner_modules: the modules inside of the module. Their meshes, functions and values are
            their own, and are not read.
        parents: the operation around each operation, or `NO_OPERATION`.
        ends: the first operation after each operation and those in its regions.
        operands: the values that each operation uses.
        results: the values that each operation makes.
        arguments: the arguments of the regions of each operation that has any.
        terminators: what ends the regions of each operation that has any.
        num_values: the number of values; number 0 stands for none.
        types: a number for the type of each value, as `type_key` gives it.
        makers: the operation that makes each value, or has it as an argument of a region; for the
            slot of a function's result the function.
        use_counts: how often each value is used.
        slots: the slot of each value.
        shardings: the sharding in each slot.
        functions: the functions by name.
        calls: the calls of each function by its name.
        with_own_rule: the operations that have their rule as an attribute.
        edges: the data-flow edge for which each `sdy.data_flow_edge` stands.
        woken_edges: the `sdy.data_flow_edge`, or the `stablehlo.async_done`, to visit again for
            each use of a changed value.
        groups: the `sdy.sharding_group` operations.
        function_results: the slots of the results of each function.
        main: the main function; None if the module has no function.
    """

    def __init__(self, module: ir.Module, lookup: ShardingRuleLookup):
        self.module = module
        self.meshes = meshes_of(module)
        self.operations: list[ir.Operation] = []
        self.numbers: list[int] = []
        self.names: list[str] = []
        self.inner_modules: list[ir.Operation] = []
        self.parents: list[int] = []
        self.ends = array("q")
        self.results: list[range] = []
        self.arguments: dict[int, range] = {}
        self.terminators: defaultdict[int, list[int]] = defaultdict(list)
        self.num_values = 1
        self.types: list[int] = [0]
        self.makers: list[int] = [NO_OPERATION]
        self.functions: dict[str, int] = {}
        self.calls: defaultdict[str, list[int]] = defaultdict(list)
        self.with_own_rule: set[int] = set()
        self.groups: list[int] = []
        # By identity, which is faster to hash. The numbers are the same objects as in `slots`.
        self._numbers: dict[int, int] = {}
        self._next = 1
        self._given: dict[int, TensorSharding | None] = {}
        self._data_flow: list[int] = []
        self._edge_operations: list[int] = []
        self._waits: list[int] = []
        self._without_results: dict[ir.Operation, int] = {}
        self._type_key = lookup.type_key
        self._known_types = lookup.known_types
        self._tensor_type = lookup.tensor_type

        self._read_block(module.body, NO_OPERATION)
        number_of = self._numbers.__getitem__
        self.operands = [
            tuple([number_of(identity(value)) for value in op.operands]) for op in self.operations
        ]
        self.num_values = self._next
        self.use_counts = [0] * self.num_values
        for operands in self.operands:
            for value in operands:
                self.use_counts[value] += 1
        self.slots = [NOWHERE, *self._numbers.values()]
        self.edges: dict[int, DataFlowEdge] = {}
        self.woken_edges: dict[Use, int] = {}
        self._read_data_flow()
        for operation, arguments in self.arguments.items():
            self._place_arguments(operation, arguments)
        self.shardings: list[TensorSharding | None] = [None] * self.num_values
        for value, sharding in self._given.items():
            self.shardings[value] = sharding
        self.function_results: dict[int, range] = {}
        self._read_function_results()
        self.main = self._find_main()

    def number_of(self, value: ir.Value) -> int:
        """Return the number of a value."""
        return self._numbers[identity(value)]

    def operation_number(self, operation: ir.Operation) -> int:
        """Return the number of an operation."""
        results = operation.results
        if len(results):
            return self.makers[self._numbers[identity(results[0])]]
        if not self._without_results:
            self._without_results = {
                self.operations[number]: number
                for number, made in enumerate(self.results)
                if not made
            }
        return self._without_results[operation]

    def callee(self, call: int) -> int:
        """Return the function that a `func.call` calls."""
        return self.functions[callee_of(self.operations[call])]

    def calls_of(self, function: int) -> Sequence[int]:
        """Return the calls of a function."""
        return self.calls.get(symbol_name(self.operations[function]), ())

    def inside(self, operation: int) -> range:
        """Return all operations nested in the regions of an operation."""
        return range(operation + 1, self.ends[operation])

    def value(self, number: int) -> ir.Value:
        """Return the value of a number."""
        maker = self.makers[number]
        made = self.results[maker]
        if number in made:
            return self.operations[maker].results[made.index(number)]
        blocks = (block for region in self.operations[maker].regions for block in region.blocks)
        arguments = (argument for block in blocks for argument in block.arguments)
        index = self.arguments[maker].index(number)
        return next(itertools.islice(arguments, index, None))

    def tensor_type(self, value: int) -> TensorType | None:
        """Return the type of a value; None if it isn't a ranked tensor."""
        return self._tensor_type(self.types[value])

    def rank(self, value: int) -> int:
        """Return the number of dimensions of a value, 0 if it isn't a tensor."""
        tensor = self.tensor_type(value)
        return 0 if tensor is None else tensor.rank

    @property
    def num_slots(self) -> int:
        """The number of slots, of values and of results of functions."""
        return len(self.shardings)

    def is_result_of_function(self, slot: int) -> bool:
        """Whether the slot is that of a function result, which is not a value."""
        return slot >= self.num_values

    def returned(self, function: int) -> Sequence[int]:
        """Return the values that a function returns; none if it has no body."""
        terminators = self.terminators.get(function)
        return self.operands[terminators[0]] if terminators else ()

    def started_by(self, future: int) -> int | None:
        """Return the `stablehlo.async_start` that makes a future; None if something else does."""
        maker = self.makers[future]
        return maker if self.names[maker] == ASYNC_START else None

    def held_together(self, slot: int) -> Sequence[int]:
        """Return the values whose shardings are in one list with that in `slot`."""
        maker = self.makers[slot]
        results = self.results[maker]
        if slot in results:
            return results
        if self.names[maker] in COMPUTATIONS and not self.is_result_of_function(slot):
            return self.arguments[maker]
        return (slot,)

    # --- Reading ------------------------------------------------------------------------------

    def _read_block(self, block: ir.Block, parent: int) -> None:
        """Add the operations of a block and nested ones. This is the hot loop of reading."""
        operations, names, parents = self.operations, self.names, self.parents
        ends, results, noted = self.ends, self.results, _NOTED
        numbers, types, makers = self._numbers, self.types, self.makers
        known_types, may_nest = self._known_types, may_have_regions
        for view in block.operations:
            operation = view.operation
            number = len(operations)
            name = operation.name
            operations.append(operation)
            self.numbers.append(number)
            names.append(name)
            parents.append(parent)
            ends.append(number + 1)
            made = operation.results
            if len(made) == 1:
                result = made[0]
                at = self._next
                numbers[identity(result)] = at
                value_type = result.type
                types.append(known_types.get(identity(value_type)) or self._type_key(value_type))
                makers.append(number)
                self._next = end = at + 1
                results.append(range(at, end))
            else:
                results.append(self._add_values(made, number))
            if name in noted or has_discardable(operation, SHARDING):
                self._note(operation, number, name, parent)
            if has_own_rule(operation, name):
                self.with_own_rule.add(number)
            if not may_nest(name):
                continue
            regions = operation.regions
            if len(regions):
                if name == "builtin.module":
                    self.inner_modules.append(operation)
                else:
                    self._read_regions(regions, number)

    def _read_regions(self, regions: ir.RegionSequence, number: int) -> None:
        blocks = [block for region in regions for block in region.blocks]
        first = len(self.types)
        for block in blocks:
            self._add_values(block.arguments, number)
        self.arguments[number] = range(first, len(self.types))
        for block in blocks:
            self._read_block(block, number)
        self.ends[number] = len(self.operations)

    def _note(self, operation: ir.Operation, number: int, name: str, parent: int) -> None:
        if name == "func.func":
            self.functions[symbol_name(operation)] = number
            return
        if name in TERMINATORS:
            self.terminators[parent].append(number)
            return
        if name in DATA_FLOW_OPERATIONS:
            self._data_flow.append(number)
        elif name == DATA_FLOW_EDGE:
            self._edge_operations.append(number)
        elif name == ASYNC_DONE:
            self._waits.append(number)
        elif name == SHARDING_GROUP:
            self.groups.append(number)
        elif name == "func.call":
            self.calls[callee_of(operation)].append(number)
        given = value_shardings.result_shardings_of(operation)
        self._given.update(zip(self.results[number], given, strict=False))

    def _add_values(self, values: Iterable[ir.Value], maker: int) -> range:
        numbers, types, makers = self._numbers, self.types, self.makers
        first = number = self._next
        for value in values:
            numbers[identity(value)] = number
            types.append(self._type_key(value.type))
            makers.append(maker)
            number += 1
        self._next = number
        return range(first, number)

    # --- Slots --------------------------------------------------------------------------------

    def _read_data_flow(self) -> None:
        """Give the targets of each data-flow edge the slot of its owner, or of its operation."""
        holders = {
            owner: operation
            for operation in self._edge_operations
            for owner in self.operands[operation]
            if self.use_counts[owner] == 1
        }
        num_operands = {
            at: len(self.operands[at])
            for operation in self._data_flow
            for at in self.terminators.get(operation, ())
        }
        for wait in self._waits:
            start = self.started_by(self.operands[wait][0])
            if start is not None:
                (end,) = self.terminators[start]
                uses = ((end, position) for position in range(len(self.operands[end])))
                self.woken_edges.update(dict.fromkeys(uses, wait))
        for operation in self._data_flow:
            edges = data_flow_edges(
                operation,
                self.names[operation],
                self.results[operation],
                self.arguments.get(operation, ()),
                self.terminators.get(operation, ()),
                num_operands,
            )
            for edge in edges:
                holder = holders.get(edge.owner)
                slot = edge.owner
                if holder is not None:
                    slot = self.results[holder][0]
                    self.edges[holder] = edge
                    if edge.wakes:
                        self.woken_edges.update(dict.fromkeys(edge.sources, holder))
                for target in (edge.owner, *edge.other_targets):
                    self.slots[target] = slot

    def _place_arguments(self, number: int, arguments: range) -> None:
        """Set the slots of the arguments of an operation's regions."""
        name = self.names[number]
        operation = self.operations[number]
        if name == "func.func":
            given = value_shardings.argument_shardings(operation)
            self._given.update(zip(arguments, given, strict=False))
        elif name in COMPUTATIONS:
            given = value_shardings.body_argument_shardings(operation)
            self._given.update(zip(arguments, given, strict=False))
        elif name == ASYNC_START:
            for argument, operand in zip(arguments, self.operands[number], strict=False):
                self.slots[argument] = self.slots[operand]
        elif name not in DATA_FLOW_OPERATIONS:
            for argument in arguments:
                self.slots[argument] = NOWHERE

    def _read_function_results(self) -> None:
        for function in self.functions.values():
            given = value_shardings.result_shardings(self.operations[function])
            first = len(self.shardings)
            self.shardings.extend(given)
            self.makers.extend([function] * len(given))
            self.function_results[function] = range(first, len(self.shardings))

    def _find_main(self) -> int | None:
        """Return the only function, or `main`.

        Raises:
            PassError: there are several functions, but none is called `main`.
        """
        functions = self.functions
        if len(functions) <= 1:
            return next(iter(functions.values()), None)
        if "main" not in functions:
            where = location_of(self.operations[next(iter(functions.values()))].location)
            raise PassError(
                error("a module with several functions must have one called 'main'", where)
            )
        return functions["main"]


# --- Data-flow edges ------------------------------------------------------------------------------

# Each edge goes from its sources to its targets, all of which have the same value at some time. The
# first target is the *owner* of the edge: an `sdy.data_flow_edge` on it stands for the edge, and
# holds the sharding of all targets. Edge k of
#
# - `stablehlo.while` goes from operand k, and what the body returns as k, to result k, and
#   argument k of the condition and of the body; that of `mpmd.for` likewise;
# - `stablehlo.case` and `stablehlo.if` go from what each branch returns as k to result k;
# - `stablehlo.optimization_barrier` goes from operand k to result k;
# - `sdy.manual_computation`, `sdy.named_computation` and `mpmd.fragment` goes from operand k to
#   argument k; and another one from what the body returns as k to result k.


Use = tuple[int, int]
"""An operation and the position of one of its operands."""


@dataclass(frozen=True, slots=True)
class DataFlowEdge:
    """An edge of a data-flow operation, with or without an operation that stands for it.

    Attributes:
        sources: the uses of the values that flow in.
        owner: the value that an operation for the edge would have as its operand.
        other_targets: the other values that have the edge's sharding.
        wakes: whether the edge's operation is visited again when a source gets a new sharding. As
            in Shardy, it is not for operands of a computation.
    """

    sources: tuple[Use, ...]
    owner: int
    other_targets: tuple[int, ...] = ()
    wakes: bool = True


def data_flow_edges(
    operation: int,
    name: str,
    results: Sequence[int],
    arguments: Sequence[int],
    terminators: Sequence[int],
    num_operands: Mapping[int, int],
) -> Iterator[DataFlowEdge]:
    """Return the edges of a data-flow operation, in the order of their owners.

    Args:
        operation: its number.
        name: its name.
        results: its results.
        arguments: the arguments of its regions, one region after the other.
        terminators: the operations that end its regions, in order.
        num_operands: the number of operands of each terminator.
    """

    def returned(index: int, from_terminators: Sequence[int]) -> tuple[Use, ...]:
        return tuple((at, index) for at in from_terminators if index < num_operands[at])

    if name in COMPUTATIONS:
        for index, argument in enumerate(arguments):
            yield DataFlowEdge(((operation, index),), argument, wakes=False)
        for index, result in enumerate(results):
            yield DataFlowEdge(returned(index, terminators), result)
        return
    count = len(results)
    for index, result in enumerate(results):
        if name == "mpmd.for":
            sources = ((operation, index), *returned(index, terminators))
            yield DataFlowEdge(sources, result, (arguments[index],))
        elif name == "stablehlo.while":
            sources = ((operation, index), *returned(index, terminators[1:]))
            yield DataFlowEdge(sources, result, tuple(arguments[index::count]))
        elif name in ("stablehlo.case", "stablehlo.if"):
            yield DataFlowEdge(returned(index, terminators), result)
        else:
            yield DataFlowEdge(((operation, index),), result)
