# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A recorder of the values that the partitioner reshards and completes.

Operations of the program are marked before the first pass (see `tags`). When all reshards and
reductions are explicit, and before they are lowered to collectives, each is recorded and marked.
The collectives of its lowering inherit the mark.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.traversal import may_have_regions, named_operations_in
from mlir_sdy.values import get_sharding, look_through_barriers
from pyshardy.irtools.locations import read_tags, tag_of, tagged, untagged
from pyshardy.irtools.stablehlo_views import COLLECTIVES
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline.instrumentation import Instrumentation
from pyshardy.pipeline.plan import Step

_EXPLICIT = "sdy-reshard-to-collectives"
"""The pass before which all communication is explicit as `sdy` operations."""

_RESHARD = "sdy.reshard"
_REDUCTIONS = frozenset({"sdy.all_reduce", "sdy.reduce_scatter"})
_INSERTED = _REDUCTIONS | {
    _RESHARD,
    "sdy.manual_computation",
    "stablehlo.pad",
    "stablehlo.slice",
}
"""Operations that the partitioner inserts between operations of the program."""

_MOST_INSERTED = 8
"""The maximum number of inserted operations between two operations of the program."""


class MoveKind(enum.Enum):
    """The kind of a move."""

    RESHARD = "reshard"
    REDUCTION = "reduction"
    OPERATION = "operation"


@dataclass(frozen=True, slots=True)
class ReshardingUse:
    """An operation of the program that requires a different sharding of a value.

    Attributes:
        operation: the operation.
        operand: the index of the operand.
    """

    operation: ir.Operation
    operand: int


@dataclass(frozen=True, slots=True)
class Move:
    """A value that changes its sharding, or is completed; or an operation that communicates.

    Attributes:
        kind: a reshard, a reduction of partial results, or an operation's own local form.
        value: the value of the program; None if unknown.
        operation: the operation that communicates; None for a value.
        before: the sharding of the value before.
        after: its sharding afterwards.
        uses: the operations that require the sharding after.
    """

    kind: MoveKind
    value: ir.Value | None
    operation: ir.Operation | None = None
    before: TensorSharding | None = None
    after: TensorSharding | None = None
    uses: tuple[ReshardingUse, ...] = ()


@dataclass
class MoveRecorder(Instrumentation):
    """Records moves while a program is partitioned.

        recorder = MoveRecorder(module)
        program = partition(module, instrumentation=[recorder])
        for collective, move in zip(program.collectives, recorder.of_collectives):
            ...

    Args:
        module: the propagated module that is partitioned.

    Attributes:
        of_collectives: for each collective of the local program, in order, its move; None if
            unknown.
        operations: the operations of `module`, in the order of the text.
        origins: for each operation of the local program, in the order of the text, the index of the
            operation of `module` that it belongs to; None if the partitioner inserted it.
    """

    module: ir.Module
    of_collectives: list[Move | None] = field(default_factory=list[Move | None], init=False)
    operations: list[ir.Operation] = field(default_factory=list[ir.Operation], init=False)
    origins: list[int | None] = field(default_factory=list[int | None], init=False)
    _arguments: list[ir.Value] = field(default_factory=list[ir.Value], init=False)
    _moves: list[Move] = field(default_factory=list[Move], init=False)

    def before_pipeline(self, module: ir.Module, steps: tuple[Step, ...]) -> None:  # noqa: ARG002
        """Mark all operations, and the arguments of functions, loops and computations."""
        originals, copies = named_operations_in(self.module), named_operations_in(module)
        self.operations = [operation for operation, _ in originals]
        if [name for _, name in copies] != [name for _, name in originals]:
            return  # another program
        for number, (copy, name) in enumerate(copies):
            copy.location = tagged(copy.location, "operation", number)
            if may_have_regions(name):
                arguments = zip(_arguments(copy), _arguments(self.operations[number]), strict=True)
                for argument, original in arguments:
                    location = tagged(argument.location, "argument", len(self._arguments))
                    argument.set_location(location)
                    self._arguments.append(original)

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Record the moves, once all of them are explicit."""
        if step.argument != _EXPLICIT:
            return
        for operation in operations_named(_REDUCTIONS | {_RESHARD}, module):
            value = operation.operands[0]
            is_reshard = operation.name == _RESHARD
            move = Move(
                MoveKind.RESHARD if is_reshard else MoveKind.REDUCTION,
                self._original(value),
                None,
                get_sharding(look_through_barriers(value)),
                get_sharding(operation.results[0]),
                tuple(self._uses(operation.results[0])),
            )
            operation.location = tagged(operation.location, "move", len(self._moves))
            self._moves.append(move)

    def after_pipeline(self, module: ir.Module) -> None:
        """Assign the collectives to the moves, and remove the marks."""
        self.of_collectives = list(map(self._move_of, operations_named(COLLECTIVES, module)))
        for operation, name in named_operations_in(module):
            numbers, operation.location = read_tags(operation.location, "operation")
            self.origins.append(numbers[0] if numbers else None)
            if may_have_regions(name):
                for argument in _arguments(operation):
                    argument.set_location(untagged(argument.location))

    def _move_of(self, collective: ir.Operation) -> Move | None:
        move = tag_of(collective.location, "move")
        if move is not None:
            return self._moves[move]
        operation = tag_of(collective.location, "operation")
        if operation is not None:
            return Move(MoveKind.OPERATION, None, self.operations[operation])
        return None

    def _uses(self, value: ir.Value, depth: int = 0) -> Iterator[ReshardingUse]:
        """Yield the uses of a value in the program, through inserted operations."""
        for use in value.uses:
            user = use.owner.operation
            original = self._original_operation(user)
            if original is not None:
                yield ReshardingUse(original, use.operand_number)
            elif depth < _MOST_INSERTED:
                for result in user.results:
                    yield from self._uses(result, depth + 1)

    def _original(self, value: ir.Value) -> ir.Value | None:
        """Return the value of the program that a value was computed from by inserted operations."""
        for _ in range(_MOST_INSERTED):
            if isinstance(value, ir.BlockArgument):
                argument = tag_of(value.location, "argument")
                return None if argument is None else self._arguments[argument]
            operation = value.owner.operation
            original = self._original_operation(operation)
            if original is not None:
                index = ir.OpResult(value).result_number
                return original.results[index] if index < len(original.results) else None
            if not operation.operands:
                return None
            value = operation.operands[0]
        return None

    def _original_operation(self, operation: ir.Operation) -> ir.Operation | None:
        """Return the operation of the program that has this one's mark; None if inserted."""
        number = tag_of(operation.location, "operation")
        if number is None:
            return None
        original = self.operations[number]
        is_inserted = operation.name in _INSERTED and original.name != operation.name
        return None if is_inserted else original


def _arguments(operation: ir.Operation) -> list[ir.BlockArgument]:
    """Return the arguments of all blocks of a function, loop or computation."""
    return [
        argument
        for region in operation.regions
        for block in region.blocks
        for argument in block.arguments
    ]
