# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diagnostics about the rules of operations."""

from __future__ import annotations

import traceback
from collections.abc import Sequence

from mlir_sdy.diagnostics import Diagnostic, SourceLocation, error, note, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import OpShardingRule, TensorMapping, factor_name
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.rules.registry import RuleFunction
from pyshardy.rules.signature import RuleError, TensorType


def missing_rule(operation: ir.Operation, name: str, target: str | None) -> Diagnostic:
    """Return the warning about an operation without a registered rule."""
    if target is None:
        what, how = f"operation '{name}'", f'"{name}"'
    else:
        what, how = f"custom call @{target}", f'"{name}", target="{target}"'
    return warning(
        f"no sharding rule for {what}: shardings do not propagate through it; "
        f"register one with @sharding_rule({how})",
        location_of(operation.location),
    )


def shardy_warning(operation: ir.Operation, name: str, target: str | None) -> Diagnostic:
    """Return the same warning in the words of C++ Shardy."""
    what = f"op '{name}'" if target is None else f"custom call @{target}"
    return warning(
        f"{what} is unknown to SDY sharding rule registry", location_of(operation.location)
    )


def dynamic_shape(operation: ir.Operation, tensor: TensorType) -> Diagnostic:
    """Return the warning about an operation with a tensor of dynamic shape."""
    sizes = "x".join("?" if size < 0 else str(size) for size in tensor.shape)
    return warning(
        f"no sharding rule for this '{operation.name}': tensor<{sizes}x{tensor.element_type}> has "
        "dynamic dimensions; refine the shapes of the program first",
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
    operation: ir.Operation, function: RuleFunction, rule: OpShardingRule
) -> Diagnostic | None:
    """Return the warning about a rule whose factors look misspelled.

    That is a rule with a factor only in results, and another one only in operands that is neither
    reduced nor otherwise special, such as `a b -> a c`. One of them alone is usual: operands are
    broadcast, and dimensions are removed.
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
    if not (operands - results and results - operands):
        return None
    only = [factor_name(min(each)) for each in (results - operands, operands - results)]
    place = _place_of(function)
    return warning(
        f"the sharding rule {rule} of this '{operation.name}' has the factor {only[0]} only in a "
        f"result, and {only[1]} only in operands: name them alike if they are one, or list "
        f"{only[1]} under 'reduction' or 'need_replication'",
        location_of(operation.location),
        () if place is None else [note("the rule is defined here", place)],
    )


def broken_rule(operation: ir.Operation, function: RuleFunction, failure: Exception) -> Diagnostic:
    """Return the error of a rule that failed or does not fit, with a note on its definition."""
    if isinstance(failure, RuleError):
        message, place = str(failure), _place_of(function)
    else:
        what = f"{type(failure).__name__}: {failure}"
        message = f"the sharding rule of '{operation.name}' failed: {what}"
        place = _place_of_failure(failure)
    notes = () if place is None else (note("the rule is defined here", place),)
    return error(message, location_of(operation.location), notes)


def _place_of_failure(failure: BaseException) -> SourceLocation | None:
    """Return the source line that raised an exception."""
    frames = traceback.extract_tb(failure.__traceback__)
    if not frames or frames[-1].lineno is None:
        return None
    return SourceLocation(frames[-1].filename, frames[-1].lineno, 0)


def _place_of(function: RuleFunction) -> SourceLocation | None:
    """Return the location of a function's definition; None for callables of other kinds."""
    code = getattr(function, "__code__", None)
    return None if code is None else SourceLocation(code.co_filename, code.co_firstlineno, 0)
