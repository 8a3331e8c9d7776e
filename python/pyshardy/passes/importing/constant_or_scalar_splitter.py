# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-constant-or-scalar-splitter`: copy constants for each use.

1. Each `stablehlo.constant` becomes an `sdy.constant`.
2. Functions are processed after their callees, and in each first its named computations, inner
   ones first, and then its body.
3. In a body, constant expressions are constants, iotas, and operations that compute constants
   from constants (`_ConstantExpressions`) whose operands are constant expressions. Calls and
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
from itertools import islice
from typing import Any

from mlir_sdy import sdy
from mlir_sdy.host import ir
from mlir_sdy.op_classes import view_as
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.constants import use_sdy_constants
from pyshardy.irtools.functions import CallGraph, FunctionCloner, has_static_shape, original_name
from pyshardy.irtools.stablehlo_views import CallView, callee_of
from pyshardy.irtools.walks import Place, may_occur_at_start, operations_named, textual_order
from pyshardy.pipeline import register_pass
from pyshardy.propagation.elementwise import (
    ELEMENTWISE_IF_SHAPES_EQUAL,
    ELEMENTWISE_OPERATIONS,
)

_CONSTANTS = frozenset({"sdy.constant", "stablehlo.iota"})
"""The operations with which constant expressions begin."""

_BROADCAST = "stablehlo.broadcast_in_dim"
_NAMED_COMPUTATION = "sdy.named_computation"
_SHARDING_GROUP = "sdy.sharding_group"
# Constraints are not copied.
_PRESERVING = ELEMENTWISE_OPERATIONS - {"sdy.sharding_constraint"} | {
    _BROADCAST,
    "stablehlo.reshape",
    "stablehlo.slice",
}
_ALLOWED_IN_BODIES = _CONSTANTS | {
    _SHARDING_GROUP,
    "func.return",
    "sdy.return",
    "stablehlo.return",
}
_CONSTANT = "stablehlo.constant"
_STARTING_POINTS = _CONSTANTS | {_BROADCAST, _NAMED_COMPUTATION, "func.call"}


@register_pass("sdy-constant-or-scalar-splitter", release="0.10.2")
def constant_or_scalar_splitter(module: ir.Module) -> Changes:
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
        return UNCHANGED
    use_sdy_constants(module)
    graph = CallGraph(module)
    expressions = _ConstantExpressions(graph)
    copier = _ConstantCopier(module)
    for name in graph.post_order:
        function = graph.functions[name]
        found = operations_named(_STARTING_POINTS, function, ir.WalkOrder.POST_ORDER)
        for body, starting_points in _by_body(found, function):
            # Splitting redirects calls to copies, which have not been analyzed.
            if body.name == _NAMED_COMPUTATION:
                expressions.learn_computation(body)
            else:
                expressions.learn_function(name, body)
            _Body(body, starting_points, expressions).split(copier)
    return Changes({"sdy.constant"}, OF_SHARDINGS)


def _by_body(
    found: Sequence[ir.Operation], function: ir.Operation
) -> list[tuple[ir.Operation, list[ir.Operation]]]:
    """Return the operations in each named computation, inner ones first, and in the function."""
    computations = [operation for operation in found if operation.name == _NAMED_COMPUTATION]
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
    while parent is not None and parent.operation.name not in (_NAMED_COMPUTATION, "func.func"):
        parent = parent.operation.parent
    assert parent is not None, "the operation was found in a function"
    return parent.operation


