# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compatible shardings as C++ Shardy chooses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, TensorSharding
from mlir_sdy.values import get_sharding
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.choice.resolver import (
    needs_full_version,
    resolve_partially,
)
from pyshardy.partition.choice.uses import UseConverter
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.forms import FormMemo, Forms
from pyshardy.partition.partial.reductions import uncompletable_factors
from pyshardy.partition.types.compatible_shardings import (
    CompatibleShardings,
    Shardings,
    fully_compatible,
)
from pyshardy.rules.signature import OperationParts


class ShardyCompatibility:
    """The `CompatibilityResolver` that decides as C++ Shardy does, by the sizes of tensors.

    1. Operations with a custom rule, or without a rule, are left to the backend partitioner.
    2. A result stays partial along all unreduced axes of its sharding.

    Args:
        context: the context of the function.
        full: whether all operations get compatible shardings (full-version reshards).
    """

    def __init__(self, context: FunctionContext, *, full: bool):
        self._context = context
        self._full = full
        self._by_form = FormMemo[CompatibleShardings | None](Forms(context.rules))

    def resolve(self, view: OperationParts, shardings: Shardings) -> CompatibleShardings | None:
        """Return compatible shardings of the tensors of an operation; None to change nothing."""
        return self._by_form.of(view, shardings, self._resolve)

    def _resolve(self, operation: ir.Operation, shardings: Shardings) -> CompatibleShardings | None:
        rule = self._context.rules.rule(operation)
        if rule is None or rule.is_custom_rule:
            return None
        if not (self._full or needs_full_version(operation)):
            return resolve_partially(operation, rule, shardings, self._context.meshes)
        shapes = tuple(shape_of(each.type) for each in (*operation.operands, *operation.results))
        blocked = uncompletable_factors(operation, rule)
        is_reshape = operation.name == "stablehlo.reshape"
        return fully_compatible(
            rule, shardings, shapes, blocked, self._context.meshes, is_reshape=is_reshape
        )

    def forget(self, operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> None:
        """Drop nothing: operations are resolved one by one."""

    def shardings_on_one_mesh(
        self, shardings: Shardings, num_operands: int
    ) -> Mapping[int, TensorSharding]:
        """Return no shardings: a later partitioner handles several meshes."""
        del shardings, num_operands
        return {}

    def complete_operands(self, operation: ir.Operation, uses: UseConverter) -> None:
        """Complete operands along the unreduced axes that the results don't have."""
        uses.complete_operands(operation)

    def expand_reshard(self, reshard: ir.Operation, uses: UseConverter) -> None:
        """Expand a reshard that changes unreduced axes; not that of a value without a sharding."""
        uses.complete_operands(reshard)
        if get_sharding(reshard.operands[0]) is not None:
            uses.introduce_for(reshard)

    def complete_results(
        self, operation: ir.Operation, results: Shardings, compatible: CompatibleShardings
    ) -> Mapping[int, TensorSharding]:
        """Return no shardings: results stay partial along all their unreduced axes."""
        del operation, results, compatible
        return {}

    def complete_changed_operands(self, operation: ir.Operation, uses: UseConverter) -> None:
        """Complete no operands: the results have not lost any unreduced axes."""

    def reduced_axes(self, compatible: CompatibleShardings, result: TensorSharding) -> AxisTuple:
        """Return the contracted axes along which the first result is not unreduced."""
        del result
        return compatible.reduced_axes

    def remark(
        self, operation: ir.Operation, shardings: Shardings, compatible: CompatibleShardings
    ) -> None:
        """Report nothing: a later partitioner may avoid the gathers."""
