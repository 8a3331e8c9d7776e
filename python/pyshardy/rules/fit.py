# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check that a rule function returns a rule that fits the operation."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from mlir_sdy.verify.sharding_rule import verify_rule
from mlir_sdy.verify.violation import Violation
from pyshardy.rules.errors import RuleError
from pyshardy.rules.notation import RuleNotation, rule
from pyshardy.rules.signature import OperationSignature


def checked_rule(
    returned: OpShardingRule | RuleNotation | str | None, op: OperationSignature
) -> OpShardingRule | None:
    """Convert the value that a rule function returned for `op` to a rule, and check it.

    Raises:
        RuleError: it is not a rule, or violates a condition of the attribute
            `sdy.sharding_rule` on the operation.
    """
    if isinstance(returned, str):
        returned = rule(returned)
    if isinstance(returned, RuleNotation):
        returned = returned.resolve(op)
    if returned is None:
        return None
    if not isinstance(returned, OpShardingRule):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RuleError(
            f"the sharding rule of '{op.name}' returned {returned!r}: return a rule(...), its "
            "text, or None"
        )
    # The verifier does not support tokens.
    if all(tensor is not None for tensor in op.tensors):
        try:
            verify_rule(op.operation, returned)
        except Violation as violation:
            raise RuleError(
                f"the sharding rule {returned} does not fit '{op.name}': {violation}"
            ) from None
    return returned
