# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Questions of traced functions for shardings, by `jax.debug.inspect_array_sharding`.

A module has a custom call for each, with the address of an object in the process that traced it:

    %0 = stablehlo.custom_call @InspectSharding(%x) {backend_config = "...", ...}

XLA's partitioner would call the object, but it gets local programs, in which nothing is sharded.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import get_sharding, rank_of
from pyshardy.backends.jax_internals import Inspection, inspections
from pyshardy.frontends.jax.callbacks import is_of_this_process, name_process
from pyshardy.frontends.jax.meshes import abstract_mesh, sharding_for_jax
from pyshardy.irtools.stablehlo_views import CustomCallView, callee_of, target_of
from pyshardy.local_program.custom_calls import CUSTOM_CALL, INSPECTION
from pyshardy.local_program.front_end_hooks import before_partitioning

ATTRIBUTE = "jax.inspections"
_known: dict[bytes, Inspection] = {}
"""The functions that are told shardings. They live as long as the process, as their addresses are
the keys."""


def remember_inspections(kept: Sequence[Any], module: ir.Module) -> None:
    """Register the functions that a module and programs derived from it tell shardings.

    Args:
        kept: the objects that JAX keeps alive with a lowered function.
        module: the module of that function.
    """
    found = inspections(kept)
    if found:
        _known.update(found)
        name_process(module, ATTRIBUTE)


@before_partitioning(ATTRIBUTE)
def answer_inspections(entry: ir.Operation, module: ir.Module) -> None:
    """Tell the functions that are registered in this process the shardings that they ask for.

    A function that is called several times asks each time. Axes that a manual computation takes
    are no part of the shardings in it.

    Args:
        entry: the function that the program begins with.
        module: a program whose shardings have been propagated.

    Raises:
        Exception: a function raised it.
    """
    if is_of_this_process(module, ATTRIBUTE):
        _answer(entry, ir.SymbolTable(module.operation), meshes_of(module))


def _answer(function: ir.Operation, symbols: ir.SymbolTable, meshes: Mapping[str, Mesh]) -> None:
    for view in operations_in(function):
        operation = view.operation
        if operation.name == "func.call":
            _answer(symbols[callee_of(operation)].operation, symbols, meshes)
        elif operation.name == CUSTOM_CALL and target_of(operation) == INSPECTION:
            key: Any = CustomCallView(operation).backend_config
            known = _known.get(ir.StringAttr(key).value_bytes)
            if known is not None:
                _tell(known, operation.operands[0], meshes)


def _tell(known: Inspection, value: ir.Value, meshes: Mapping[str, Mesh]) -> None:
    sharding, rank = get_sharding(value), rank_of(value.type)
    mesh = None if sharding is None else mesh_of(sharding, meshes)
    in_jax = abstract_mesh(mesh or next(iter(meshes.values())))
    known(sharding_for_jax(sharding, rank, meshes, in_jax), rank)
