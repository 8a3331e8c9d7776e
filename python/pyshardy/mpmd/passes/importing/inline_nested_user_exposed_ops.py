# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-inline-nested-user-exposed-ops`."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import NAMED_COMPUTATION, body_of, name_of
from mlir_sdy.uses import replace_by
from pyshardy.irtools.functions import replace_by_body
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import NameAssignment, read_assignment
from pyshardy.pipeline import register_pass

_IDENTITIES = ("mpmd.named_tensor", "mpmd.broadcast", "mpmd.reduce")


@register_pass("mpmd-inline-nested-user-exposed-ops", release="0.10.2")
def inline_nested_user_exposed_ops(module: ir.Module, *, assignment: NameAssignment = ()) -> None:
    """Inline what is named inside of named computations.

    A named computation inside of another, on the same mesh and stage, is inlined. Named tensors,
    broadcasts and reductions there vanish.

    Raises:
        PassError: the outer computation has no mesh, or an inner name has another mesh or stage.
    """
    meshes = read_assignment(assignment)
    nested = operations_named({NAMED_COMPUTATION, *_IDENTITIES}, module, ir.WalkOrder.POST_ORDER)
    for operation in nested:
        parent = None if operation.parent is None else operation.parent.operation
        if parent is None or parent.name != NAMED_COMPUTATION:
            continue
        outer, place = name_of(parent), location_of(operation.location)
        if outer not in meshes:
            message = (
                f"Parent NamedComputation '{outer}' is not assigned to a mesh in the user-defined "
                "name-to-mesh assignment."
            )
            raise PassError(error(message, location_of(parent.location)))
        if operation.name == NAMED_COMPUTATION:
            inner = name_of(operation)
            own = meshes.get(inner)
            if own is not None and own[:2] != meshes[outer][:2]:
                message = (
                    f"NamedComputation '{inner}' is nested in a NamedComputation '{outer}' which "
                    "has a different mesh or stage assignment."
                )
                raise PassError(error(message, place))
            replace_by_body(operation, body_of(operation))
            continue
        if operation.name == "mpmd.named_tensor":
            inner = name_of(operation)
            own = meshes.get(inner)
            if own is not None and own.mesh != meshes[outer].mesh:
                message = (
                    f"NamedTensor '{inner}' is nested in a NamedComputation '{outer}' which has a "
                    "different mesh assignment."
                )
                raise PassError(error(message, place))
        if len(operation.operands) == 1:
            replace_by(operation, operation.operands[0])
