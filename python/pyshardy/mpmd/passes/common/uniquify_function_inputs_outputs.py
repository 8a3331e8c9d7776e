# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-uniquify-function-inputs-outputs`."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.host import ir
from mlir_sdy.mpmd.building import transfer
from mlir_sdy.mpmd.reading import body_of, mesh_type, returned_values
from mlir_sdy.traversal import terminator_of
from pyshardy.mpmd.rewriting.functions import mpmd_functions, set_returned
from pyshardy.mpmd.rewriting.marks import copies
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help

_MARK = "uniquify"


@register_pass("mpmd-uniquify-function-inputs-outputs", release="0.10.2")
def uniquify_function_inputs_outputs(
    module: ir.Module,
    *,
    use_transfer_instead_of_fragment: Annotated[
        bool, Help("whether to copy by a transfer on the mesh instead of a fragment")
    ] = False,
) -> None:
    """Copy values that are returned twice, and arguments that are returned.

    Each result of a function is then a value of its own, which a result can alias. The copy is a
    fragment on each mesh that returns its arguments, or a transfer of equal types.
    """
    for function in mpmd_functions(module):
        values = returned_values(function)
        by_mesh: dict[str, dict[ir.Value, list[int]]] = {}
        for index, value in enumerate(values):
            found = mesh_type(value)
            others = values[: index + 1] if use_transfer_instead_of_fragment else values
            is_own = others.count(value) == 1 and not isinstance(value, ir.BlockArgument)
            if found is not None and not is_own:
                by_mesh.setdefault(found.mesh_name, {}).setdefault(value, []).append(index)
        terminator = terminator_of(body_of(function))
        for mesh, indices in by_mesh.items():
            copied = [value for value, places in indices.items() for _ in places]
            with ir.InsertionPoint(terminator), terminator.location:
                if use_transfer_instead_of_fragment:
                    made = [transfer(value, value.type) for value in copied]
                else:
                    made = copies(copied, mesh, _MARK)
            places = [index for several in indices.values() for index in several]
            for index, copy in zip(places, made, strict=True):
                values[index] = copy
        if by_mesh:
            set_returned(function, values)
