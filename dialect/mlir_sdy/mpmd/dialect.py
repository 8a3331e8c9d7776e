# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registration of the mpmd dialect with a context that has sdy."""

from __future__ import annotations

from mlir_sdy.dialect import irdl_modules, register_traits
from mlir_sdy.effects import is_removable
from mlir_sdy.host import ir, irdl
from mlir_sdy.mpmd.attributes import register_classes
from mlir_sdy.mpmd.verify import TRAITS
from mlir_sdy.ods.mpmd_tables import OPERATIONS

_WITHOUT_EFFECTS = frozenset(
    {"mpmd.return", *(name for name, each in OPERATIONS.items() if "Pure" in each.traits)}
)


class EffectsOfFragments(ir.MemoryEffectsOpInterface):
    """Effects interface by which the host erases unused operations whose body has no effects."""

    @staticmethod
    def get_effects(operation: ir.OpView, effects: ir.MemoryEffectInstancesList) -> None:
        """Report an effect to the host if the body has any."""
        if has_effects(operation.operation):
            effects.append(ir.MemoryEffect.Write)


def has_effects(operation: ir.Operation) -> bool:
    """Whether an operation has effects besides its results, itself or in its body."""
    name = operation.name
    if name in _WITHOUT_EFFECTS:
        return False
    declaration = OPERATIONS.get(name)
    if declaration is None:
        return not is_removable(operation)
    if "RecursiveMemoryEffects" not in declaration.traits:
        return True
    return any(
        has_effects(view.operation)
        for region in operation.regions
        for block in region.blocks
        for view in block.operations
    )


def register(context: ir.Context) -> None:
    """Register the dialect: attributes, types, operations, traits, verifiers."""
    if context.is_dialect_loaded("mpmd"):
        return
    with context:
        for declarations in irdl_modules("mpmd"):
            irdl.load_dialects(ir.Module.parse(declarations))
        register_traits(OPERATIONS, EffectsOfFragments)
        for name, trait in TRAITS.items():
            trait.attach(name)
    register_classes(context)
