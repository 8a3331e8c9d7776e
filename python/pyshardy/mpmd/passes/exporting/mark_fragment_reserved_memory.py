# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-mark-fragment-reserved-memory`."""

from __future__ import annotations

import functools
from collections import Counter

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    RESERVED_BYTES,
    TRANSFER,
    body_of,
    mesh_name_of,
    mesh_type,
)
from pyshardy.mpmd.rewriting.functions import (
    argument_attributes,
    mpmd_functions,
    top_level_operations,
)
from pyshardy.mpmd.rewriting.lifetimes import DONATED, last_users, shard_bytes
from pyshardy.mpmd.rewriting.meshes import topology
from pyshardy.mpmd.rewriting.regions import is_used
from pyshardy.pipeline import register_pass


@register_pass("mpmd-mark-fragment-reserved-memory", release="0.10.2")
def mark_fragment_reserved_memory(module: ir.Module) -> None:
    """Mark fragments with the bytes that other values of the mesh take while they run.

    Raises:
        PassError: the program has other operations than fragments and transfers.
    """
    for function in mpmd_functions(module):
        _mark(function)


def _mark(function: ir.Operation) -> None:
    meshes, last = topology(function), last_users(function)
    live: Counter[str] = Counter()

    @functools.cache
    def bytes_of(found: ir.Type) -> tuple[str, int] | None:
        """Return the mesh of a type and the bytes on a device; None without a mesh."""
        if not isinstance(found, MeshTensorType):
            return None
        return found.mesh_name, shard_bytes(found, meshes)

    def add(value: ir.Value, sign: int = 1) -> None:
        if (found := bytes_of(value.type)) is not None:
            mesh, nbytes = found
            live[mesh] += sign * nbytes

    kept: set[ir.Value] = set()
    given = argument_attributes(function)
    for argument, attributes in zip(body_of(function).arguments, given, strict=True):
        is_donated = DONATED in attributes
        if not is_donated:
            kept.add(argument)
        if is_used(argument) or not is_donated:
            add(argument)
    for operation in top_level_operations(function):
        if operation.name not in (FRAGMENT, TRANSFER):
            message = f"'{operation.name}' op is neither a fragment nor a transfer"
            raise PassError(error(message, location_of(operation.location)))
        operands = set(operation.operands)
        if operation.name == FRAGMENT:
            mesh = mesh_name_of(operation)
            for value in filter(_is_on_device, operands):
                add(value, -1)
            number = ir.IntegerType.get_signless(64, function.context)
            set_discardable(operation, RESERVED_BYTES, ir.IntegerAttr.get(number, live[mesh]))
            for value in filter(_is_on_device, operands):
                add(value)
        for result in operation.results:
            if is_used(result):
                add(result)
        for value in operands - kept:
            if last[value] == operation:
                add(value, -1)


def _is_on_device(value: ir.Value) -> bool:
    found = mesh_type(value)
    return found is not None and not found.is_on_host
