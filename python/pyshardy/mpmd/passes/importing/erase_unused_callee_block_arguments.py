# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-erase-unused-callee-block-arguments`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import body_of, is_mpmd_function, returned_values
from pyshardy.mpmd.rewriting.functions import (
    called_functions,
    calls_by_callee,
    erase_arguments,
    erase_results,
)
from pyshardy.mpmd.rewriting.regions import is_used, with_call_values
from pyshardy.pipeline import register_pass


@register_pass("mpmd-erase-unused-callee-block-arguments", release="0.10.2")
def erase_unused_callee_block_arguments(module: ir.Module) -> None:
    """Erase arguments of callees that only the return uses.

    Arguments without a use are erased, too. A result that returns an argument is replaced by the
    operand of the call. A callee without a topology, or whose results nothing uses, stays as it is;
    if it has no results left, it vanishes with its calls.
    """
    calls = calls_by_callee(module)
    for name, function in called_functions(module).items():
        results = [result for call in calls[name] for result in call.results]
        if not is_mpmd_function(function) or not any(map(is_used, results)):
            continue
        body, returned = body_of(function), returned_values(function)
        erased = {
            argument.arg_number: argument
            for argument in body.arguments
            if all(use.owner.operation.name == "func.return" for use in argument.uses)
        }
        if not erased:
            continue
        dropped: dict[int, int] = {}
        for index, value in enumerate(returned):
            if isinstance(value, ir.BlockArgument) and value.arg_number in erased:
                dropped[index] = value.arg_number
        erase_results(function, dropped)
        erase_arguments(function, erased)
        for call in calls[name]:
            for index, argument in dropped.items():
                call.results[index].replace_all_uses_with(call.operands[argument])
            if len(dropped) == len(returned):
                call.erase()
                continue
            with_call_values(
                call,
                [each for at, each in enumerate(call.operands) if at not in erased],
                [index for index in range(len(call.results)) if index not in dropped],
            )
        if len(dropped) == len(returned):
            function.erase()
