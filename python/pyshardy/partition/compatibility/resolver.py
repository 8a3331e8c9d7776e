# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Search for compatible shardings, once for equal operations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, OpShardingRule, TensorSharding
from mlir_sdy.values import get_sharding
from mlir_sdy.verify.operations import bound_manual_axes
from pyshardy.irtools.tensor_types import element_bytes, shape_of
from pyshardy.partition.compatibility.compatible_shardings import (
    CompatibleShardings,
    Shardings,
    fully_compatible,
    partially_compatible,
    replicated_shardings,
)
from pyshardy.partition.compatibility.dot_result import DOT_OPERATIONS
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.compatibility.signature_memo import SignatureMemo
from pyshardy.partition.op_facts.accumulations import trips_of_accumulation
from pyshardy.partition.op_facts.blocked_factors import blocked_factors, uncompletable_factors
from pyshardy.partition.op_facts.rules_on_shards import rule_on_shards
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS
from pyshardy.rules import ShardingRuleLookup
from pyshardy.rules.families.broadcast import BROADCASTING_OPERATIONS
from pyshardy.rules.lookup import SHARDING_RULE
from pyshardy.rules.operation_view import OperationView

if TYPE_CHECKING:
    from pyshardy.partition.halo.profitability import FindExchange
    from pyshardy.partition.halo.reshape_agreement import AgreeOnReshape

MAKES_ANY_SHARDING = frozenset({"sdy.constant", "stablehlo.constant", "stablehlo.iota"})
"""Operations that each device can compute for any shard."""
_CONCATENATE = "stablehlo.concatenate"
_RAGGED_DOT = "mhlo.ragged_dot"
_RESHAPE = "stablehlo.reshape"

_SUMMING = DOT_OPERATIONS | {"stablehlo.convolution", "stablehlo.reduce"}

_OF_ONE_SHAPE = ELEMENTWISE_OPERATIONS.difference(BROADCASTING_OPERATIONS)

PARTIAL_OPERATIONS = DOT_OPERATIONS | {_CONCATENATE, _RAGGED_DOT}
"""Operations that are resharded even without full-version reshards, if no value is special."""


