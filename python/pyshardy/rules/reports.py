# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diagnostics about the rules of operations."""

from __future__ import annotations

import traceback

from mlir_sdy.diagnostics import Diagnostic, SourceLocation, error, note, warning
from mlir_sdy.host import ir, location_of
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.rules.errors import RuleError
from pyshardy.rules.registry import RuleFunction
from pyshardy.rules.signature import TensorType


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
