# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verification of attributes, operations and modules.

There are three stages (the third one needs all meshes and so runs on modules only):

1. `operations`: an operation by itself, whenever MLIR verifies.
2. `discardable`, `sharding_rule`: `sdy.*` attributes on operations and functions of any dialect;
   `collectives`: the common rules of all collectives.
   3. `symbol_uses`: operations of the dialect with the meshes that they refer to.

   `shard` has additional checks of upstream's shard dialect, which run before upstream's verifier.
   `checks` combines the rules for the operations of a module, and `precedence` finds the violation
   that is reported first.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir_sdy.diagnostics import VerificationError
from mlir_sdy.host import diagnostics_of, ir
from mlir_sdy.on_demand import has_mpmd, module_of_mpmd
from mlir_sdy.programs import HoldsModule, operation_of
from mlir_sdy.shard.verify import verify_shard
from mlir_sdy.stages import VERIFYING, stage
from mlir_sdy.verify.checks import ModuleChecks
from mlir_sdy.verify.precedence import violation_before_host, violation_first
from mlir_sdy.verify.violation import ConstraintViolation

__all__ = ["verify", "verify_given", "verify_shard", "verify_shardings", "violation_before_host"]


def verify(module: ir.Module | ir.Operation | ir.OpView | HoldsModule) -> None:
    """Verify a module by MLIR and by the rules of sdy.

    Args:
        module: the module, an operation, or a traced or partitioned program. `pyshardy.parse`
            verifies what it reads.

    Raises:
        WrongTypeError: it is none of these.
        VerificationError: the first rule that is broken, with its place.
    """
    root = operation_of("verify", module)
    with stage(VERIFYING):
        verify_shard(root)
        try:
            root.verify()
        except ir.MLIRError as failure:
            diagnostics = diagnostics_of(failure)
            earlier = violation_before_host(root)
            raise VerificationError(*([earlier] if earlier else diagnostics)) from None
        verify_shardings(root)


def verify_shardings(module: ir.Module | ir.Operation | ir.OpView) -> None:
    """Verify what MLIR does not: `sdy.*` attributes, and the use of meshes.

    Raises:
        VerificationError: the first rule that is broken, with its place.
    """
    _verify_shardings(module.operation, ModuleChecks.check_all)


def verify_given(module: ir.Module | ir.Operation | ir.OpView) -> None:
    """Verify what `verify_shardings` does, in a program few of whose operations have shardings.

    Raises:
        VerificationError: the first rule that is broken, with its place.
    """
    _verify_shardings(module.operation, ModuleChecks.check_given)


def _verify_shardings(
    root: ir.Operation, check: Callable[[ModuleChecks, ir.Operation], None]
) -> None:
    with stage(VERIFYING):
        try:
            check(ModuleChecks(), root)
        except ConstraintViolation:  # it may not be the first one
            raise VerificationError(violation_first(root)) from None
        if has_mpmd(root.context):
            verify_calls = module_of_mpmd("verify_calls").verify_calls
            verify_calls(root)
