# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Order of violations: the one that is reported if there are several.

C++ Shardy's checks are part of MLIR's verification, which visits a module once and stops at the
first violation. Here the host verifies first, without the checks of this package for `sdy.*`
attributes and uses of meshes, so its error need not be the first violation. An invalid module is
therefore visited again, in the order of upstream.

For an operation:

1. Its discardable attributes, then its invariants: arguments and results of a function, common
   rules of collectives.
2. The operations in its regions that are not isolated from above, each with those in its own.
3. The operations directly in its regions that are isolated (functions, modules).
4. If it is a module, or the root of the verification, the uses of symbols in it: the operations
   of a region in order, then the regions of those, from the last to the first.
5. If it is isolated, whether values are defined before they are used.

    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
      %0 = sdy.reshard %a <@mesh, [{"nowhere"}]> : tensor<8xf32>            // third, by 4.
      %1 = stablehlo.add %a, %a {sdy.sharding = ...<@mesh, []>} : ...       // first, by 1. and 2.
      %2 = "stablehlo.add"(%a, %a) : (...) -> tensor<9xf32>                 // second, by 1. and 2.
    }
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from mlir_sdy.diagnostics import Diagnostic, SourceLocation
from mlir_sdy.host import diagnostics_of, ir, location_of
from mlir_sdy.verify.checks import ModuleChecks
from mlir_sdy.verify.violation import ConstraintViolation

_MODULE = "builtin.module"
_NUMBERS = "number"
"""The file name in the locations of numbered operations."""


def violation_first(root: ir.Operation) -> Diagnostic:
    """Return the first violation in an invalid operation that the host accepts."""
    found = _first_violation(root, None)
    assert found is not None, "a violation was found before"
    return found


def violation_before_host(root: ir.Operation) -> Diagnostic | None:
    """Return the first violation in an operation, if it precedes the one that the host found."""
    failure = _host_failure(root)
    if failure is None:
        return None
    try:
        return _first_violation(root, failure)
    except (AttributeError, LookupError, TypeError, ValueError):
        # A check met an invalid operation that the host did not reach. The error of the host is
        # reported.
        return None


@dataclass(frozen=True, slots=True)
class _HostFailure:
    """A verification error of the host.

    Attributes:
        place: the number of the operation with the error, in the order of rules 1 to 3.
        stage: the number of the operation whose regions were valid, by rules 4 and 5, when the
            error was found; None if it was found at the operation itself.
    """

    place: int
    stage: int | None


def _first_violation(root: ir.Operation, failure: _HostFailure | None) -> Diagnostic | None:
    """Return the first violation before the failure of the host."""
    place, stage = (None, None) if failure is None else (failure.place, failure.stage)
    checks = ModuleChecks()
    numbers: dict[ir.Operation, int] = {}
    for operation, is_entered in _visits(root):
        if is_entered:
            number = numbers[operation] = len(numbers)
            found = _violation(checks.check_attributes, operation)
            if found is None and stage is None and place == number:
                return None
            found = found or _violation(checks.check_invariants, operation)
            if found is not None:
                return found
            continue
        is_last = stage is not None and stage == numbers[operation]
        is_whole = operation == root or operation.name == _MODULE
        for candidate in _in_order_of_symbol_uses(operation) if is_whole else ():
            if is_last and numbers[candidate] == place:
                return None
            found = _violation(checks.check_symbol_uses, candidate)
            if found is not None:
                return found
        if is_last:
            return None
    return None


def _violation(check: Callable[[ir.Operation], None], operation: ir.Operation) -> Diagnostic | None:
    try:
        check(operation)
    except ConstraintViolation as violation:
        return violation.diagnostic(operation)
    return None


# --- The order ------------------------------------------------------------------------------------


def _visits(operation: ir.Operation) -> Iterator[tuple[ir.Operation, bool]]:
    """Yield each operation twice: on entry (True), and after its regions (False)."""
    yield operation, True
    isolated: list[ir.Operation] = []
    for nested in _directly_in(operation.regions):
        if _is_isolated(nested):
            isolated.append(nested)
        else:
            yield from _visits(nested)
    for nested in isolated:
        yield from _visits(nested)
    yield operation, False


def _is_isolated(operation: ir.Operation) -> bool:
    return operation.has_trait(ir.IsIsolatedFromAboveTrait)


def _in_order_of_symbol_uses(operation: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the operations that may use the symbols of a module or a part of one, by rule 4."""
    if operation.name != _MODULE:
        yield operation
    regions = list(operation.regions)
    while regions:
        for user in _directly_in([regions.pop()]):
            yield user
            if user.name != _MODULE:
                regions.extend(user.regions)


def _directly_in(regions: Iterable[ir.Region]) -> Iterator[ir.Operation]:
    for region in regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation


# --- Errors of the host ---------------------------------------------------------------------------


def _host_failure(root: ir.Operation) -> _HostFailure | None:
    """Return the point at which the host's verification fails; None if it is unknown."""
    numbered = root.clone(ip=False).operation
    operations = [operation for operation, is_entered in _visits(numbered) if is_entered]
    for number, operation in enumerate(operations):
        operation.location = ir.Location.file(_NUMBERS, number, 0, root.context)
    place = _place_of_failure(numbered)
    if place is None:
        return None
    stage = operations[place]
    if _place_of_failure(stage) is not None:
        return _HostFailure(place, None)
    # Verified by itself, any operation checks definitions and uses; within others, isolated ones.
    while stage.parent is not None and (
        not _is_isolated(stage) or _place_of_failure(stage) is None
    ):
        stage = stage.parent.operation
    return _HostFailure(place, _number_of(location_of(stage.location)))


def _place_of_failure(operation: ir.Operation) -> int | None:
    """Return the number of the operation at which the host finds an error, or None."""
    try:
        operation.verify()
    except ir.MLIRError as failure:
        return _number_of(diagnostics_of(failure)[0].location)
    return None


def _number_of(location: SourceLocation | None) -> int | None:
    return None if location is None or location.filename != _NUMBERS else location.line