_Dependencies = list[tuple[ir.Value, list[tuple[int, ir.Value]]]]
"""Values, each with the operands of its operation that are copied, and their positions."""


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
        self, body: ir.Operation, starting_points: list[ir.Operation], known: _ConstantExpressions
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
            if operation.name == _BROADCAST
            and operation.results[0] not in self._uses
            and _is_scalar(operation.operands[0])
        ]
        for operation in self._broadcasts:
            self._note_uses(operation)

    def _collect(self, starting_points: list[ir.Operation]) -> None:
        """Collect the constant expressions, each after its dependencies."""
        pending = deque(
            operation
            for operation in starting_points
            if operation.name in _CONSTANTS or not len(operation.operands)
        )
        while pending:
            operation = pending.popleft()
            results = operation.results
            is_known = results[0] in self._uses if len(results) else operation in self._constants
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
        if operation.name in _CONSTANTS:
            return True
        return all(operand in self._uses for operand in operation.operands) and (
            self._known.preserves(operation)
        )

    def split(self, copier: _ConstantCopier) -> None:
        """Give each user copies, and erase unused originals."""
        for use in self._uses_to_split():
            operands = use.user.operands
            operands[use.operand_number] = copier.copy(operands[use.operand_number])
        for operation in (*self._broadcasts, *reversed(self._constants)):
            _erase_unless_used(operation)

    def _uses_to_split(self) -> list[_Use]:
        found: list[_Use] = []
        for value, uses in self._uses.items():
            if _is_scalar(value):
                continue
            others = [(user, number) for user, number in uses if self._is_user(user)]
            if len(others) != 1 or not _is_private(value):
                found.extend(_Use(Place.of(user, self._body), number) for user, number in others)
        return sorted(found, key=lambda use: use.order)

    def _is_user(self, operation: ir.Operation) -> bool:
        """Whether an operation that uses constants is neither constant nor a sharding group."""
        results = operation.results
        if not len(results):
            return operation.name != _SHARDING_GROUP and not self._is_constant(operation)
        return results[0] not in self._uses


def _erase_unless_used(operation: ir.Operation) -> None:
    groups: list[ir.Operation] = []
    for result in operation.results:
        for use in result.uses:
            user = use.owner.operation
            if user.name != _SHARDING_GROUP:
                return
            groups.append(user)
    for group in groups:
        group.erase()
    operation.erase()


def _is_scalar(value: ir.Value) -> bool:
    """Whether a value is a tensor without dimensions."""
    value_type = value.type
    return isinstance(value_type, ir.RankedTensorType) and value_type.rank == 0


class _ConstantCopier:
    """Copies constant sub-computations, up to scalars, which are shared.

    Attributes:
        module: the module in which the copies are made.
    """

    def __init__(self, module: ir.Module):
        self.module = module
        self._cloner: FunctionCloner | None = None
        self._groups: dict[ir.Value, list[ir.Operation]] = {}
        self._found: dict[ir.Value, _Dependencies] = {}  # a value may be copied a thousand times

    def copy(self, value: ir.Value) -> ir.Value:
        """Return a copy of the result of an operation, with copies of its dependencies.

        1. Each operation is copied once, directly before the original.
        2. Operands that are scalars, or arguments of a block, are not copied.
        3. A copied call calls a copy of its callee.
        4. The copy of a value is in the same sharding groups as the value.
        """
        copies: dict[ir.Value, ir.Value] = {}
        for original, copied_operands in self._dependencies(value):
            if original in copies:  # another result of its operation came earlier
                continue
            operation = original.owner.operation
            copy = operation.clone(ir.InsertionPoint(operation)).operation
            for index, operand in copied_operands:
                copy.operands[index] = copies[operand]
            copies.update(zip(operation.results, copy.results, strict=True))
            if copy.name == "func.call":
                self._cloner = self._cloner or FunctionCloner(self.module)
                CallView(copy).callee = self._cloner.clone(callee_of(copy))
            self._copy_groups(original, copies[original])
        return copies[value]

    def _dependencies(self, value: ir.Value) -> _Dependencies:
        known = self._found.get(value)
        if known is None:
            known = self._found[value] = _dependencies_first(value)
        return known

    def _copy_groups(self, original: ir.Value, copy: ir.Value) -> None:
        groups = self._groups.get(original)
        if groups is None:  # once, since a constant may have thousands of uses
            users = (use.owner.operation for use in original.uses)
            groups = [user for user in users if user.name == _SHARDING_GROUP]
            self._groups[original] = groups
        place = ir.InsertionPoint.after(copy.owner.operation) if groups else None
        for group in groups:
            group.clone(place).operation.operands[0] = copy


