# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of a program and of the axes that a user names, before the search."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from pyshardy.irtools.functions import entry_block, functions_of


def check_axes(names: Iterable[str], mesh: Mesh) -> None:
    """Check that a mesh has some axes.

    Raises:
        UsageError: it hasn't.
    """
    for name in names:
        if name not in mesh.axis_names:
            known = ", ".join(f"'{each}'" for each in mesh.axis_names)
            hint = did_you_mean(name, mesh.axis_names) or f"; the mesh has the axes {known}"
            raise UsageError(error(f"the mesh has no axis '{name}'{hint}"))


def check_static_shapes(module: ir.Module) -> None:
    """Check that all tensors of a program have static shapes, on which costs depend.

    Raises:
        UsageError: one hasn't.
    """
    for function in functions_of(module):
        block = entry_block(function)
        for number, argument in enumerate(block.arguments if block is not None else ()):
            _check_type(argument.type, f"argument {number}", function)
    for operation, name in named_operations_in(module, leaving_out=SCALAR_BODIES):
        for result in operation.results:
            _check_type(result.type, f"a result of {name}", operation)


def _check_type(value_type: ir.Type, subject: str, place: ir.Operation) -> None:
    """Check that a type isn't a tensor with a dynamic shape."""
    is_ranked = isinstance(value_type, ir.RankedTensorType)
    is_static = (
        value_type.has_static_shape
        if is_ranked
        else not isinstance(value_type, ir.UnrankedTensorType)
    )
    if not is_static:
        message = f"automatic sharding needs static shapes, but {subject} is a {value_type}"
        advice = "refine the shapes first, such as by tracing with the sizes"
        raise UsageError(error(f"{message}: {advice}", location_of(place.location)))
