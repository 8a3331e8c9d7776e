# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations that may be erased if their results are unused.

The bindings don't expose the memory effects of operations, so this is a table. Operations of other
dialects are kept.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.ods.tables import OPERATIONS

_WITH_EFFECTS = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "async_done",
        "async_start",
        "collective_broadcast",
        "collective_permute",
        "collective_reduce",
        "composite",
        "cross-replica-sum",
        "infeed",
        "outfeed",
        "recv",
        "reduce_scatter",
        "return",
        "rng",
        "send",
    )
)
_PURE = frozenset(
    {
        "arith.constant",
        "tensor.empty",
        *(name for name, operation in OPERATIONS.items() if "Pure" in operation.traits),
    }
    - {"sdy.return"}
)
_AS_THEIR_BODY = frozenset(
    name for name, operation in OPERATIONS.items() if "RecursiveMemoryEffects" in operation.traits
)
_TERMINATORS = frozenset({"sdy.return", "stablehlo.return"})


def is_removable(operation: ir.Operation) -> bool:
    """Whether the operation has no effects besides its results, and is not a terminator."""
    name = operation.name
    return name not in _TERMINATORS and _has_no_effects(operation, name)


def _has_no_effects(operation: ir.Operation, name: str) -> bool:
    if name in _PURE or name in _TERMINATORS:
        return True
    if name == "stablehlo.custom_call":
        has_side_effect = operation.attributes.get("has_side_effect")
        return has_side_effect is None or not has_side_effect.value
    if name in _WITH_EFFECTS or not (
        name in _AS_THEIR_BODY or name.startswith(("stablehlo.", "chlo."))
    ):
        return False
    return all(
        _has_no_effects(nested.operation, nested.operation.name)
        for region in operation.regions
        for block in region.blocks
        for nested in block.operations
    )


class EffectsOfBody(ir.MemoryEffectsOpInterface):
    """Effects interface by which the host erases unused operations whose body has no effects."""

    @staticmethod
    def get_effects(operation: ir.OpView, effects: ir.MemoryEffectInstancesList) -> None:
        """Report an effect to the host if the body has any."""
        if not is_removable(operation.operation):
            effects.append(ir.MemoryEffect.Write)
