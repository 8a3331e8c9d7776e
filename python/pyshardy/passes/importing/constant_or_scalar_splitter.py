# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-constant-or-scalar-splitter`: copy constants for each use.

1. Each `stablehlo.constant` becomes an `sdy.constant`.
2. Functions are processed after their callees, and in each first its named computations, inner
   ones first, and then its body.
3. In a body, constant expressions are constants, iotas, and operations that compute constants
   from constants (`ConstantExpressions`) whose operands are constant expressions. Calls and
   named computations without operands are among them.
4. Each operand of another operation that is the result of a constant expression, or of a
   broadcast of a scalar, is replaced by a copy of that with all its dependencies. Copies are
   inserted before the originals. Scalars are not copied.
5. Constant expressions, and broadcasts of scalars, that have become unused are erased.
6. Sharding groups are not users: copies of their members are members, too.

The callee of a call that is copied is copied, too (`FunctionCloner`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_sdy.host import ir
from pyshardy.importing.constant_copies import ConstantCopier, is_private, is_scalar
from pyshardy.importing.constant_expressions import (
    BROADCAST,
    CONSTANTS,
    NAMED_COMPUTATION,
    SHARDING_GROUP,
    ConstantExpressions,
)
from pyshardy.irtools.analyses import inserts, mark_all_preserved
from pyshardy.irtools.call_graph import CallGraph
from pyshardy.irtools.constants import use_sdy_constants
from pyshardy.irtools.operation_names import may_occur_at_start
from pyshardy.irtools.textual_order import Place, textual_order
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

_CONSTANT = "stablehlo.constant"
_STARTING_POINTS = CONSTANTS | {BROADCAST, NAMED_COMPUTATION, "func.call"}


@register_pass("sdy-constant-or-scalar-splitter", release="0.10.2")
@inserts("sdy.constant", where={_CONSTANT})
def constant_or_scalar_splitter(module: ir.Module) -> None:
    """Copy constants and broadcast scalars for each use.

    Copies constant subcomputations and broadcasts of scalars, so that each use has its own copy.
    Propagation would otherwise copy shardings between unrelated operations through a constant that
    both use.

    A constant subcomputation is a value together with the operations that compute it, if each of
    them is

    - a constant or an iota,
    - an element-wise operation, broadcast, reshape or slice of constant values, or
    - a call or named computation on constant values that consists of such operations only.

    Scalars are not copied, since they cannot be sharded. Unused constants and constant
    subcomputations are erased. Each `stablehlo.constant` becomes an `sdy.constant`, which
    canonicalization does not merge again.

    ```mlir
    %0 = stablehlo.constant dense<2.0> : tensor<8xf32>
    %1 = stablehlo.negate %0 : tensor<8xf32>
    %2 = stablehlo.add %a, %1 : tensor<8xf32>
    %3 = stablehlo.add %b, %0 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = sdy.constant dense<2.0> : tensor<8xf32>
    %1 = sdy.constant dense<2.0> : tensor<8xf32>
    %2 = stablehlo.negate %0 : tensor<8xf32>
    %3 = stablehlo.add %a, %2 : tensor<8xf32>
    %4 = stablehlo.add %b, %1 : tensor<8xf32>
    ```
    """
    if not may_occur_at_start({_CONSTANT, *_STARTING_POINTS}, module):
        mark_all_preserved()
        return
    use_sdy_constants(module)
    graph = CallGraph(module)
    expressions = ConstantExpressions(graph)
    copier = ConstantCopier(module)
    for name in graph.post_order:
        function = graph.functions[name]
        found = operations_named(_STARTING_POINTS, function, ir.WalkOrder.POST_ORDER)
        for body, starting_points in _by_body(found, function):
            # Splitting redirects calls to copies, which have not been analyzed.
            if body.name == NAMED_COMPUTATION:
                expressions.learn_computation(body)
            else:
                expressions.learn_function(name, body)
            _Body(body, starting_points, expressions).split(copier)


def _by_body(
    found: Sequence[ir.Operation], function: ir.Operation
) -> list[tuple[ir.Operation, list[ir.Operation]]]:
    """Return the operations in each named computation, inner ones first, and in the function."""
    computations = [operation for operation in found if operation.name == NAMED_COMPUTATION]
    if not computations:
        return [(function, list(found))]
    members: dict[ir.Operation, list[ir.Operation]] = {
        body: [] for body in (*computations, function)
    }
    for operation in found:
        members[_body_around(operation)].append(operation)
    return list(members.items())


def _body_around(operation: ir.Operation) -> ir.Operation:
    """Return the named computation or function that encloses an operation."""
    parent = operation.parent
    while parent is not None and parent.operation.name not in (NAMED_COMPUTATION, "func.func"):
        parent = parent.operation.parent
    assert parent is not None, "the operation was found in a function"
    return parent.operation


@dataclass(frozen=True, slots=True)
class _Use:
    """An operand of an operation that isn't constant itself."""

    place: Place
    operand_number: int

    @property
    def user(self) -> ir.Operation:
        return self.place.path[-1]

    @property
    def order(self) -> tuple[Any, int]:
        return textual_order(self.place), self.operand_number


class _Body:
    """Splits the constants of one body."""

    def __init__(
        self, body: ir.Operation, starting_points: list[ir.Operation], known: ConstantExpressions
    ):
        self._body = body
        self._known = known
        self._constants: list[ir.Operation] = []
        # The results of constants and broadcasts, with the operands that use them.
        self._uses: dict[ir.Value, list[tuple[ir.Operation, int]]] = {}
        self._collect(starting_points)
        self._broadcasts = [
            operation
            for operation in starting_points
            if operation.name == BROADCAST
            and operation.results[0] not in self._uses
            and is_scalar(operation.operands[0])
        ]
        for operation in self._broadcasts:
            self._note_uses(operation)

    def _collect(self, starting_points: list[ir.Operation]) -> None:
        """Collect the constant expressions, each after its dependencies."""
        pending = deque(
            operation
            for operation in starting_points
            if operation.name in CONSTANTS or not len(operation.operands)
        )
        while pending:
            operation = pending.popleft()
            results = operation.results
            is_known = len(results) and results[0] in self._uses
            if not is_known and self._is_constant(operation):
                self._constants.append(operation)
                pending.extend(self._note_uses(operation))

    def _note_uses(self, operation: ir.Operation) -> list[ir.Operation]:
        """Record the users of an operation's results, and return them."""
        users: list[ir.Operation] = []
        for result in operation.results:
            uses = [(use.owner.operation, use.operand_number) for use in result.uses]
            self._uses[result] = uses
            users.extend(user for user, _ in uses)
        return users

    def _is_constant(self, operation: ir.Operation) -> bool:
        if operation.name in CONSTANTS:
            return True
        return all(operand in self._uses for operand in operation.operands) and (
            self._known.preserves(operation)
        )

    def split(self, copier: ConstantCopier) -> None:
        """Give each user copies, and erase unused originals."""
        for use in self._uses_to_split():
            operands = use.user.operands
            operands[use.operand_number] = copier.copy(operands[use.operand_number])
        for operation in (*self._broadcasts, *reversed(self._constants)):
            _erase_unless_used(operation)

    def _uses_to_split(self) -> list[_Use]:
        found: list[_Use] = []
        for value, uses in self._uses.items():
            if is_scalar(value):
                continue
            others = [(user, number) for user, number in uses if self._is_user(user)]
            if len(others) != 1 or not is_private(value):
                found.extend(_Use(Place.of(user, self._body), number) for user, number in others)
        return sorted(found, key=lambda use: use.order)

    def _is_user(self, operation: ir.Operation) -> bool:
        """Whether an operation that uses constants is neither constant nor a sharding group."""
        results = operation.results
        if not len(results):
            return operation.name != SHARDING_GROUP and not self._is_constant(operation)
        return results[0] not in self._uses


def _erase_unless_used(operation: ir.Operation) -> None:
    groups: list[ir.Operation] = []
    for result in operation.results:
        for use in result.uses:
            user = use.owner.operation
            if user.name != SHARDING_GROUP:
                return
            groups.append(user)
    for group in groups:
        group.erase()
    operation.erase()
