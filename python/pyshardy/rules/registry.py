# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry of sharding rules, by operation and, for custom calls, by target."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import TypeVar

from mlir_sdy.diagnostics import wrong_type
from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.user_files import run_user_file
from pyshardy.rules.notation import RuleNotation
from pyshardy.rules.signature import OperationSignature

RuleFunction = Callable[[OperationSignature], OpShardingRule | RuleNotation | str | None]
Observation = Callable[[ir.Operation], Hashable]
_Rule = TypeVar("_Rule", bound=RuleFunction)
CUSTOM_CALL = "stablehlo.custom_call"


@dataclass(frozen=True, slots=True)
class RegisteredRule:
    """The registered rule of a kind of operation.

    Attributes:
        function: computes the rule; None if such operations have none by design.
        reads: the attributes that the rule depends on; None means all of them.
        observes: computes further inputs of the rule from the operation.
        memoised: whether operations with equal inputs have equal rules.
        beyond_shardy: whether C++ Shardy has no rule for such operations.
        if_fits: whether operations that the rule doesn't fit have no rule, with a warning.
    """

    function: RuleFunction | None
    reads: tuple[str, ...] | None = None
    observes: Observation | None = None
    memoised: bool = True
    beyond_shardy: bool = False
    if_fits: bool = False


_by_name: dict[str, RegisteredRule] = {}
_by_target: dict[str, RegisteredRule] = {}


class _Generation:
    """Counts the changes to the registry."""

    number = 0


def sharding_rule(
    *names: str,
    target: str | None = None,
    reads: Iterable[str] | None = None,
    observes: Observation | None = None,
    memoised: bool = True,
    beyond_shardy: bool = False,
    if_fits: bool = False,
) -> Callable[[_Rule], _Rule]:
    """Register a function that returns the sharding rules of operations.

        @sharding_rule("my.matmul")
        def matmul_rule(op):
            return rule("b m k, b k n -> b m n", reduction="k")

    The function returns a rule, its text alone ("i j -> j i"), or None where there is none. It is
    called once for each combination of operation, types and attributes. A later registration
    replaces an earlier one, including those of the project.

    Args:
        names: the names of the operations.
        target: register for this target of `stablehlo.custom_call` instead.
        reads: the attributes that the rule depends on; all if not given.
        observes: a function of the operation that returns further inputs of the rule, such as a
            property of its region. The rule finds the result in `op.observed`, and is computed
            once for each result.
        memoised: pass False to compute the rule anew for each operation.
        beyond_shardy: whether to omit the rule where results must be those of C++ Shardy.
        if_fits: pass True to warn about operations that the rule doesn't fit instead of failing;
            they have no rule. Use it for custom calls, whose operands are not verified.

    Raises:
        ValueError: no operation is named, or a target is given for anything but custom calls.
    """
    _check_names(names, target)
    registered_reads = None if reads is None else tuple(reads)

    def register(function: _Rule) -> _Rule:
        registered = RegisteredRule(
            function, registered_reads, observes, memoised, beyond_shardy, if_fits
        )
        _register(names, target, registered)
        return function

    return register


def no_sharding_rule(*names: str, target: str | None = None, beyond_shardy: bool = False) -> None:
    """Register operations that have no sharding rule by design, to suppress the warning."""
    _check_names(names, target)
    _register(names, target, RegisteredRule(None, (), beyond_shardy=beyond_shardy))


def registered_rule(name: str, target: str | None = None) -> RegisteredRule | None:
    """Return the registered rule of an operation, or of a custom call of `target`, or None."""
    if target is not None and target in _by_target:
        return _by_target[target]
    return _by_name.get(name)


def registered_names() -> tuple[str, ...]:
    """Return the names of the operations with registered rules, in order of registration."""
    return tuple(_by_name)


def registered_targets() -> tuple[str, ...]:
    """Return the custom call targets with registered rules, in order of registration."""
    return tuple(_by_target)


def registered_rules() -> Iterator[tuple[str, RegisteredRule]]:
    """Yield the operations and the targets that have registered rules, with the rules."""
    yield from _by_name.items()
    yield from ((f"{CUSTOM_CALL} @{target}", rule) for target, rule in _by_target.items())


def registry_generation() -> int:
    """Return a number that changes with each change to the registry."""
    return _Generation.number


@contextlib.contextmanager
def temporary_rules() -> Iterator[None]:
    """Undo the registrations inside the `with` block at its end."""
    before = dict(_by_name), dict(_by_target)
    try:
        yield
    finally:
        _restore(*before)


@contextlib.contextmanager
def kept_on_success() -> Iterator[None]:
    """Undo the registrations inside the `with` block if it raises an exception."""
    before = dict(_by_name), dict(_by_target)
    try:
        yield
    except BaseException:
        _restore(*before)
        raise


def _restore(by_name: dict[str, RegisteredRule], by_target: dict[str, RegisteredRule]) -> None:
    for table, entries in ((_by_name, by_name), (_by_target, by_target)):
        table.clear()
        table.update(entries)
    _Generation.number += 1


def _check_names(names: tuple[str, ...], target: str | None) -> None:
    if not names:
        raise ValueError("expected the name of at least one operation")
    for name in names:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("sharding_rule", "the names of operations as texts", name)
    if target is not None and names != (CUSTOM_CALL,):
        raise ValueError(f"only {CUSTOM_CALL} has targets, got: {', '.join(names)}")


def _register(names: Iterable[str], target: str | None, registered: RegisteredRule) -> None:
    if target is not None:
        _by_target[target] = registered
    else:
        _by_name.update(dict.fromkeys(names, registered))
    _Generation.number += 1


# --- Files of users ------------------------------------------------------------------------------


def load_rules(path: str | PathLike[str]) -> None:
    """Run a Python file that registers sharding rules.

        # my_rules.py
        import pyshardy as sdy

        @sdy.sharding_rule("stablehlo.custom_call", target="my_attention")
        def attention_rule(op):
            return sdy.rule("b s h d, b t h d -> b s h d", reduction="t")

    If the file fails, none of its rules is registered.

    Args:
        path: the file.

    Raises:
        UsageError: the file can't be read, is not valid Python, or raises an exception; the
            diagnostic has the line.
    """
    with kept_on_success():
        run_user_file(path, "sharding rules")
