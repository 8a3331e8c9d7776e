# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Canonicalization of the operations of the mpmd dialect, as rewrite patterns."""

from __future__ import annotations

from mlir_sdy.fold.pattern import Pattern
from mlir_sdy.host import ir, rewrite
from mlir_sdy.mpmd.building import create
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    TRANSFER,
    body_of,
    mesh_type,
    producer,
    returned_values,
)
from mlir_sdy.mpmd.values import MeshReduction
from mlir_sdy.mpmd.verify import reduction_of


class _Transfer(ir.OpView):
    OPERATION_NAME = TRANSFER


class _Broadcast(ir.OpView):
    OPERATION_NAME = "mpmd.broadcast"


class _Reduce(ir.OpView):
    OPERATION_NAME = "mpmd.reduce"


class _Fragment(ir.OpView):
    OPERATION_NAME = FRAGMENT


def fold_transfer(view: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
    """A transfer to the type that the value has is the value."""
    operation = view.operation
    if operation.operands[0].type != operation.results[0].type:
        return False
    rewriter.replace_op(operation, [operation.operands[0]])
    return True


def merge_transfers_on_mesh(view: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
    """A transfer of a transfer, all on one mesh, is a single transfer."""
    operation = view.operation
    inner = producer(operation.operands[0], TRANSFER)
    if inner is None:
        return False
    values = (inner.operands[0], inner.results[0], operation.results[0])
    if len({found.mesh_name for value in values if (found := mesh_type(value))}) != 1:
        return False
    with rewriter.ip, operation.location:
        merged = create(TRANSFER, [operation.results[0].type], [inner.operands[0]])
    rewriter.replace_op(operation, merged)
    return True


def fold_broadcast(view: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
    """A broadcast of a broadcast is the inner one."""
    operation = view.operation
    if producer(operation.operands[0], "mpmd.broadcast") is None:
        return False
    rewriter.replace_op(operation, [operation.operands[0]])
    return True


def fold_reduce(view: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
    """A reduction of a reduction of the same kind is the inner reduction; so is the kind `none`."""
    operation = view.operation
    if len(operation.operands) != 1:
        return False
    inner = producer(operation.operands[0], "mpmd.reduce")
    if inner is None:
        return False
    if reduction_of(operation) not in (MeshReduction.NONE, reduction_of(inner)):
        return False
    rewriter.replace_op(operation, [operation.operands[0]])
    return True


def forward_operands(view: ir.OpView, _: rewrite.PatternRewriter) -> bool:
    """A result of a fragment that is an argument of it, of the same type, is the operand."""
    operation = view.operation
    body = body_of(operation)
    changed = False
    for result, value in zip(operation.results, returned_values(operation), strict=True):
        if not isinstance(value, ir.BlockArgument) or value.owner != body:
            continue
        operand = operation.operands[value.arg_number]
        if operand.type == result.type and next(iter(result.uses), None) is not None:
            result.replace_all_uses_with(operand)
            changed = True
    return changed


PATTERNS = (
    Pattern(_Transfer, fold_transfer),
    Pattern(_Transfer, merge_transfers_on_mesh),
    Pattern(_Broadcast, fold_broadcast),
    Pattern(_Reduce, fold_reduce),
    Pattern(_Fragment, forward_operands),
)
"""All patterns, which are tried in this order."""
