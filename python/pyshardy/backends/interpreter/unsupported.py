# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors for operations on which the reference interpreter would abort."""

from __future__ import annotations

from mlir_sdy.diagnostics import Diagnostic, error, note
from mlir_sdy.host import ir, location_of
from pyshardy.backends.effects import TRANSFER_ADVICE, TRANSFERS
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.local_program.custom_calls import CUSTOM_CALL, advice_on
from pyshardy.local_program.errors import ExecutionError

_RNG = "pass the random numbers in as an argument"
_DOT = "use stablehlo.dot_general"

_ADVICE: dict[str, str] = {
    "stablehlo.rng": _RNG,
    "stablehlo.rng_bit_generator": _RNG,
    "stablehlo.dot": _DOT,
    "stablehlo.einsum": _DOT,
    "stablehlo.unary_einsum": _DOT,
    "stablehlo.broadcast": "use stablehlo.broadcast_in_dim",
    "stablehlo.torch_index_select": "use stablehlo.gather",
    "stablehlo.create_token": "use stablehlo.after_all",
    **dict.fromkeys(TRANSFERS, TRANSFER_ADVICE),
    **dict.fromkeys(
        (
            "stablehlo.all_gather",
            "stablehlo.all_reduce",
            "stablehlo.all_to_all",
            "stablehlo.collective_broadcast",
            "stablehlo.collective_permute",
            "stablehlo.collective_reduce",
            "stablehlo.reduce_scatter",
            "stablehlo.cross-replica-sum",
            "stablehlo.partition_id",
            "stablehlo.replica_id",
        ),
        "it needs several devices: it is supported in functions, stablehlo.while, stablehlo.if and "
        "stablehlo.case only",
    ),
}
_DIALECTS = ("stablehlo", "func", "builtin")


def check_supported(module: ir.Module) -> None:
    """Raise an error for each operation that the reference interpreter can't run.

    Raises:
        ExecutionError: there are such operations.
    """
    found: list[Diagnostic] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        name = operation.name
        advice = _ADVICE.get(name)
        if name == CUSTOM_CALL:
            advice = advice_on(target_of(operation))
        elif advice is None and name.partition(".")[0] not in _DIALECTS:
            advice = "lower the program to StableHLO"
        if advice is not None:
            message = f"the reference interpreter can't run '{name}'"
            place = location_of(operation.location)
            found.append(error(message, place, [note(advice, place)]))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    if found:
        raise ExecutionError(*found)
