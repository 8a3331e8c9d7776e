# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes of the topology around operations, and findings of passes that validate."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mlir_sdy.diagnostics import PassError, emit, error, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.values import Topology
from mlir_sdy.mpmd.verify import mesh_in, topology_around
from mlir_sdy.verify.violation import ConstraintViolation

_NUMBER = re.compile(r"\d+")


def check_mesh(operation: ir.Operation, name: str) -> None:
    """Check that the topology around an operation has a mesh.

    Raises:
        PassError: it has no mesh of that name.
    """
    try:
        mesh_in(topology_around(operation), name)
    except ConstraintViolation as violation:
        raise PassError(violation.diagnostic(operation)) from None


def topology(operation: ir.Operation) -> Topology:
    """Return the topology around an operation, which has one."""
    return topology_around(operation)


def report(operation: ir.Operation, message: str, *, fails: bool) -> None:
    """Report a finding at an operation, as an error or as a warning.

    Raises:
        PassError: the finding is an error.
    """
    place = location_of(operation.location)
    if fails:
        raise PassError(error(message, place))
    emit(warning(message, place))


def in_order_of_chain(names: Iterable[str]) -> list[str]:
    """Return meshes in the order of a chain of transfers: by their number, else by name."""

    def key(name: str) -> tuple[int, int, str]:
        number = _NUMBER.search(name)
        return (1, 0, name) if number is None else (0, int(number[0]), name)

    return sorted(names, key=key)
