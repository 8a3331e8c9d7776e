# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of values with all their dependencies."""

from __future__ import annotations

from itertools import islice

from mlir_sdy.host import ir
from pyshardy.importing.constant_expressions import SHARDING_GROUP
from pyshardy.irtools.clone_functions import FunctionCloner
from pyshardy.irtools.stablehlo_views import CallView, callee_of


def is_scalar(value: ir.Value) -> bool:
    """Whether a value is a tensor without dimensions."""
    value_type = value.type
    return isinstance(value_type, ir.RankedTensorType) and value_type.rank == 0


class ConstantCopier:
    """Copies constant sub-computations, up to scalars, which are shared.

    Attributes:
        module: the module in which the copies are made.
    """

    def __init__(self, module: ir.Module):
        self.module = module
        self._cloner: FunctionCloner | None = None
        self._groups: dict[ir.Value, list[ir.Operation]] = {}

    def copy(self, value: ir.Value) -> ir.Value:
        """Return a copy of the result of an operation, with copies of its dependencies.

        1. Each operation is copied once, directly before the original.
        2. Operands that are scalars, or arguments of a block, are not copied.
        3. A copied call calls a copy of its callee.
        4. The copy of a value is in the same sharding groups as the value.
        """
        copies: dict[ir.Value, ir.Value] = {}
        for original in _dependencies_first(value):
            if original in copies:  # another result of its operation came earlier
                continue
            operation = original.owner.operation
            copy = operation.clone(ir.InsertionPoint(operation)).operation
            for index, operand in enumerate(operation.operands):
                if operand in copies:
                    copy.operands[index] = copies[operand]
            copies.update(zip(operation.results, copy.results, strict=True))
            if copy.name == "func.call":
                self._cloner = self._cloner or FunctionCloner(self.module)
                CallView(copy).callee = self._cloner.clone(callee_of(copy))
            self._copy_groups(original, copies[original])
        return copies[value]

    def _copy_groups(self, original: ir.Value, copy: ir.Value) -> None:
        groups = self._groups.get(original)
        if groups is None:  # once, since a constant may have thousands of uses
            users = (use.owner.operation for use in original.uses)
            groups = [user for user in users if user.name == SHARDING_GROUP]
            self._groups[original] = groups
        place = ir.InsertionPoint.after(copy.owner.operation)
        for group in groups:
            group.clone(place).operation.operands[0] = copy


def is_private(value: ir.Value) -> bool:
    """Whether a value and all its dependencies, up to scalars, have only one use.

    A copy would then replace the original, which has no other use. The callees of calls must not be
    shared, either.
    """
    pending = [value.owner.operation]
    while pending:
        operation = pending.pop()
        if operation.name == "func.call" or not _has_one_use(operation):
            return False
        pending.extend(operand.owner.operation for operand in _copied_operands(operation))
    return True


def _copied_operands(operation: ir.Operation) -> list[ir.Value]:
    """Return the operands that are copied with an operation: results that aren't scalars."""
    return [
        operand
        for operand in operation.operands
        if not isinstance(operand, ir.BlockArgument) and not is_scalar(operand)
    ]


def _dependencies_first(value: ir.Value) -> list[ir.Value]:
    """Return a value and all its dependencies, each after its operands, without scalars."""
    ordered: dict[ir.Value, None] = {}
    pending = [(value, False)]
    while pending:
        current, is_expanded = pending.pop()
        if current in ordered:
            continue
        if is_expanded:
            ordered[current] = None
            continue
        pending.append((current, True))
        pending.extend(
            (operand, False) for operand in reversed(_copied_operands(current.owner.operation))
        )
    return list(ordered)


def _has_one_use(operation: ir.Operation) -> bool:
    uses = (use for result in operation.results for use in result.uses)
    return len(tuple(islice(uses, 2))) == 1
