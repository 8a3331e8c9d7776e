# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pytrees of the arguments and results of a JAX function, kept with its module.

A module has flat lists of arguments and results. Their structure as dictionaries, tuples and
objects of user-defined classes is kept in this process; the module refers to it by an attribute,
which copies and passes preserve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_sdy.discardable import set_discardable, text_of
from mlir_sdy.host import ir

_ATTRIBUTE = "jax.structure"
_known: dict[str, Structure] = {}


@dataclass(frozen=True)
class Structure:
    """The pytrees of arguments and results, and the mesh of a traced function.

    Attributes:
        in_tree: the `PyTreeDef` of `(args, kwargs)`.
        out_tree: the `PyTreeDef` of the result.
        kept: the leaves of `in_tree` that are arguments; the function doesn't use the others.
        keys: the generators of results that are random number keys; see `dtypes`.
        mesh: the mesh for which it was traced, if it has devices.
    """

    in_tree: Any
    out_tree: Any
    kept: tuple[int, ...]
    keys: tuple[str | None, ...]
    mesh: Any = None

    def __str__(self) -> str:
        text = f"{self.in_tree} -> {self.out_tree}"
        if len(self.kept) < self.in_tree.num_leaves:
            text += f", without those but {', '.join(map(str, self.kept))}"
        if any(self.keys):
            text += f", keys of {', '.join(map(str, self.keys))}"
        if self.mesh is not None:
            text += f", on {self.mesh} of {', '.join(map(str, self.mesh.devices.flat))}"
        return text


def remember(structure: Structure, module: ir.Module) -> None:
    """Register the structure of a module and of programs derived from it."""
    text = str(structure)
    count = 1
    # Classes may share a name; structures of equal text are numbered.
    while _known.setdefault(text, structure) != structure:
        count += 1
        text = f"{structure} ({count})"
    set_discardable(module.operation, _ATTRIBUTE, ir.StringAttr.get(text, module.context))


def structure_of(module: ir.Module, *, arguments: int, results: int) -> Structure | None:
    """Return the structure of a module with these numbers of arguments and results.

    None if the module wasn't traced in this process, or its arguments or results have changed.
    """
    name = text_of(module.operation, _ATTRIBUTE)
    structure = None if name is None else _known.get(name)
    if structure is None or len(structure.kept) != arguments:
        return None
    return structure if structure.out_tree.num_leaves == results else None
