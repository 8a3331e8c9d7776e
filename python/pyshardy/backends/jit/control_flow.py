# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of StableHLO's loops and branches to MLIR's `scf` dialect, on the same tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from pyshardy.irtools.walks import operations_named


def use_scf(module: ir.Module) -> None:
    """Replace all `stablehlo.while`, `if` and `case`, in place."""
    convert = {
        "stablehlo.while": _while_to_scf,
        "stablehlo.if": _if_to_scf,
        "stablehlo.case": _case_to_scf,
    }
    # Inner ones first, before the regions around them move.
    for operation in operations_named(convert, module, ir.WalkOrder.POST_ORDER):
        with operation.context, operation.location, ir.InsertionPoint(operation):
            replacement = convert[operation.name](operation)
        for old, new in zip(operation.results, replacement.results, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()


def _while_to_scf(loop: ir.Operation) -> ir.Operation:
    """Build `scf.while`, whose condition passes its arguments to the body."""
    condition, body = loop.regions
    replacement = _create("scf.while", loop, list(loop.operands), regions=2)
    for source, target in zip((condition, body), replacement.regions, strict=True):
        source.blocks[0].append_to(target)
    before, after = (region.blocks[0] for region in replacement.regions)
    goes_on = _returned(before)[0]
    with ir.InsertionPoint(_terminator(before)):
        ir.Operation.create("scf.condition", operands=[_scalar(goes_on), *before.arguments])
    _terminator(before).erase()
    _yield(after)
    return replacement


def _if_to_scf(branches: ir.Operation) -> ir.Operation:
    choice = _scalar(branches.operands[0])
    replacement = _create("scf.if", branches, [choice], regions=2)
    _move_branches(branches.regions, replacement.regions)
    return replacement


def _case_to_scf(branches: ir.Operation) -> ir.Operation:
    """Build `scf.index_switch`; the last branch is the default."""
    index = ir.Operation.create(
        "arith.index_cast",
        results=[ir.IndexType.get()],
        operands=[_scalar(branches.operands[0])],
    ).result
    *others, last = branches.regions
    cases = {"cases": ir.DenseI64ArrayAttr.get(list(range(len(others))))}
    replacement = _create(
        "scf.index_switch", branches, [index], cases, regions=len(branches.regions)
    )
    _move_branches([last, *others], replacement.regions)
    return replacement


def _create(
    name: str,
    original: ir.Operation,
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute] | None = None,
    *,
    regions: int,
) -> ir.Operation:
    return ir.Operation.create(
        name,
        results=[result.type for result in original.results],
        operands=list(operands),
        attributes=dict(attributes or {}),
        regions=regions,
    )


def _move_branches(sources: Sequence[ir.Region], targets: Sequence[ir.Region]) -> None:
    for source, target in zip(sources, targets, strict=True):
        source.blocks[0].append_to(target)
        _yield(target.blocks[0])


def _scalar(tensor: ir.Value) -> ir.Value:
    """The element of a tensor of rank 0."""
    element = ir.RankedTensorType(tensor.type).element_type
    return ir.Operation.create("tensor.extract", results=[element], operands=[tensor]).result


def _yield(block: ir.Block) -> None:
    """Replace the return of a block by `scf.yield`."""
    terminator = _terminator(block)
    with ir.InsertionPoint(terminator), terminator.location:
        ir.Operation.create("scf.yield", operands=list(terminator.operands))
    terminator.erase()


def _terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def _returned(block: ir.Block) -> list[ir.Value]:
    return list(_terminator(block).operands)
