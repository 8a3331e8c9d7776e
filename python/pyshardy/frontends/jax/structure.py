# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which trees of arrays a function of JAX takes and gives, kept with its module.

A module has plain lists of arguments and results. How they make up dictionaries, tuples and objects
of the user's own classes is known to this process only; the module names it by an attribute, which
copies and passes leave alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_sdy.discardable import text_of
from mlir_sdy.host import ir

_ATTRIBUTE = "jax.structure"
_known: dict[str, Structure] = {}


@dataclass(frozen=True)
class Structure:
    """How arguments and results make up trees, and where they were to be.

    Attributes:
        in_tree: the `PyTreeDef` of `(args, kwargs)`.
        out_tree: the `PyTreeDef` of the result.
        kept: which of the leaves of `in_tree` are arguments; the function doesn't use the others.
        keys: the generators of those results that are keys of random numbers; see `random_keys`.
        mesh: the mesh for which it was traced, if that had devices.
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
    """Let `module`, and what becomes of it, be known to have this structure."""
    text = str(structure)
    count = 1
    # Classes may share a name; what the text doesn't tell apart gets a number.
    while _known.setdefault(text, structure) != structure:
        count += 1
        text = f"{structure} ({count})"
    module.operation.attributes[_ATTRIBUTE] = ir.StringAttr.get(text, module.context)


def structure_of(module: ir.Module, *, arguments: int, results: int) -> Structure | None:
    """The structure of a module with so many arguments and results.

    None if the module comes from elsewhere, or has other arguments or results by now.
    """
    name = text_of(module.operation.attributes, _ATTRIBUTE)
    structure = None if name is None else _known.get(name)
    if structure is None or len(structure.kept) != arguments:
        return None
    return structure if structure.out_tree.num_leaves == results else None
