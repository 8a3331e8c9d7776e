# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Look-up of the rules of operations, computed once for each signature."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from mlir_sdy.ambient import Ambient
from mlir_sdy.diagnostics import (
    Diagnostic,
    PassError,
    SdyError,
    SourceLocation,
    emit,
    error,
    note,
    warning,
)
from mlir_sdy.host import identity, ir, location_of
from mlir_sdy.model import OpShardingRule, TensorMapping, factor_name
from mlir_sdy.verify.sharding_rule import verify_rule
from mlir_sdy.verify.violation import ConstraintViolation
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.irtools.stablehlo_views.fields import attribute_named
from pyshardy.irtools.tensor_types import is_bounded
from pyshardy.irtools.user_files import raised_at
from pyshardy.rules.notation import RuleNotation, rule
from pyshardy.rules.own_rules import has_own_rule, own_rule
from pyshardy.rules.registry import (
    CUSTOM_CALL,
    RegisteredRule,
    RuleFunction,
    registered_rule,
    registry_generation,
)
from pyshardy.rules.signature import OperationParts, OperationSignature, RuleError, TensorType

_UNKNOWN = object()


class ShardingRuleLookup:
    """The rules of the operations of a context, for a run of a pass.

    Args:
        conservative: whether rules block dimensions of windows and padding.
        quiet: whether to suppress warnings about operations without a rule.
        compatible: whether to use only rules of operations that C++ Shardy knows, with its
            warnings. `compatible_rules` sets it for all look-ups made inside its block.
    """

    def __init__(
        self, *, conservative: bool = False, quiet: bool = False, compatible: bool = False
    ):
        self.conservative = conservative
        self.quiet = quiet
        self.compatible = compatible or is_compatible()
        self._registered: dict[str | int, Any] = {}
        self._rules: dict[Hashable, Any] = {}
        self._types: dict[int, TensorType | None] = {}
        self._type_keys: dict[int, int] = {}
        self._reported: set[Hashable] = set()
        self._reads: dict[str, Any] = {}
        # One object for equal rules, kept alive so that its identity stays unique.
        self._equal_rules: dict[OpShardingRule, OpShardingRule] = {}

    @classmethod
    def shared(cls, context: ir.Context) -> ShardingRuleLookup:
        """Return the look-up of the passes after propagation, which does not warn.

        The passes on programs of a context share one, as long as no rule is registered between
        them.
        """
        state = registry_generation(), is_compatible()
        known, lookup = _shared.get(context, (None, None))
        if lookup is None or known != state:
            lookup = cls(quiet=True)
            _shared[context] = state, lookup
        return lookup

    def rule(self, operation: ir.Operation) -> OpShardingRule | None:
        """Return the rule of an operation: its attribute, or the registered one; None if neither.

        Warns once about each operation for which nothing is registered.

        Raises:
            PassError: the registered rule does not fit the operation, or inside `strict_rules`
                there is none.
        """
        name = operation.name
        own = own_rule(operation, name)
        if own is not None:
            return own
        return self.registered_rule(
            operation,
            name,
            tuple(self.type_key(operand.type) for operand in operation.operands),
            tuple(self.type_key(result.type) for result in operation.results),
        )

    def rule_key(
        self, known: OperationParts, observed: Hashable = None
    ) -> tuple[Hashable, ...] | None:
        """Return a key such that operations with equal keys have equal rules.

        None if the operation has a rule as an attribute, or its rule depends on more than the key.

        Args:
            known: the operation.
            observed: a key of all that the registration of its rule observes, if it is known.
        """
        name = known.name
        found = self._reads.get(name, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._reads[name] = _attributes_read(name)
        reads, observes = found
        if (observes and observed is None) or reads is None or has_own_rule(known.operation, name):
            return None
        operands = [identity(value.type) for value in known.operands]
        results = [identity(value.type) for value in known.results]
        key = (name, observed, len(operands), *operands, *results)
        if not reads:
            return key
        return (*key, *[identity(attribute_named(known.operation, each)) for each in reads])

    def registered_rule(
        self,
        operation: ir.Operation,
        name: str,
        operand_types: tuple[int, ...],
        result_types: tuple[int, ...],
    ) -> OpShardingRule | None:
        """Return the registered rule of an operation whose name and types are given."""
        kind = name if name != CUSTOM_CALL else f"@{target_of(operation)}"
        registered = self._registered.get(kind, _UNKNOWN)
        if registered is _UNKNOWN:
            registered = self._registered[kind] = self._find(operation, name)
        if registered is None:
            self._report_missing(operation, name)
            return None
        if registered.function is None:
            return None
        if not registered.memoised:
            return self._make(registered, operation, operand_types, result_types)
        reads, observes = registered.reads, registered.observes
        if reads == ():
            read = None
        elif reads is not None and len(reads) == 1:
            read = identity(attribute_named(operation, reads[0]))
        else:
            read = _attribute_key(operation, reads)
        observed = None if observes is None else observes(operation)
        key = (kind, operand_types, result_types, read, observed)
        rule = self._rules.get(key, _UNKNOWN)
        if rule is _UNKNOWN:
            rule = self._make(registered, operation, operand_types, result_types, observed)
            self._rules[key] = rule
        return rule

    @property
    def known_types(self) -> Mapping[int, int]:
        """The numbers that `type_key` has returned, as distinct objects."""
        return self._type_keys

    def type_key(self, value_type: ir.Type) -> int:
        """Return a number that identifies a type; see `tensor_type`.

        Types, like attributes, are unique in their context: the hash of one is its address.
        """
        key = identity(value_type)
        known = self._type_keys.get(key)
        if known is None:
            known = self._type_keys[key] = key
            self._types[key] = TensorType.of(value_type)
        return known

    def tensor_type(self, key: int) -> TensorType | None:
        """Return the type that `key` identifies; None if it isn't a ranked tensor."""
        return self._types[key]

    def rule_for_types(
        self,
        operation: ir.Operation,
        operands: Sequence[TensorType | None],
        results: Sequence[TensorType | None],
    ) -> OpShardingRule | None:
        """Return the registered rule that an operation of other types would have; None if none.

        It isn't checked, since the operation itself may have dynamic sizes. Those of results may be
        unknown, and are negative.
        """
        name = operation.name
        registered = self._find(operation, name)
        if registered is None or registered.function is None:
            return None
        observed = None if registered.observes is None else registered.observes(operation)
        types, reads = (tuple(operands), tuple(results)), registered.reads
        key = name, registered, types, _attribute_key(operation, reads), observed
        found: Any = self._rules.get(key, _UNKNOWN) if registered.memoised else _UNKNOWN
        if found is _UNKNOWN:
            known = types[0], tuple(map(_with_numbers, types[1]))
            rest: Any = {"operation": operation, "observed": observed, "reads": reads}
            try:
                found = registered.function(OperationSignature(name, *known, **rest))
                found = rule(found) if isinstance(found, str) else found
                if isinstance(found, RuleNotation):
                    found = found.resolve(OperationSignature(name, *types, **rest))
            except RuleError:
                found = None
            self._rules[key] = found
        return found

    def _find(self, operation: ir.Operation, name: str) -> RegisteredRule | None:
        registered = registered_rule(name, _target(operation, name))
        if registered is not None and not (registered.beyond_shardy and self.compatible):
            return registered
        # Terminators pass their operands to the operation with the block.
        return _NO_RULE if operation.has_trait(ir.IsTerminatorTrait) else None

    def _make(
        self,
        registered: RegisteredRule,
        operation: ir.Operation,
        operand_types: tuple[int, ...],
        result_types: tuple[int, ...],
        observed: Hashable = None,
    ) -> OpShardingRule | None:
        if registered.function is None:
            return None
        signature = OperationSignature(
            operation.name,
            tuple(map(self.tensor_type, operand_types)),
            tuple(map(self.tensor_type, result_types)),
            operation,
            self.conservative,
            observed,
            registered.reads,
        )
        dynamic = next((t for t in signature.tensors if t is not None and not t.is_static), None)
        if dynamic is not None:
            self._report(dynamic_shape(operation, dynamic))
            return None
        try:
            notation, rule = _checked_rule(registered.function(signature), signature)
        except RuleError as failure:
            if registered.if_fits:
                self._report(unfit_call(operation, failure))
                return None
            raise PassError(broken_rule(operation, registered.function, failure)) from None
        except SdyError:
            raise
        except Exception as failure:
            raise PassError(broken_rule(operation, registered.function, failure)) from failure
        if rule is None:
            return None
        if rule not in self._equal_rules and _is_of_user(registered.function):
            suspicion = suspicious_rule(operation, registered.function, rule, notation)
            if suspicion is not None and not self.quiet:
                emit(suspicion)
        return self._equal_rules.setdefault(rule, rule)

    def _report_missing(self, operation: ir.Operation, name: str) -> None:
        if self.quiet:
            return
        target = _target(operation, name)
        if self.compatible and not is_strict():
            # C++ Shardy names only the first custom call, and the first other operation.
            first = "custom call" if target is not None else "operation"
            if first not in self._reported:
                self._reported.add(first)
                emit(missing_rule(operation, name, target))
            return
        self._report(missing_rule(operation, name, target))

    def _report(self, diagnostic: Diagnostic) -> None:
        if self.quiet or diagnostic in self._reported:
            return
        if is_strict():
            raise PassError(error(diagnostic.message, diagnostic.location))
        self._reported.add(diagnostic)
        emit(diagnostic)


def _with_numbers(tensor: TensorType | None) -> TensorType | None:
    """Return a type with unlike numbers for unknown sizes, which no size has."""
    if tensor is None or tensor.is_static:
        return tensor
    shape = [_UNKNOWN_SIZE - dim if n < 0 else n for dim, n in enumerate(tensor.shape)]
    return TensorType(tuple(shape), tensor.element_type)


_UNKNOWN_SIZE = 1 << 23


def _is_of_user(function: RuleFunction) -> bool:
    """Whether the function of a rule isn't part of this project."""
    return not (getattr(function, "__module__", None) or "").startswith("pyshardy.")


_NO_RULE = RegisteredRule(None, ())
_shared: weakref.WeakKeyDictionary[ir.Context, tuple[object, ShardingRuleLookup]] = (
    weakref.WeakKeyDictionary()
)


def _attributes_read(name: str) -> tuple[tuple[str, ...] | None, bool]:
    """Return the attributes that rules of operations of a name depend on, None if on more.

    Also return whether the registration has a function that observes more.
    """
    registered = registered_rule(name, None) if name != CUSTOM_CALL else None
    if registered is None or registered.function is None or not registered.memoised:
        return None, False
    return registered.reads, registered.observes is not None


def _attribute_key(operation: ir.Operation, reads: tuple[str, ...] | None) -> Hashable:
    if reads is not None:
        return tuple([identity(attribute_named(operation, name)) for name in reads])
    return tuple(
        [
            (name, identity(attribute))
            for name, attribute in operation.attributes.items()
            if not name.startswith("sdy.")
        ]
    )


def _target(operation: ir.Operation, name: str) -> str | None:
    """Return the target of a custom call; None for any other operation."""
    return target_of(operation) if name == CUSTOM_CALL else None


def _checked_rule(
    returned: OpShardingRule | RuleNotation | str | None, op: OperationSignature
) -> tuple[RuleNotation | None, OpShardingRule | None]:
    """Convert the value that a rule function returned for `op` to a rule, and check it.

    Returns:
        The notation of the rule, if it has one, and the rule.

    Raises:
        RuleError: it is not a rule, or violates a condition of the attribute
            `sdy.sharding_rule` on the operation.
    """
    if isinstance(returned, str):
        returned = rule(returned)
    notation = returned if isinstance(returned, RuleNotation) else None
    if isinstance(returned, RuleNotation):
        returned = returned.resolve(op)
    if returned is None:
        return notation, None
    if not isinstance(returned, OpShardingRule):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RuleError(
            f"the sharding rule of '{op.name}' returned {returned!r}: return a rule(...), its "
            "text, or None"
        )
    # The verifier does not support tokens.
    if all(tensor is not None for tensor in op.tensors):
        try:
            verify_rule(op.operation, returned)
        except ConstraintViolation as violation:
            raise RuleError(
                f"the sharding rule {returned} does not fit '{op.name}': {violation}"
            ) from None
    return notation, returned


def is_elementwise(operation: ir.Operation) -> bool:
    """Whether elements of the results depend only on the same elements of operands, by its rule."""
    rule = ShardingRuleLookup.shared(operation.context).rule(operation)
    if rule is None:
        return False
    mappings = [each.dim_mappings for each in (*rule.operand_mappings, *rule.result_mappings)]
    return all(each == mappings[0] for each in mappings)


# --- Operations without a rule --------------------------------------------------------------------


class _Modes(NamedTuple):
    is_strict: bool = False
    is_compatible: bool = False


_modes = Ambient("pyshardy_rules", _Modes())


def strict_rules() -> AbstractContextManager[None]:
    """Make an operation without a rule an error, inside the `with` block."""
    return _modes.bound(_modes.get()._replace(is_strict=True))


def compatible_rules() -> AbstractContextManager[None]:
    """Ignore rules of operations that C++ Shardy does not know, inside the `with` block."""
    return _modes.bound(_modes.get()._replace(is_compatible=True))


def is_strict() -> bool:
    """Whether the code runs inside `strict_rules`."""
    return _modes.get().is_strict


def is_compatible() -> bool:
    """Whether the code runs inside `compatible_rules`."""
    return _modes.get().is_compatible


# --- Reports --------------------------------------------------------------------------------------


def missing_rule(operation: ir.Operation, name: str, target: str | None) -> Diagnostic:
    """Return the warning about an operation without a registered rule."""
    if target is None:
        what, how = f"op '{name}'", f'"{name}"'
    else:
        what, how = f"custom call @{target}", f'"{name}", target="{target}"'
    return warning(
        f"{what} is unknown to SDY sharding rule registry: shardings do not propagate through it; "
        f"register a rule with @sharding_rule({how})",
        location_of(operation.location),
    )


def dynamic_shape(operation: ir.Operation, tensor: TensorType) -> Diagnostic:
    """Return the warning about an operation with a tensor of dynamic shape."""
    sizes = "x".join("?" if size < 0 else str(size) for size in tensor.shape)
    values = (*operation.operands, *operation.results)
    advice = (
        "so that it is replicated: data determine its sizes within their bounds"
        if any(is_bounded(value.type) for value in values)
        else "refine the shapes of the program first"
    )
    return warning(
        f"no sharding rule for this '{operation.name}': tensor<{sizes}x{tensor.element_type}> has "
        f"dynamic dimensions; {advice}",
        location_of(operation.location),
    )


def unfit_call(operation: ir.Operation, failure: RuleError) -> Diagnostic:
    """Return the warning about a custom call that the rule of its target does not fit."""
    target = target_of(operation)
    return warning(
        f"no sharding rule for this custom call @{target}, whose operands or results are "
        f"unexpected: {failure}; attach an sdy.sharding_rule to it",
        location_of(operation.location),
    )


def suspicious_rule(
    operation: ir.Operation,
    function: RuleFunction,
    rule: OpShardingRule,
    notation: RuleNotation | None,
) -> Diagnostic | None:
    """Return the warning about a rule whose factors look misspelled.

    1. A factor is only in results, and another one only in operands and neither reduced nor
       otherwise special, such as in `a b -> a c`. One of them alone is usual: operands are
       broadcast, and dimensions are removed.
    2. By its notation, such a factor is in several operands, as in `m k, k n -> m n`: a product
       without `reduction=`, so that both operands would be replicated along it.
    """
    special = {
        *rule.reduction_factors,
        *rule.need_replication_factors,
        *rule.permutation_factors,
        *rule.blocked_propagation_factors,
    }

    def factors_of(mappings: Sequence[TensorMapping]) -> set[int]:
        dims = (dim for mapping in mappings for dim in mapping.dim_mappings)
        found = {factor for dim in dims for factor in dim.factor_indices}
        return {factor for factor in found - special if rule.factor_sizes[factor] > 1}

    operands, results = factors_of(rule.operand_mappings), factors_of(rule.result_mappings)
    place = _place_of(function)
    notes = () if place is None else [note("the rule is defined here", place)]
    if notation is not None and (name := notation.contracted_factor()) is not None:
        return warning(
            f"'{name}' is in several operands and in no result of the sharding rule "
            f"'{notation.text}' of this '{operation.name}': pass reduction='{name}' if the "
            f"operation sums over it, and else need_replication='{name}', as it is treated now",
            location_of(operation.location),
            notes,
        )
    if not (operands - results and results - operands):
        return None
    only = [factor_name(min(each)) for each in (results - operands, operands - results)]
    return warning(
        f"the sharding rule {rule} of this '{operation.name}' has the factor {only[0]} only in a "
        f"result, and {only[1]} only in operands: name them alike if they are one, or list "
        f"{only[1]} under 'reduction' or 'need_replication'",
        location_of(operation.location),
        notes,
    )


def broken_rule(operation: ir.Operation, function: RuleFunction, failure: Exception) -> Diagnostic:
    """Return the error of a rule that failed or does not fit, with a note on its definition."""
    if isinstance(failure, RuleError):
        message, notes = str(failure), []
    else:
        what = f"{type(failure).__name__}: {failure}"
        message = f"the sharding rule of '{operation.name}' failed: {what}"
        notes = raised_at(failure)
    place = _place_of(function)
    if place is not None and not notes:
        notes = [note("the rule is defined here", place)]
    return error(message, location_of(operation.location), notes)


def _place_of(function: RuleFunction) -> SourceLocation | None:
    """Return the location of a function's definition; None for callables of other kinds."""
    code = getattr(function, "__code__", None)
    return None if code is None else SourceLocation(code.co_filename, code.co_firstlineno, 0)
