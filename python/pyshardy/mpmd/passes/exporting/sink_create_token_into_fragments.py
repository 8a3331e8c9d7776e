# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-sink-create-token-into-fragments`."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import FRAGMENT, body_of
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.regions import with_values
from pyshardy.pipeline import register_pass

_TOKEN = "!stablehlo.token"


@register_pass("mpmd-sink-create-token-into-fragments", release="0.10.2")
def sink_create_token_into_fragments(module: ir.Module) -> None:
    """Create the tokens of fragments inside of them, and return none.

    So effects are ordered within a fragment, but not from one fragment to the next.

    Raises:
        PassError: something other than a fragment uses a token that a fragment returns.
    """
    for function in mpmd_functions(module):
        # The last fragment first, so that no fragment uses the tokens of those before it.
        for fragment in reversed(list(operations_named({FRAGMENT}, function))):
            _sink(fragment)


def _sink(fragment: ir.Operation) -> None:
    body = body_of(fragment)
    operands = [index for index, each in enumerate(fragment.operands) if not _is_token(each)]
    results = [index for index, each in enumerate(fragment.results) if not _is_token(each)]
    for index, result in enumerate(fragment.results):
        if _is_token(result) and (use := next(iter(result.uses), None)) is not None:
            message = f"the token that is result {index} of the fragment is used outside"
            here = note("it is used here", location_of(use.owner.operation.location))
            raise PassError(error(message, location_of(fragment.location), [here]))
    with ir.InsertionPoint.at_block_begin(body), fragment.location:
        for argument in body.arguments:
            if _is_token(argument):
                token = ir.Operation.create("stablehlo.create_token", results=[argument.type])
                argument.replace_all_uses_with(token.results[0])
    with_values(fragment, operands, results)


def _is_token(value: ir.Value) -> bool:
    return str(value.type) == _TOKEN
