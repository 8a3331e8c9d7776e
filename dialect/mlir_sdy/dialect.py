# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registration of the `sdy` dialect with a context of the MLIR Python bindings."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import lru_cache

from mlir_sdy import host
from mlir_sdy.attributes import register_attribute_classes
from mlir_sdy.diagnostics import wrong_type
from mlir_sdy.effects import EffectsOfBody
from mlir_sdy.host import ir
from mlir_sdy.ods import _sdy_ops_gen as _  # noqa: F401 (registers the operation classes)
from mlir_sdy.ods.declarations import OperationDecl
from mlir_sdy.ods.irdl_groups import expand_groups, groups_of
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.verify.operations import attach_verifiers

_TRAITS = {
    "IsolatedFromAbove": ir.IsIsolatedFromAboveTrait,
    "Pure": host.ext.Pure,
    "Terminator": ir.IsTerminatorTrait,
}


class Context(ir.Context):
    """A context with the dialects of MLIR, StableHLO, CHLO and `sdy`.

    Args:
        allow_unregistered: whether to accept operations and attributes of unregistered dialects.
    """

    def __init__(self, *, allow_unregistered: bool = False):
        super().__init__()
        self.allow_unregistered_dialects = allow_unregistered
        host.load_stablehlo(self)
        register(self)


def register(context: ir.Context) -> None:
    """Register the `sdy` dialect with any context: attributes, operations, traits, verifiers."""
    if not isinstance(context, ir.Context):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("register", "a context of MLIR, such as sdy.Context()", context)
    if context.is_dialect_loaded("sdy"):
        return
    with context:
        # An attribute and an operation share the name "mesh", which one IRDL module can't declare.
        for declarations in irdl_modules("sdy"):
            host.irdl.load_dialects(ir.Module.parse(declarations))
        register_traits(OPERATIONS, EffectsOfBody)
        attach_verifiers()
    host.hand_out_all_constants(context)
    register_attribute_classes(context)


def register_traits(
    operations: Mapping[str, OperationDecl], effects_of_body: type[ir.MemoryEffectsOpInterface]
) -> None:
    """Attach the declared traits to operations of the current context."""
    traits = {**_TRAITS, "RecursiveMemoryEffects": effects_of_body}
    for name, declaration in operations.items():
        for trait in declaration.traits:
            if trait in traits:
                traits[trait].attach(name)


@lru_cache(maxsize=2)
def irdl_modules(dialect: str) -> tuple[str, str]:
    """Return the declarations of the attributes and of the operations of a dialect."""
    operations = expand_groups(_declarations(dialect, "operations"), groups_of(dialect))
    return _declarations(dialect, "attributes"), operations


def _declarations(dialect: str, of: str) -> str:
    # A tenth of the time of `importlib.resources`, which can give the path of a file, too.
    data = pkgutil.get_data("mlir_sdy.ods", f"{dialect}_{of}.irdl.mlir")
    assert data is not None, "the loader of the package reads data"
    return data.decode()
