# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-rewrite-using-analysis`."""

from __future__ import annotations

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, fragment, return_, unassign
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import (
    ASSIGN,
    FRAGMENT,
    UNASSIGN,
    body_of,
    is_entry_point,
    mesh_type,
    operations_of,
)
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.mpmd.inference.mesh_sets import (
    SRC_SET,
    USE_SET,
    is_meshless,
    operands_with_free_values,
    read_set_of,
)
from pyshardy.mpmd.inference.reductions import REDUCE
from pyshardy.mpmd.inference.signatures import assign_results, place_callee
from pyshardy.mpmd.options import MaxClones
from pyshardy.mpmd.rewriting.functions import (
    calls_by_callee,
    functions_with_bodies,
    mpmd_functions,
)
from pyshardy.mpmd.rewriting.marks import mark_inferred
from pyshardy.mpmd.rewriting.regions import add_operands, replace_inside
from pyshardy.pipeline import register_pass

_KEPT = frozenset({UNASSIGN, "mpmd.broadcast", REDUCE})
WRAPPED = "infer_mesh_wrap_meshless_ops"
"""The mark of fragments that this module makes."""


@register_pass("mpmd-infer-mesh-rewrite-using-analysis", release="0.10.2")
def infer_mesh_rewrite_using_analysis(module: ir.Module, *, max_clones: MaxClones = 1) -> None:
    """Move operations without a mesh into fragments.

    An operation goes into the fragment that uses it, or is copied into each one if it is cheap, or
    gets a fragment of its own on each mesh that uses it. Calls get operands and results on meshes.
    """
    functions = functions_with_bodies(module)
    for function in mpmd_functions(module):
        if not is_entry_point(function):
            assign_results(function, functions)
        _rewrite(function, max_clones)
        calls = calls_by_callee(module).get(symbol_name(function))
        if calls:
            place_callee(function, calls)


def _rewrite(function: ir.Operation, max_clones: int) -> None:
    """Move the operations without a mesh in a function into fragments, the last one first."""
    for operation in reversed(operations_of(body_of(function))):
        if is_meshless(operation) and operation.name not in _KEPT:
            _move_into_fragments(operation, max_clones)


def _move_into_fragments(operation: ir.Operation, max_clones: int) -> None:
    uses = [use.owner.operation for result in operation.results for use in result.uses]
    if not uses:
        if has_effects(operation) or not len(operation.results):
            for mesh in read_set_of(operation, SRC_SET) or {}:
                _wrap(operation, mesh)
                if not has_effects(operation):
                    break
        operation.erase()
        return
    if any(user.name != ASSIGN for user in uses):
        return
    by_mesh: dict[str, list[ir.Operation]] = {}
    for user in reversed(uses):
        target = mesh_type(user.results[0])
        assert target is not None, "it is assigned"
        by_mesh.setdefault(target.mesh_name, []).append(user)
    consumers = {use.owner.operation: None for user in uses for use in user.results[0].uses}
    are_fragments = bool(consumers) and all(each.name == FRAGMENT for each in consumers)
    is_unary = len(operation.operands) == len(operation.results) == 1
    may_clone = (
        len(consumers) <= max(max_clones, 1)
        or not len(operation.operands)
        or (is_unary and not has_effects(operation))
    )
    if are_fragments and may_clone:
        for consumer in consumers:
            _clone_into(operation, consumer)
    else:
        for mesh, assigns in by_mesh.items():
            _wrap(operation, mesh, assigns)
    for user in list(dict.fromkeys(uses)):
        if user.attached and user.operands[0] in operation.results:
            user.erase()
    operation.erase()


def _clone_into(operation: ir.Operation, consumer: ir.Operation) -> None:
    """Copy an operation to the beginning of a fragment that uses its results by assignments."""
    target = consumer
    mesh = _mesh_of(target)
    values = operands_with_free_values(operation)
    tensors = [each for each in dict.fromkeys(values) if isinstance(each.type, ir.RankedTensorType)]
    with ir.InsertionPoint(target), operation.location:
        operands = [assign(each, mesh_tensor(each.type, mesh)) for each in tensors]
    results = {result: index for index, result in enumerate(operation.results)}
    replaced_operands: dict[int, int] = {}
    for index, operand in enumerate(target.operands):
        owner = operand.owner
        if isinstance(owner, ir.Block) or owner.operation.name != ASSIGN:
            continue
        source = owner.operation.operands[0]
        if source in results:
            replaced_operands[index] = results[source]
    kept = [each for at, each in enumerate(target.operands) if at not in replaced_operands]
    built, arguments = add_operands(target, kept, operands, dropped=list(replaced_operands))
    copy = operation.clone(ip=ir.InsertionPoint.at_block_begin(body_of(built))).operation
    _without_sets(copy)
    for value, argument in zip(tensors, arguments.new, strict=True):
        replace_inside(copy, value, argument)
    for argument, result in zip(arguments.dropped, replaced_operands.values(), strict=True):
        argument.replace_all_uses_with(copy.results[result])
    arguments.erase_dropped()


def _wrap(operation: ir.Operation, mesh: str, assigns: list[ir.Operation] | None = None) -> None:
    """Build a fragment with an operation, and replace assignments of its results."""
    values = list(dict.fromkeys(operands_with_free_values(operation)))
    tensors = [each for each in values if isinstance(each.type, ir.RankedTensorType)]
    with ir.InsertionPoint(operation), operation.location:
        operands = [assign(each, mesh_tensor(each.type, mesh)) for each in tensors]
        built = fragment(
            mesh, [mesh_tensor(result.type, mesh) for result in operation.results], operands
        )
        mark_inferred(built, WRAPPED)
        body = body_of(built)
        with ir.InsertionPoint(body):
            copy = operation.clone().operation
            return_(list(copy.results))
    _without_sets(copy)
    for value, argument in zip(tensors, body.arguments, strict=True):
        replace_inside(copy, value, argument)
    with ir.InsertionPoint(operation), operation.location:
        for index, result in enumerate(built.results):
            users = [each for each in assigns or () if each.operands[0] == operation.results[index]]
            if users:
                tensor = unassign(result)
                for user in users:
                    user.operands[0] = tensor


def _without_sets(operation: ir.Operation) -> None:
    remove_discardable(operation, SRC_SET, USE_SET)


def _mesh_of(operation: ir.Operation) -> str:
    found = mesh_type([*operation.results, *operation.operands][0])
    assert found is not None, "the values of fragments are on meshes"
    return found.mesh_name
