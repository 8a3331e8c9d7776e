# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forms of operations, by which what is decided for an operation is found again for all like it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from mlir_sdy.host import identity, ir
from mlir_sdy.model import OpShardingRule
from mlir_sdy.uses import defining_operation
from mlir_sdy.values import SHARDING, get_sharding, look_through_barriers
from pyshardy.irtools.constants import CONSTANTS, behind_slice, slice_passed_on
from pyshardy.irtools.stablehlo_views import ConstantView
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.types.compatible_shardings import Shardings
from pyshardy.partition.types.dot_result import DOT_OPERATIONS
from pyshardy.rules import ShardingRuleLookup
from pyshardy.rules.signature import OperationParts

Found = TypeVar("Found")

_REDUCE = "stablehlo.reduce"
_BY_RULE = DOT_OPERATIONS | {"stablehlo.reshape"}
_UNKNOWN: Any = object()
_BY_ATTRIBUTES = frozenset(
    f"stablehlo.{name}"
    for name in (
        "convolution",
        "dynamic_slice",
        "dynamic_update_slice",
        "gather",
        "reverse",
        "slice",
    )
)
_PAD, _CONCATENATE = "stablehlo.pad", "stablehlo.concatenate"


class Form:
    """The common part of operations for which decisions are equal, given their shardings."""

    __slots__ = ()


class Forms:
    """The forms of operations; equal ones are the same object.

    1. The form of an operation is its name, its types, and the attributes that its rule reads, if
       all factors are pass-through, if it is a matrix product, which is always completed by a sum,
       or a reshape, which has no attributes.
    2. The form of a `stablehlo.reduce` includes the operation by which its body combines values.
    3. That of a convolution, a reversal, a gather, and of slices and their updates includes all
       their attributes but the sharding: what shards exchange depends on them.
    4. That of a pad includes its padding value, too, which must be a constant.
    5. That of a concatenation includes the slices before it, and which are of one value.
    6. Other operations with permutation factors, and other reductions, have none: they may depend
       on the operations that define their operands.

    Args:
        rules: finds sharding rules.
    """

    def __init__(self, rules: ShardingRuleLookup):
        self._rules = rules
        self._known: dict[tuple[Hashable, Hashable], Form | None] = {}

    def of(self, known: OperationParts) -> Form | None:
        """Return the form of an operation; None if it has one of its own."""
        parts = _parts(known.operands) if known.name == _CONCATENATE else None
        rule_key = self._rules.rule_key(known, parts)
        if rule_key is None:
            return None
        operation, more = known.operation, None
        if known.name == _REDUCE:
            more = combining_operations(operation.regions[0].blocks[0])
            if more is None:
                return None
        elif known.name in _BY_ATTRIBUTES:
            more = _attributes(operation)
        elif known.name == _PAD:
            value = _padding_value(known.operands)
            more = None if value is None else (value, *_attributes(operation))
        elif known.name == _CONCATENATE:
            more = parts
        key = rule_key, more
        form = self._known.get(key, _UNKNOWN)
        if form is _UNKNOWN:
            is_complete = more is not None or _goes_by_rule(known.name, self._rules.rule(operation))
            form = self._known[key] = Form() if is_complete else None
        return form


class FormMemo(Generic[Found]):
    """Memoized results of a function of the form and the shardings of an operation.

    Args:
        forms: finds the forms of operations.
    """

    def __init__(self, forms: Forms):
        self._forms = forms
        self._found: dict[tuple[Form, Shardings, Hashable], Found] = {}

    def of(
        self,
        known: OperationParts,
        shardings: Shardings,
        find: Callable[..., Found],
        *more: Hashable,
    ) -> Found:
        """Return the result of `find`, which is called once for each form and shardings.

        Args:
            known: the operation.
            shardings: those of its operands, then results.
            find: the function of the operation, the shardings, and all of `more`.
            more: what the result depends on beside these.
        """
        form = self._forms.of(known)
        if form is None:
            return find(known.operation, shardings, *more)
        key = form, shardings, more
        found: Any = self._found.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._found[key] = find(known.operation, shardings, *more)
        return found


def _attributes(operation: ir.Operation) -> tuple[tuple[str, int], ...]:
    """Return a key that operations share whose attributes are equal, but for their shardings."""
    # By address: attributes live as long as the context.
    attributes = operation.attributes.items()
    return tuple([(name, identity(value)) for name, value in attributes if name != SHARDING])


def _padding_value(operands: Sequence[ir.Value]) -> Hashable:
    constant = defining_operation(operands[1])
    if constant is None or constant.name not in CONSTANTS:
        return None
    return identity(ConstantView(constant).value)


def _parts(operands: Sequence[ir.Value]) -> Hashable:
    """Return what the operands of a concatenation are parts of, also by the function of its rule.

    Values are numbered in order of appearance.
    """
    numbers: dict[int, int] = {}
    parts: list[Hashable] = []
    for operand in operands:
        before, is_slice = behind_slice(operand)
        source = value = look_through_barriers(operand)
        producer = slice_passed_on(value)
        if producer is not None:
            source = look_through_barriers(producer.operands[0])
            parts += identity(source.type), get_sharding(source), get_sharding(value)
            parts.append(_attributes(producer))
        parts.append(is_slice)
        parts += [numbers.setdefault(identity(each), len(numbers)) for each in (before, source)]
    return tuple(parts)


def _goes_by_rule(name: str, rule: OpShardingRule | None) -> bool:
    return (
        rule is None
        or name in _BY_RULE
        or not (rule.reduction_factors or rule.permutation_factors or rule.need_replication_factors)
    )
