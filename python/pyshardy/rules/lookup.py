# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding the rule of each operation of a program, made once for each signature."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator
from contextvars import ContextVar
from typing import Any

from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import PassError, emit, error, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import OpShardingRule
from pyshardy.rules.notation import RuleError, RuleNotation
from pyshardy.rules.registry import CUSTOM_CALL, RegisteredRule, registered_rule
from pyshardy.rules.signature import OperationSignature, TensorType

SHARDING_RULE = "sdy.sharding_rule"
"""The attribute that holds the rule of an operation."""

_UNKNOWN = object()


_is_strict: ContextVar[bool] = ContextVar("pyshardy_strict_rules", default=False)


@contextlib.contextmanager
def strict_rules() -> Iterator[None]:
    """Make an operation without a rule an error, inside the `with` block."""
    token = _is_strict.set(True)
    try:
        yield
    finally:
        _is_strict.reset(token)


class ShardingRuleLookup:
    """The rules of the operations of one context, for one run of a pass.

    Args:
        conservative: whether rules leave dimensions alone that windows and padding move over.
        quiet: whether to say nothing about operations without a rule.
    """

    def __init__(self, *, conservative: bool = False, quiet: bool = False):
        self.conservative = conservative
        self.quiet = quiet
        self._registered: dict[str, Any] = {}
        self._rules: dict[Hashable, Any] = {}
        self._types: dict[int, TensorType | None] = {}
        self._warned: set[str] = set()

    def rule(self, operation: ir.Operation) -> OpShardingRule | None:
        """The rule of an operation: its own attribute, or what is registered; None if neither.

        A warning is emitted for the first operation of each name that nothing is registered for.

        Raises:
            PassError: the registered rule does not fit the operation, or inside `strict_rules`
                there is none.
        """
        attributes = operation.attributes
        if SHARDING_RULE in attributes:
            return value_of(attributes[SHARDING_RULE])
        return self.registered_rule(
            operation,
            operation.name,
            tuple(self.type_key(operand.type) for operand in operation.operands),
            tuple(self.type_key(result.type) for result in operation.results),
        )

    def registered_rule(
        self,
        operation: ir.Operation,
        name: str,
        operand_types: tuple[int, ...],
        result_types: tuple[int, ...],
    ) -> OpShardingRule | None:
        """The rule that the registry has for an operation whose name and types are at hand."""
        registered = self._registered.get(name, _UNKNOWN)
        if registered is _UNKNOWN or name == CUSTOM_CALL:
            registered = self._find(operation, name)
        if registered is None or registered.function is None:
            return None
        if not registered.memoised:
            return self._make(registered, operation, operand_types, result_types)
        reads = registered.reads
        key = (
            name,
            operand_types,
            result_types,
            None if reads == () else self._attribute_key(operation, reads),
        )
        rule = self._rules.get(key, _UNKNOWN)
        if rule is _UNKNOWN:
            rule = self._make(registered, operation, operand_types, result_types)
            self._rules[key] = rule
        return rule

    def type_key(self, value_type: ir.Type) -> int:
        """A number that stands for a type; see `tensor_type`.

        Types, like attributes, are unique in their context: the hash of one is its address.
        """
        key = hash(value_type)
        if key not in self._types:
            self._types[key] = TensorType.of(value_type)
        return key

    def tensor_type(self, key: int) -> TensorType | None:
        """The plain form of the type that `key` stands for; None if it isn't a ranked tensor."""
        return self._types[key]

    def _find(self, operation: ir.Operation, name: str) -> RegisteredRule | None:
        target = operation.attributes["call_target_name"].value if name == CUSTOM_CALL else None
        registered = registered_rule(name, target)
        kind = name if target is None else f"{name} @{target}"
        if registered is None and not self.quiet and kind not in self._warned:
            self._warned.add(kind)
            _report_missing(operation, name, target)
        self._registered[name] = registered
        return registered

    def _attribute_key(self, operation: ir.Operation, reads: tuple[str, ...] | None) -> Hashable:
        if reads is None:
            return tuple(
                (name, hash(attribute))
                for name, attribute in operation.attributes.items()
                if not name.startswith("sdy.")
            )
        attributes = operation.attributes
        return tuple(hash(attributes[name]) if name in attributes else None for name in reads)

    def _make(
        self,
        registered: RegisteredRule,
        operation: ir.Operation,
        operand_types: tuple[int, ...],
        result_types: tuple[int, ...],
    ) -> OpShardingRule | None:
        if registered.function is None:
            return None
        signature = OperationSignature(
            operation.name,
            tuple(map(self.tensor_type, operand_types)),
            tuple(map(self.tensor_type, result_types)),
            operation,
            self.conservative,
        )
        try:
            rule = registered.function(signature)
            return rule.resolve(signature) if isinstance(rule, RuleNotation) else rule
        except RuleError as failure:
            raise PassError(error(str(failure), location_of(operation.location))) from None


def _report_missing(operation: ir.Operation, name: str, target: str | None) -> None:
    if target is None:
        what, how = f"operation '{name}'", f'"{name}"'
    else:
        what, how = f"custom call @{target}", f'"{name}", target="{target}"'
    message = (
        f"no sharding rule for {what}: shardings do not propagate through it; "
        f"register one with @sharding_rule({how})"
    )
    place = location_of(operation.location)
    if _is_strict.get():
        raise PassError(error(message, place))
    emit(warning(message, place))