def _is_private(value: ir.Value) -> bool:
    """Whether a value and all its dependencies, up to scalars, have only one use.

    A copy would then replace the original, which has no other use. The callees of calls must not be
    shared, either.
    """
    pending = [value.owner.operation]
    while pending:
        operation = pending.pop()
        if operation.name == "func.call" or not _has_one_use(operation):
            return False
        copied = _copied_operands(operation)
        pending.extend(operand.owner.operation for _, operand in copied)
    return True


def _copied_operands(operation: ir.Operation) -> list[tuple[int, ir.Value]]:
    """Return the operands that are copied with an operation, results that aren't scalars.

    With their positions.
    """
    return [
        (index, operand)
        for index, operand in enumerate(operation.operands)
        if not isinstance(operand, ir.BlockArgument) and not _is_scalar(operand)
    ]


def _dependencies_first(value: ir.Value) -> _Dependencies:
    """Return a value and all its dependencies, each after its operands, without scalars."""
    ordered: dict[ir.Value, list[tuple[int, ir.Value]]] = {}
    pending: list[tuple[ir.Value, list[tuple[int, ir.Value]] | None]] = [(value, None)]
    while pending:
        current, operands = pending.pop()
        if current in ordered:
            continue
        if operands is not None:
            ordered[current] = operands
            continue
        operands = _copied_operands(current.owner.operation)
        pending.append((current, operands))
        pending.extend((operand, None) for _, operand in reversed(operands))
    return list(ordered.items())


def _has_one_use(operation: ir.Operation) -> bool:
    uses = (use for result in operation.results for use in result.uses)
    return len(tuple(islice(uses, 2))) == 1


class _ConstantExpressions:
    """Determines the operations of a module that compute constants from constants.

    1. Element-wise operations, broadcasts, reshapes and slices do, if they can't fail: operations
       on several operands of dynamic shape fail if their sizes differ.
    2. Named computations and calls do, if their body has only such operations, constants and
       sharding groups. Bodies must have been passed to a `learn` method before; computations of one
       name, and functions of one original name, must all be such.
    3. No other operations do. Calls of declarations, for example, may have any effect.
    """

    def __init__(self, graph: CallGraph):
        self._original_names = {
            name: original_name(function) for name, function in graph.functions.items()
        }
        self._learned: set[str] = set()
        self._other_functions: set[str] = set()
        self._other_computations: set[str] = set()
        self._called = {
            self._original_names.get(callee_of(call))
            for calls in graph.calls.values()
            for call in calls
        }

    def learn_function(self, name: str, function: ir.Operation) -> None:
        """Determine whether the function of that name computes constants from constants."""
        original = self._original_names[name]
        if original in self._called and not self._is_constant(function.regions[0]):
            self._other_functions.add(original)
        self._learned.add(name)  # last: a function that calls itself is not constant

    def learn_computation(self, computation: ir.Operation) -> None:
        """Determine whether a named computation computes constants from constants."""
        if not self._is_constant(computation.regions[0]):
            self._other_computations.add(_name_of(computation))

    def preserves(self, operation: ir.Operation) -> bool:
        """Whether an operation computes constants from constants."""
        name = operation.name
        if name in _PRESERVING:
            operands = operation.operands
            return len(operands) < 2 or all(has_static_shape(operand.type) for operand in operands)
        if name == "func.call":
            callee = callee_of(operation)
            return (
                callee in self._learned
                and self._original_names[callee] not in self._other_functions
            )
        if name == _NAMED_COMPUTATION:
            return _name_of(operation) not in self._other_computations
        if name == ELEMENTWISE_IF_SHAPES_EQUAL:
            shapes = [
                ir.ShapedType(value.type).shape
                for value in (operation.operands[0], operation.results[0])
            ]
            return shapes[0] == shapes[1]
        return False

    def _is_constant(self, body: ir.Region) -> bool:
        # Other operations with regions don't, so their regions are skipped.
        return all(
            view.operation.name in _ALLOWED_IN_BODIES or self.preserves(view.operation)
            for block in body.blocks
            for view in block.operations
        )


def _name_of(computation: ir.Operation) -> str:
    return view_as(sdy.NamedComputationOp, computation).name.value
