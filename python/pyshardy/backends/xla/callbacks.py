# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls of XLA that functions in this process implement.

In the process of XLA, a callback of JAX replaces each such call. It asks this process during a run
(see `worker.Parent.ask`), so functions need not be pickled: they may be closures, be defined in a
script, and have side effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mlir_sdy.diagnostics import SdyError
from mlir_sdy.host import ir
from mlir_sdy.values import rank_of
from pyshardy.backends.custom_calls import Function, results_of
from pyshardy.irtools.stablehlo_views import CustomCallView
from pyshardy.irtools.tokens import is_token
from pyshardy.local_program.custom_calls import CustomCall, calls_to, described, take_plain_arrays
from pyshardy.local_program.segments import CONTROL_FLOW, misplaced
from pyshardy.local_program.tensor_spec import Array

_TARGET = "xla_ffi_python_{platform}_callback"
_HOLDERS = CONTROL_FLOW | {"func.func", "builtin.module"}


class _Callback(NamedTuple):
    """A call, and which of its results are tokens."""

    call: CustomCall
    tokens: Sequence[bool]


class Callbacks:
    """The calls of a program with the functions that implement them.

    Args:
        calls: the calls, indexed by callback number.
        functions: the functions, by targets.
    """

    def __init__(self, calls: Sequence[_Callback], functions: Mapping[str, Function]):
        self._calls = tuple((each, functions[each.call.target]) for each in calls)
        self._failure: SdyError | None = None

    def __len__(self) -> int:
        return len(self._calls)

    def answer(self, question: tuple[int, Sequence[Array]]) -> list[Array | None]:
        """Return the results of a call, None for a token.

        After a function has failed, the results are zeros and the run continues: if one device
        stopped, the others would wait at the next collective.

        Args:
            question: the number of the call, and the arrays of its operands.
        """
        number, arrays = question
        (call, tokens), function = self._calls[number]
        results: list[Array] | None = None
        if self._failure is None:
            try:
                results = results_of(function, call, arrays)
            except SdyError as failure:
                self._failure = failure
        if results is None:
            results = [np.zeros(spec.shape, spec.dtype) for spec in call.results]
        remaining = iter(results)
        return [None if each else next(remaining) for each in tokens]

    def check(self) -> None:
        """Raise the failure of a function since the last check, if there is one."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure


def call_back(module: ir.Module, functions: Mapping[str, Function], platform: str) -> Callbacks:
    """Replace the custom calls that functions implement by callbacks.

    Args:
        module: a local program. It is changed.
        functions: the functions, by targets.
        platform: where the program runs: `cpu` or `gpu`.

    Raises:
        UsageError: an operand or result has a type without a NumPy equivalent.
        ExecutionError: a call is in a body that XLA inlines into another operation.
    """
    take_plain_arrays(module, functions)
    calls: list[_Callback] = []
    for operation in calls_to(functions, module):
        _check_place(operation)
        call = described(operation)
        with operation.context, operation.location, ir.InsertionPoint(operation):
            callback = ir.Operation.create(
                operation.name,
                results=[result.type for result in operation.results],
                operands=list(operation.operands),
                attributes=_attributes(operation, len(calls), platform),
            )
        for old, new in zip(operation.results, callback.results, strict=True):
            old.replace_all_uses_with(new)
        calls.append(_Callback(call, [is_token(each.type) for each in operation.results]))
        operation.erase()
    return Callbacks(calls, functions)


def _check_place(operation: ir.Operation) -> None:
    parent = operation.parent
    while parent is not None:
        outer = parent.operation
        if outer.name not in _HOLDERS:
            raise misplaced(operation, outer)
        parent = outer.parent


def _attributes(operation: ir.Operation, number: int, platform: str) -> dict[str, ir.Attribute]:
    config = ir.Attribute.parse(f"{{index = {number} : ui64}}")
    attributes: dict[str, ir.Attribute] = {
        "call_target_name": ir.StringAttr.get(_TARGET.format(platform=platform)),
        "api_version": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
        "backend_config": config,
        "operand_layouts": _row_major(operation.operands),
        "result_layouts": _row_major(operation.results),
    }
    effect = CustomCallView.has_side_effect
    if effect.is_in(operation):
        attributes[effect.name] = ir.BoolAttr.get(effect.of(operation))
    return attributes


def _row_major(values: Iterable[ir.Value]) -> ir.Attribute:
    """The order of dimensions in memory, the fastest first, that NumPy's arrays have."""
    orders = [list(reversed(range(rank_of(value.type) or 0))) for value in values]
    texts = [f"dense<{order or ''}> : tensor<{len(order)}xindex>" for order in orders]
    return ir.Attribute.parse(f"[{', '.join(texts)}]")
