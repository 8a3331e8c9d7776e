# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The unpartitioned program, as the reference for partitioned ones."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.uses import replace_by
from mlir_sdy.verify import verify
from pyshardy.irtools.functions import replace_by_body
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import INTERFACE, ConstantView

_PASS_THROUGH = frozenset(
    f"sdy.{name}"
    for name in (
        "sharding_constraint",
        "reshard",
        "propagation_barrier",
        "data_flow_edge",
        "func_data_flow_edge",
        "all_gather",
        "all_reduce",
        "all_slice",
        "all_to_all",
        "collective_permute",
        "reduce_scatter",
        "replicated_to_unreduced",
        "sharded_to_unreduced",
    )
)
"""Operations that change the sharding of a value, but not its global contents."""


def unsharded(module: ir.Module) -> ir.Module:
    """Return a copy of a module without the sdy dialect: the same function on one device.

    Raises:
        PassError: the module has an `sdy.manual_computation`, whose body is a local program.
    """
    copy = copy_of(module)
    operations: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        operations.append(operation)
        return ir.WalkResult.ADVANCE

    # Post-order, so that the body of a computation is done when it is inlined.
    copy.operation.walk(visit, ir.WalkOrder.POST_ORDER)
    for operation in operations:
        _unshard(operation)
    verify(copy)
    return copy


def _unshard(operation: ir.Operation) -> None:
    name = operation.name
    if name == "func.func":
        _drop_attributes_of_interface(operation)
    if name in _PASS_THROUGH:
        replace_by(operation, operation.operands[0])
    elif name in ("sdy.mesh", "sdy.sharding_group"):
        operation.erase()
    elif name == "sdy.constant":
        _replace_constant(operation)
    elif name == "sdy.named_computation":
        replace_by_body(operation, operation.regions[0].blocks[0])
    elif name == "sdy.manual_computation":
        place = location_of(operation.location)
        message = "a program with 'sdy.manual_computation' has no unpartitioned form"
        advice = "its body is a local program: compare with an equivalent global program"
        raise PassError(error(message, place, [note(advice, place)]))
    else:
        for attribute in [key for key in operation.attributes if key.startswith("sdy.")]:
            remove_discardable(operation, attribute)


def _drop_attributes_of_interface(function: ir.Operation) -> None:
    """Drop the sdy attributes of the arguments and results of a function."""
    for entry in INTERFACE:
        if not entry.is_in(function):
            continue
        kept = [
            ir.DictAttr.get(
                {
                    named.name: named.attr
                    for named in dictionary
                    if not named.name.startswith("sdy.")
                },
                function.context,
            )
            for dictionary in entry.of(function)
        ]
        entry.set_on(function, kept)


def _replace_constant(operation: ir.Operation) -> None:
    with operation.location, ir.InsertionPoint(operation):
        literal = ConstantView(operation).value
        constant = StablehloBuilder().literal(literal, operation.results[0].type)
    replace_by(operation, constant)