class CompatibilityResolver:
    """Finds compatible shardings for the operations of one function.

    Args:
        meshes: the meshes of the module by name.
        rules: finds sharding rules.
        full: whether all operations get compatible shardings (full-version reshards).

    Attributes:
        local_forms: the operations that have a local form; others are computed replicated. None if
            not used.
        find_exchange: finds the factors along which shards exchange data. None if they must not.
        agree_on_reshape: finds cheaper compatible shardings of a reshape, if there are any.
        has_manual_computations: whether the function has any.
        defers_completions: whether sums that loops accumulate are completed after the loop.
    """

    def __init__(self, meshes: Mapping[str, Mesh], rules: ShardingRuleLookup, *, full: bool):
        self.meshes = meshes
        self.rules = rules
        self.full = full
        self.local_forms: Collection[str] | None = None
        self.find_exchange: FindExchange | None = None
        self.agree_on_reshape: AgreeOnReshape | None = None
        self.has_manual_computations = True
        self.defers_completions = False
        self._by_form = SignatureMemo[CompatibleShardings | None](rules)
        self._compatible: dict[object, CompatibleShardings | None] = {}

    def agreement(self, known: OperationView, shardings: Shardings) -> CompatibleShardings | None:
        """Return the compatible shardings of an operation; computed once for equal operations."""
        if self.has_manual_computations or self._addends(known.operation) > 1:
            return self._find_agreement(known.operation, shardings)
        return self._by_form.of(known, shardings, self._find_agreement)

    def _find_agreement(
        self, operation: ir.Operation, shardings: Shardings
    ) -> CompatibleShardings | None:
        rule = self.rules.rule(operation)
        full = self.full or _needs_full_version(operation)
        if rule is None:
            if not self.full or operation.name in MAKES_ANY_SHARDING:
                return None
            return replicated_shardings(shardings)
        if self.full and self.local_forms is not None and operation.name not in self.local_forms:
            return replicated_shardings(shardings)
        if rule.is_custom_rule and self.local_forms is None:
            return None
        if full and self.local_forms is not None:
            rule = rule_on_shards(operation, rule)
        blocked = self._blocked_factors(operation, rule) if full else frozenset[int]()
        shapes = tuple(shape_of(each.type) for each in (*operation.operands, *operation.results))
        nbytes = None
        if self.local_forms is not None:
            nbytes = tuple(
                element_bytes(each.type) for each in (*operation.operands, *operation.results)
            )
        manual = self._manual_axes(operation) if nbytes is not None else frozenset[str]()
        is_reshape = operation.name == _RESHAPE
        addends = self._addends(operation)

        def agree(rule: OpShardingRule, blocked: frozenset[int]) -> CompatibleShardings | None:
            return fully_compatible(
                rule,
                shardings,
                shapes,
                blocked,
                self.meshes,
                nbytes,
                manual,
                is_reshape=is_reshape,
                addends=addends,
            )

        if full and self.find_exchange is not None:
            exchange = self.find_exchange(operation, rule, shardings, self.meshes, agree)
            if exchange is not None:
                rule, blocked = exchange
        key = (rule, shardings, shapes, blocked, full, nbytes, manual, is_reshape, addends)
        if key not in self._compatible:
            if full:
                compatible = agree(rule, blocked)
                if is_reshape and compatible is not None and self.agree_on_reshape is not None:
                    compatible = self.agree_on_reshape(
                        operation, shardings, compatible, self.meshes
                    )
            else:
                compatible = self._partially_compatible(operation, rule, shardings, shapes)
            self._compatible[key] = compatible
        return self._compatible[key]

    def _addends(self, operation: ir.Operation) -> int:
        """Return the number of results that a loop accumulates, if they can stay partial."""
        if not self.defers_completions or operation.name not in _SUMMING:
            return 1
        return trips_of_accumulation(operation.results[0])

    def _manual_axes(self, operation: ir.Operation) -> frozenset[str]:
        """Return the axes of the enclosing manual computations of an operation."""
        if not self.has_manual_computations:
            return frozenset()
        return frozenset(bound_manual_axes(operation))

    def _blocked_factors(self, operation: ir.Operation, rule: OpShardingRule) -> frozenset[int]:
        """Return the factors that must not be sharded, with full-version reshards."""
        if self.local_forms is not None:
            return blocked_factors(operation, rule)
        return uncompletable_factors(operation, rule)

    def _partially_compatible(
        self,
        operation: ir.Operation,
        rule: OpShardingRule,
        shardings: Shardings,
        shapes: Sequence[Shape],
    ) -> CompatibleShardings | None:
        is_dot = operation.name in DOT_OPERATIONS
        try:
            return partially_compatible(rule, shardings, shapes, self.meshes, is_dot=is_dot)
        except ValueError as problem:
            message = f"'{operation.name}' op can't leave its result unreduced: {problem}"
            raise PassError(error(message, location_of(operation.location))) from None


def is_compatible_already(
    operation: ir.Operation,
    name: str,
    results: Sequence[TensorSharding | None],
    known: Mapping[ir.Value, TensorSharding | None],
) -> bool:
    """Whether an operation is elementwise and all its tensors have equal shardings.

    This quick check covers most operations of a program. No tensor may be unreduced. Equal
    shardings prove nothing where tensors have different shapes, as for an implicit broadcast.

    Args:
        operation: the operation.
        name: its name.
        results: the shardings of its results.
        known: the shardings of all values.
    """
    if name not in _OF_ONE_SHAPE:
        return False
    (sharding,) = results
    for operand in operation.operands:
        if known[operand] is not sharding:
            return False
    return not has_discardable(operation, SHARDING_RULE)


def _needs_full_version(operation: ir.Operation) -> bool:
    """Whether an operation needs compatible shardings even without full-version reshards.

    True for a concatenation whose operands are sharded in other ways than its result.
    """
    if operation.name == _CONCATENATE:
        result = get_sharding(operation.results[0])
        return any(get_sharding(operand) != result for operand in operation.operands)
    return operation.name == _RAGGED_DOT
