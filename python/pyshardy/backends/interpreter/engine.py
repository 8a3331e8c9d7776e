# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The StableHLO reference interpreter as a local engine: slow, and correct by definition."""

from __future__ import annotations

import math

from mlir_sdy.diagnostics import Diagnostic, error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.uses import replace_by
from pyshardy.backends.custom_calls import TRANSFER_ADVICE, TRANSFERS
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.decompositions.tensors import Tensor, constant
from pyshardy.backends.engines.child_engine import ChildEngine
from pyshardy.backends.registry import CompileOptions
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.custom_calls import CUSTOM_CALL, advice_on
from pyshardy.local_program.errors import ExecutionError

_WORKER = ("-m", "pyshardy.backends.interpreter.worker")
_LACKED = (
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "cholesky",
    "convert",
    "convolution",
    "divide",
    "dot_general",
    "fft",
    "remainder",
    "select_and_scatter",
    "triangular_solve",
)
"""Operations that it lacks, supports for some types or layouts only, or computes incorrectly.

It adds the initial value of a select-and-scatter once for each window that selects an element,
rounds each sum in a product of narrow numbers, and ends at a division of integers by zero.
"""

_PRODUCT = "stablehlo.dot_general"
_RNG = (
    "pass the random numbers in as an argument; for dropout of PyTorch, trace the module after "
    "'model.eval()'"
)
_DOT = "use stablehlo.dot_general"
_ADVICE: dict[str, str] = {
    "stablehlo.rng": _RNG,
    "stablehlo.rng_bit_generator": _RNG,
    "stablehlo.dot": _DOT,
    "stablehlo.einsum": _DOT,
    "stablehlo.unary_einsum": _DOT,
    "stablehlo.broadcast": "use stablehlo.broadcast_in_dim",
    "stablehlo.torch_index_select": "use stablehlo.gather",
    "stablehlo.create_token": "use stablehlo.after_all",
    **dict.fromkeys(TRANSFERS, TRANSFER_ADVICE),
    **dict.fromkeys(
        (
            "stablehlo.all_gather",
            "stablehlo.all_reduce",
            "stablehlo.all_to_all",
            "stablehlo.collective_broadcast",
            "stablehlo.collective_permute",
            "stablehlo.collective_reduce",
            "stablehlo.reduce_scatter",
            "stablehlo.cross-replica-sum",
            "stablehlo.partition_id",
            "stablehlo.replica_id",
        ),
        "it needs several devices: it is supported in functions, stablehlo.while, stablehlo.if and "
        "stablehlo.case only",
    ),
}
_DIALECTS = ("stablehlo", "func", "builtin")


class InterpreterEngine(ChildEngine):
    """Runs programs in a child process that holds the reference interpreter.

    Args:
        options: ignored.
    """

    def __init__(self, options: CompileOptions | None = None) -> None:
        del options
        super().__init__("the reference interpreter", _WORKER, _lowered)


def _lowered(module: ir.Module) -> ir.Module:
    lowered = _without_empty_products(decomposed(module, _LACKED))
    check_supported(lowered)
    return lowered


# --- Programs at which the interpreter aborts ----------------------------------------------------


def _without_empty_products(module: ir.Module) -> ir.Module:
    """Return a program with zeros for products whose contracted dimensions have no elements.

    The interpreter aborts at these, such as that of a `tensor<3x0xf32>` and a `tensor<0x2xf32>`.

    The module isn't changed, and is the result if there is nothing to do.
    """
    if not any(map(_is_empty, operations_named({_PRODUCT}, module))):
        return module
    copy = copy_of(module)
    for product in operations_named({_PRODUCT}, copy):
        if _is_empty(product):
            result = Tensor(product.results[0])
            with product.context, product.location, ir.InsertionPoint(product):
                zeros = constant(0, result.element, result.shape)
            replace_by(product, zeros.value)
    return copy


def _is_empty(product: ir.Operation) -> bool:
    """Whether a product has elements, and its operands have none."""
    count = math.prod(Tensor(product.results[0]).shape)
    return count > 0 and any(0 in Tensor(operand).shape for operand in product.operands)


def check_supported(module: ir.Module) -> None:
    """Raise an error for each operation that the reference interpreter can't run.

    Raises:
        ExecutionError: there are such operations.
    """
    found: list[Diagnostic] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        name = operation.name
        advice = _ADVICE.get(name)
        if name == CUSTOM_CALL:
            advice = advice_on(target_of(operation))
        elif advice is None and name.partition(".")[0] not in _DIALECTS:
            advice = "lower the program to StableHLO"
        if advice is not None:
            message = f"the reference interpreter can't run '{name}'"
            place = location_of(operation.location)
            found.append(error(message, place, [note(advice, place)]))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    if found:
        raise ExecutionError(*found)
