# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-validate-no-reshards`."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.reading import FRAGMENT_CALL, body_of, operations_of
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import FailOnReshards
from pyshardy.mpmd.rewriting.meshes import report
from pyshardy.pipeline import register_pass


@register_pass("mpmd-validate-no-reshards", release="0.10.2")
def validate_no_reshards(
    module: ir.Module, *, fail_on_reshard_only_fragments: FailOnReshards = False
) -> None:
    """Report fragments that only return their arguments, with other shardings.

    Raises:
        PassError: there is one, and it is an error.
    """
    for call in copying_calls(module):
        report(call, message_of(call), fails=fail_on_reshard_only_fragments)


def copying_calls(module: ir.Module) -> list[ir.Operation]:
    """Return the calls of fragments that only return their arguments."""
    functions = {symbol_name(each): each for each in functions_of(module)}
    calls = operations_named({FRAGMENT_CALL}, module)
    return [each for each in calls if len(operations_of(body_of(functions[callee_of(each)]))) == 1]


def changes_sharding(call: ir.Operation) -> bool:
    """Whether a copying call returns a value with a sharding that it takes no value with."""
    taken, returned = (
        {MeshTensorType(value.type).replaced(memory_kind=None) for value in values}
        for values in (call.operands, call.results)
    )
    return not returned <= taken


def message_of(call: ir.Operation) -> str:
    """Return the message of a copying call."""
    return (
        f"Detected reshard-only fragment '{callee_of(call)}'. This usually indicates an unexpected "
        f"reshard. Operands: {_listed(call.operands)}. Results: {_listed(call.results)}"
    )


def _listed(values: Iterable[ir.Value]) -> str:
    texts: list[str] = []
    for value in values:
        found = MeshTensorType(value.type)
        sharding = found.sharding
        how = "Replicated" if sharding is None else f"#sdy.sharding{value_of(sharding)}"
        texts.append(f"{how} {str(found.global_type).removeprefix('tensor')}")
    return ", ".join(texts)
