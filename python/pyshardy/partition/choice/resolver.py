# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The policies by which the shardings of operations become compatible, and that of C++ Shardy.

| resolver                | axes of a factor                  | operations without a local form |
|-------------------------|-----------------------------------|---------------------------------|
| `ShardyCompatibility`   | Shardy's choice, by tensor sizes  | like all others                 |
| `CheapestCompatibility` | the choice of the shortest time   | computed replicated             |

They also differ in unreduced axes: Shardy leaves it to a later partitioner whether a result is
partial along its unreduced axes. For devices, it is so only if the operation contracts along them,
or if an operand is partial along them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisTuple, Mesh, OpShardingRule, TensorSharding, common_mesh
from mlir_sdy.values import get_sharding
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.choice.uses import UseConverter
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.forms import FormMemo, Forms
from pyshardy.partition.partial.reductions import uncompletable_factors
from pyshardy.partition.types.compatible_shardings import (
    CompatibleShardings,
    Shardings,
    fully_compatible,
    partially_compatible,
)
from pyshardy.partition.types.dot_result import DOT_OPERATIONS
from pyshardy.rules.signature import OperationParts

_CONCATENATE = "stablehlo.concatenate"
_RAGGED_DOT = "mhlo.ragged_dot"

PARTIAL_OPERATIONS = DOT_OPERATIONS | {_CONCATENATE, _RAGGED_DOT}
"""Operations that are resharded even without full-version reshards, if no value is special."""


class CompatibilityResolver:
    """Decides in which shardings the operations of a function are computed.

    By default, nothing is decided that a later partitioner could decide.

    Args:
        context: the context of the function.
        full: whether all operations get compatible shardings (full-version reshards).
    """

    def __init__(self, context: FunctionContext, *, full: bool):
        self._context = context
        self._full = full
        self._by_form = FormMemo[CompatibleShardings | None](Forms(context.rules))

    def resolve(self, view: OperationParts, shardings: Shardings) -> CompatibleShardings | None:
        """Return compatible shardings of the tensors of an operation; None to change nothing.

        Args:
            view: the operation.
            shardings: those of its operands, then results.

        Raises:
            PassError: its result can't stay unreduced.
        """
        raise NotImplementedError

    def forget(self, operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> None:
        """Drop what is known of an operation that is about to change.

        Args:
            operands: the operands that change.
            results: the results that change, or whose uses do.
        """

    def shardings_on_one_mesh(
        self, shardings: Shardings, num_operands: int
    ) -> Mapping[int, TensorSharding]:
        """Return new shardings for tensors on other meshes than most, by their positions.

        Args:
            shardings: those of the operands, then results.
            num_operands: the number of operands.
        """
        del shardings, num_operands
        return {}

    def complete_operands(self, operation: ir.Operation, uses: UseConverter) -> None:
        """Complete operands along the unreduced axes that the results don't have."""
        uses.complete_operands(operation)

    def expand_reshard(self, reshard: ir.Operation, uses: UseConverter) -> None:
        """Expand a reshard that changes unreduced axes into collectives."""
        uses.complete_operands(reshard)
        uses.introduce_for(reshard)

    def complete_results(
        self, operation: ir.Operation, results: Shardings, compatible: CompatibleShardings
    ) -> Mapping[int, TensorSharding]:
        """Return the shardings of results without unreduced axes along which they are complete.

        Args:
            operation: the operation.
            results: the shardings in which its results are computed.
            compatible: the compatible shardings.
        """
        del operation, results, compatible
        return {}

    def complete_changed_operands(self, operation: ir.Operation, uses: UseConverter) -> None:
        """Complete operands along unreduced axes that the results have lost."""

    def reduced_axes(self, compatible: CompatibleShardings, result: TensorSharding) -> AxisTuple:
        """Return the axes along which a result has to be reduced.

        Args:
            compatible: the compatible shardings.
            result: the sharding in which the result is computed.
        """
        del result
        return compatible.reduced_axes

    def remark(
        self, operation: ir.Operation, shardings: Shardings, compatible: CompatibleShardings
    ) -> None:
        """Report the tensors that are gathered for an operation, if remarks are wanted."""


class ShardyCompatibility(CompatibilityResolver):
    """The resolver that decides as C++ Shardy does, by the sizes of tensors.

    1. Operations with a custom rule, or none, or on several meshes are left to the backend.
    2. A result stays partial along all unreduced axes of its sharding.
    """

    def resolve(self, view: OperationParts, shardings: Shardings) -> CompatibleShardings | None:
        """Return compatible shardings of the tensors of an operation; None to change nothing."""
        return self._by_form.of(view, shardings, self._resolve)

    def _resolve(self, operation: ir.Operation, shardings: Shardings) -> CompatibleShardings | None:
        rule = self._context.rules.rule(operation)
        mesh_or_ref = common_mesh(shardings, self._context.meshes, ignore_device_ids=True)
        if rule is None or rule.is_custom_rule or mesh_or_ref is None:
            return None
        if not (self._full or needs_full_version(operation)):
            return resolve_partially(operation, rule, shardings, self._context.meshes)
        shapes = tuple(shape_of(each.type) for each in (*operation.operands, *operation.results))
        blocked = uncompletable_factors(operation, rule)
        is_reshape = operation.name == "stablehlo.reshape"
        return fully_compatible(
            rule, shardings, shapes, blocked, self._context.meshes, is_reshape=is_reshape
        )

    def expand_reshard(self, reshard: ir.Operation, uses: UseConverter) -> None:
        """Expand a reshard that changes unreduced axes; not that of a value without a sharding."""
        uses.complete_operands(reshard)
        if get_sharding(reshard.operands[0]) is not None:
            uses.introduce_for(reshard)


def resolve_partially(
    operation: ir.Operation,
    rule: OpShardingRule,
    shardings: Shardings,
    meshes: Mapping[str, Mesh],
) -> CompatibleShardings | None:
    """Return the changes that an operation needs even without full-version reshards.

    Raises:
        PassError: its result can't stay unreduced.
    """
    shapes = tuple(shape_of(each.type) for each in (*operation.operands, *operation.results))
    is_dot = operation.name in DOT_OPERATIONS
    try:
        return partially_compatible(rule, shardings, shapes, meshes, is_dot=is_dot)
    except ValueError as problem:
        message = f"'{operation.name}' op can't leave its result unreduced: {problem}"
        raise PassError(error(message, location_of(operation.location))) from None


def needs_full_version(operation: ir.Operation) -> bool:
    """Whether an operation needs compatible shardings even without full-version reshards.

    True for a concatenation whose operands are sharded in other ways than its result.
    """
    if operation.name == _CONCATENATE:
        result = get_sharding(operation.results[0])
        return any(get_sharding(operand) != result for operand in operation.operands)
    return operation.name == _RAGGED_DOT
