# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-mark-offloaded-input-output`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import (
    ARGUMENT_ATTRIBUTES,
    FRAGMENT,
    RESULT_ATTRIBUTES,
    body_of,
    mesh_type,
    producer,
    returned_values,
)
from mlir_sdy.mpmd.values import PINNED_HOST
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import (
    argument_attributes,
    entry_points,
    result_attributes,
)
from pyshardy.mpmd.rewriting.lifetimes import mark_values
from pyshardy.pipeline import register_pass

_KIND = "mhlo.memory_kind"


@register_pass("mpmd-mark-offloaded-input-output", release="0.10.2")
def mark_offloaded_input_output(module: ir.Module) -> None:
    """Mark operands and results of fragments in the memory of the host by `mhlo.memory_kind`.

    A value is in that memory if its type says so; if it is an argument of the function with the
    attribute; or if the fragment returns it from an annotation, a custom call of
    `annotate_device_placement`, or writes such a value into it by `dynamic_update_slice`. The
    attributes of the results of a function must say the same of what it returns.
    """
    for function in entry_points(module):
        on_host = set(_arguments_on_host(function))
        for fragment in operations_named({FRAGMENT}, function):
            for result, value in zip(fragment.results, returned_values(fragment), strict=True):
                if _is_annotated(value):
                    on_host.add(result)
            _mark(fragment, ARGUMENT_ATTRIBUTES, fragment.operands, on_host)
            _mark(fragment, RESULT_ATTRIBUTES, fragment.results, on_host)
        _check_results(function, on_host)


def _arguments_on_host(function: ir.Operation) -> Iterable[ir.Value]:
    attributes = argument_attributes(function)
    for argument, given in zip(body_of(function).arguments, attributes, strict=True):
        if _is_host(given.get(_KIND)):
            yield argument


def _is_annotated(value: ir.Value) -> bool:
    update = producer(value, "stablehlo.dynamic_update_slice")
    call = producer(value if update is None else update.operands[1], "stablehlo.custom_call")
    if call is None or target_of(call) != "annotate_device_placement":
        return False
    attributes = get_discardable(call, "mhlo.frontend_attributes") or ()
    return any(each.name == "_xla_buffer_placement" and _is_host(each.attr) for each in attributes)


def _is_host(kind: Any) -> bool:
    return isinstance(kind, ir.StringAttr) and kind.value == PINNED_HOST


def _mark(
    fragment: ir.Operation, name: str, values: Iterable[ir.Value], on_host: set[ir.Value]
) -> None:
    kind = ir.StringAttr.get(PINNED_HOST, fragment.context)
    marks = [{_KIND: kind} if _has_host_type(each) or each in on_host else {} for each in values]
    mark_values(fragment, name, marks)


def _has_host_type(value: ir.Value) -> bool:
    found = mesh_type(value)
    return found is not None and found.is_on_host


def _check_results(function: ir.Operation, on_host: set[ir.Value]) -> None:
    attributes = result_attributes(function)
    for index, value in enumerate(returned_values(function)):
        says_host = _is_host(attributes[index].get(_KIND))
        if _has_host_type(value) or says_host == (value in on_host):
            continue
        declared, actual = (f"'{PINNED_HOST}'", "the devices'")[:: 1 if says_host else -1]
        message = (
            f"memory kind mismatch: result {index} of the function is declared to be in {declared} "
            f"memory, and its value is in {actual}: set 'mhlo.memory_kind' of the result, or move "
            "the value in a fragment"
        )
        raise PassError(error(message, location_of(function.location)))
