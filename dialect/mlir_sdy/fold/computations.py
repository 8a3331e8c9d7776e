# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simplification of manual computations: unused arguments and trivial computations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of, value_of
from mlir_sdy.discardable import set_discardable
from mlir_sdy.fold.pattern import Pattern, is_used
from mlir_sdy.host import ir, rewrite
from mlir_sdy.model import TensorSharding, TensorShardingPerValue, common_mesh
from mlir_sdy.ods.irdl_groups import OPERAND_SIZES, RESULT_SIZES
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.values import manual_axes

_OWN = frozenset({"in_shardings", "out_shardings", "manual_axes", OPERAND_SIZES, RESULT_SIZES})


def drop_unused_inputs(
    computation: sdy.ManualComputationOp, rewriter: rewrite.PatternRewriter
) -> bool:
    """Unused arguments of the body are erased, with their operands and shardings."""
    body = computation.regions[0].blocks[0]
    used = [is_used(argument) for argument in body.arguments]
    if all(used):
        return False
    in_shardings = value_of(computation.in_shardings).shardings
    with rewriter.ip, computation.location:
        smaller = sdy.ManualComputationOp(
            [result.type for result in computation.results],
            [value for value, kept in zip(computation.operands, used, strict=True) if kept],
            attribute_of(
                TensorShardingPerValue(
                    tuple(each for each, kept in zip(in_shardings, used, strict=True) if kept)
                )
            ),
            computation.out_shardings,
            computation.manual_axes,
        ).operation
    for name, attribute in computation.attributes.items():
        if name not in _OWN:
            set_discardable(smaller, name, attribute)
    body.append_to(smaller.regions[0])
    for index in reversed(range(len(used))):
        if not used[index]:
            body.erase_argument(index)
    rewriter.replace_op(computation.operation, smaller)
    return True


def inline_on_one_device(
    computation: sdy.ManualComputationOp, rewriter: rewrite.PatternRewriter
) -> bool:
    """A computation is inlined if its manual axes have one device.

    1. A computation without values whose body is empty is erased, for any manual axes.
    2. If the sizes of its manual axes are all 1, or there are no values, the body is inlined. The
       shardings of operands and results are dropped.
    """
    in_shardings, out_shardings = (
        value_of(attribute).shardings
        for attribute in (computation.in_shardings, computation.out_shardings)
    )
    body = computation.regions[0].blocks[0]
    if in_shardings or out_shardings:
        axes = manual_axes(computation.operation)
        if (
            axes
            and _devices_along(axes, computation.operation, (*in_shardings, *out_shardings)) != 1
        ):
            return False
    # The moved operations are in the block before, and their outside uses are those of the results.
    *inner, terminator = [view.operation for view in body.operations]
    for argument, operand in zip(body.arguments, computation.operands, strict=True):
        argument.replace_all_uses_with(operand)
    for operation in inner:
        operation.move_before(computation.operation)
    returned = list(terminator.operands)
    if returned:
        rewriter.replace_op(computation.operation, returned)
    else:
        rewriter.erase_op(computation.operation)
    return True


def _devices_along(
    axes: Sequence[str], computation: ir.Operation, shardings: Iterable[TensorSharding]
) -> int | None:
    """Return the number of devices along manual axes; None without a mesh."""
    module = enclosing_module(computation)
    meshes = {} if module is None else meshes_of(module)
    written = common_mesh(shardings, meshes)
    mesh = meshes.get(written) if isinstance(written, str) else written
    return None if mesh is None else math.prod(map(mesh.axis_size, axes))


PATTERNS = (
    Pattern(sdy.ManualComputationOp, drop_unused_inputs),
    Pattern(sdy.ManualComputationOp, inline_on_one_device),
)
