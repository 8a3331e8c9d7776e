# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-validate-named-ops-in-mpmd-func`."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import NAMED_COMPUTATION, is_mpmd_function, name_of
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("mpmd-validate-named-ops-in-mpmd-func", release="0.10.2")
def validate_named_ops_in_mpmd_func(module: ir.Module) -> None:
    """Check that named computations and tensors are in functions with a topology.

    Raises:
        PassError: one is in another function.
    """
    for function in functions_of(module):
        if is_mpmd_function(function):
            continue
        for operation in operations_named({NAMED_COMPUTATION, "mpmd.named_tensor"}, function):
            kind = "NamedComputation" if operation.name == NAMED_COMPUTATION else "NamedTensor"
            message = (
                f"{kind} '{name_of(operation)}' must be in an MPMD function: "
                f"'{symbol_name(function)}' has no topology; call it by 'mpmd.call', or inline it"
            )
            raise PassError(error(message, location_of(operation.location)))
