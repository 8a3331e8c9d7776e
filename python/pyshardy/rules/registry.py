# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry of sharding rules, by operation and, for custom calls, by target."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.notation import RuleNotation
from pyshardy.rules.signature import OperationSignature

RuleFunction = Callable[[OperationSignature], OpShardingRule | RuleNotation | None]
_Rule = TypeVar("_Rule", bound=RuleFunction)

CUSTOM_CALL = "stablehlo.custom_call"


@dataclass(frozen=True, slots=True)
class RegisteredRule:
    """How operations of one kind get their rule.

    Attributes:
        function: makes the rule; None if such operations have none, on purpose.
        reads: the attributes that the rule depends on; None stands for all of them.
        memoised: whether operations of equal types and attributes have equal rules.
    """

    function: RuleFunction | None
    reads: tuple[str, ...] | None = None
    memoised: bool = True


_by_name: dict[str, RegisteredRule] = {}
_by_target: dict[str, RegisteredRule] = {}


def sharding_rule(
    *names: str,
    target: str | None = None,
    reads: Iterable[str] | None = None,
    memoised: bool = True,
) -> Callable[[_Rule], _Rule]:
    """Register the sharding rule of operations.

        @sharding_rule("my.matmul")
        def matmul_rule(op):
            return rule("b m k, b k n -> b m n", reduction="k")

    The rule is made once for each combination of operation, types and attributes. A later
    registration replaces an earlier one, those of the project included.

    Args:
        names: the names of the operations.
        target: register for this target of `stablehlo.custom_call` instead.
        reads: the attributes that the rule depends on; all if not given.
        memoised: pass False if the rule looks at anything but types and attributes, such as the
            operations that define operands.

    Raises:
        ValueError: a target is given for anything but custom calls.
    """
    _check_target(names, target)
    registered_reads = None if reads is None else tuple(reads)

    def register(function: _Rule) -> _Rule:
        _register(names, target, RegisteredRule(function, registered_reads, memoised))
        return function

    return register


def no_sharding_rule(*names: str, target: str | None = None) -> None:
    """Say that operations have no sharding rule on purpose, so that nobody is warned."""
    _check_target(names, target)
    _register(names, target, RegisteredRule(None, ()))


def _check_target(names: tuple[str, ...], target: str | None) -> None:
    if target is not None and names != (CUSTOM_CALL,):
        raise ValueError(f"only {CUSTOM_CALL} has targets, got: {', '.join(names)}")


def _register(names: Iterable[str], target: str | None, registered: RegisteredRule) -> None:
    if target is not None:
        _by_target[target] = registered
    else:
        _by_name.update(dict.fromkeys(names, registered))


def registered_rule(name: str, target: str | None = None) -> RegisteredRule | None:
    """What is registered for an operation, or a custom call of `target`; None if nothing is."""
    if target is not None and target in _by_target:
        return _by_target[target]
    return _by_name.get(name)
