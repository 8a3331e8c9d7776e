# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives of the user in a global program, which has the semantics of one device.

1. Within a manual computation, and in functions that are called from there, collectives
   communicate between the devices, and are kept.
2. Elsewhere a collective whose groups have one device is replaced by its operands:

       %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0]]> ...}> ...

   becomes `%a`.
3. Elsewhere a collective between several devices is an error.
"""

from __future__ import annotations

from mlir_sdy.diagnostics import Diagnostic, PassError, error, note
from mlir_sdy.host import ir, location_of, stablehlo
from mlir_sdy.symbols import enclosing_module
from pyshardy.irtools.collectives import COLLECTIVES_WITH_GROUPS
from pyshardy.irtools.stablehlo_views import CollectiveView, callee_of, symbol_name
from pyshardy.irtools.walks import has_ancestor, operations_named

_MANUAL = "sdy.manual_computation"
_PERMUTE = "stablehlo.collective_permute"
_COLLECTIVES = frozenset({*COLLECTIVES_WITH_GROUPS, _PERMUTE})


def resolve_user_collectives(function: ir.Operation) -> bool:
    """Remove the collectives of a function whose groups have one device.

    Args:
        function: the `func.func`.

    Returns:
        Whether there was one.

    Raises:
        PassError: a collective communicates between several devices, but is not in a manual
            computation. The function is not changed then.
    """
    found = [
        collective
        for collective in operations_named(_COLLECTIVES, function)
        if not has_ancestor(collective, _MANUAL)
    ]
    if not found or _is_called_by_devices(function):
        return False
    for collective in found:
        if not _is_among_single_devices(collective):
            raise PassError(_refusal(collective))
    for collective in found:
        for result, operand in zip(collective.results, collective.operands, strict=True):
            result.replace_all_uses_with(operand)
        collective.erase()
    return True


def _is_called_by_devices(function: ir.Operation) -> bool:
    """Whether a manual computation calls a function, directly or through others."""
    module = enclosing_module(function)
    if module is None:
        return False
    symbols = ir.SymbolTable(module)
    known: set[str] = set()
    to_visit = operations_named({_MANUAL}, module)
    while to_visit:
        called = set(map(callee_of, operations_named({"func.call"}, to_visit.pop())))
        to_visit += [symbols[name].operation for name in sorted(called - known) if name in symbols]
        known |= called
    return symbol_name(function) in known


def _is_among_single_devices(collective: ir.Operation) -> bool:
    view = CollectiveView(collective)
    if collective.name == _PERMUTE:
        pairs = list(view.source_target_pairs)
        return bool(pairs) and pairs[::2] == pairs[1::2]
    groups = view.replica_groups
    if stablehlo.ReplicaGroupMeshAxesAttr.isinstance(groups):
        return not len(stablehlo.ReplicaGroupMeshAxesAttr(groups).axes)
    return ir.RankedTensorType(groups.type).shape[1] == 1


def _refusal(collective: ir.Operation) -> Diagnostic:
    place = location_of(collective.location)
    fix = (
        "use 'sdy.manual_computation' (in JAX, 'shard_map') over the axes of its groups; its body "
        "is the program of each device"
    )
    return error(
        f"'{collective.name}' op communicates between devices, but this program is global",
        place,
        [note(fix, place)],
    )
