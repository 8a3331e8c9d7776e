# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of a program that compilers will compute as a part of their users, and inlined calls.

These are the results that `partition.op_facts.fusion` fuses, where the bodies of functions that the
partitioner inlines stand in place of their calls: JAX makes a function of `jnp.where`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from mlir_sdy.host import ir
from mlir_sdy.traversal import named_operations_in
from pyshardy.irtools.functions import entry_block, original_name
from pyshardy.irtools.inlining import MOST_OPERATIONS, can_be_inlined, must_stay
from pyshardy.irtools.stablehlo_views import callee_of
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.op_facts.fusion import FUSED_OPERATIONS, Use, is_fusable

_CALL, _RETURN = "func.call", "func.return"


class FusedValues:
    """Finds the values of a program that are fused into their users.

    Args:
        module: the program, in which each function is called once.
        functions: its functions, by their names.
        inlined: finds the calls that are inlined.
    """

    def __init__(
        self, module: ir.Module, functions: Mapping[str, ir.Operation], inlined: InlinedCalls
    ):
        self._body_of: dict[ir.Operation, ir.Block] = {}
        self._call_of: dict[ir.Block, ir.Operation] = {}
        for call in operations_named({_CALL}, module.operation):
            function = functions.get(callee_of(call))
            block = None if function is None else entry_block(function)
            if function is not None and block is not None and inlined.replaces(call, function):
                self._body_of[call], self._call_of[block] = block, call

    def is_fused(self, result: ir.Value, operation: ir.Operation, name: str) -> bool:
        """Whether the result of an operation is fused into its users.

        Args:
            result: the result.
            operation: its operation.
            name: the name of that.
        """
        if name not in FUSED_OPERATIONS:
            return False
        return is_fusable(name, self._outermost(operation.block), self._uses(result))

    def _uses(self, value: ir.Value) -> Iterator[Use]:
        """Yield the uses of a value, with the blocks that the users will be in."""
        for use in value.uses:
            user, number = use.owner.operation, use.operand_number
            body = self._body_of.get(user)
            call = self._call_of.get(user.block) if user.name == _RETURN else None
            if body is not None:
                yield from self._uses(body.arguments[number])
            elif call is not None:
                yield from self._uses(call.results[number])
            else:
                yield Use(user, user.name, self._outermost(user.block))

    def _outermost(self, block: ir.Block) -> ir.Block:
        """Return the block into which the operations of a block are inlined."""
        while block in self._call_of:
            block = self._call_of[block].block
        return block


class InlinedCalls:
    """Finds the calls that are inlined.

    The program has a copy of a function for each call. Copies with equal shardings become one
    function again after propagation, so that only a function that is called once, or that has few
    operations, is inlined for certain.

    Args:
        functions: the functions of the program by their names, each of which is called once.
    """

    def __init__(self, functions: Mapping[str, ir.Operation]) -> None:
        self._functions = functions
        self._copies = Counter(map(original_name, functions.values()))

    def replaces(self, call: ir.Operation, function: ir.Operation) -> bool:
        """Whether the partitioner replaces a call by the body of its function."""
        if not can_be_inlined(function) or must_stay(call):
            return False
        return (
            self._copies[original_name(function)] == 1
            or self._count(function, MOST_OPERATIONS) <= MOST_OPERATIONS
        )

    def _count(self, function: ir.Operation, most: int) -> int:
        """Return the operations of a function and of those it calls, or a number above `most`."""
        count = -2  # without the function itself and its terminator
        for operation, name in named_operations_in(function):
            count += 1
            if count > most:
                break
            if name == "func.call":
                callee = self._functions.get(callee_of(operation))
                count += 0 if callee is None else self._count(callee, most - count)
        return count
