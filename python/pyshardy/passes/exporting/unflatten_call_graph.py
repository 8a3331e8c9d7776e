# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-unflatten-call-graph`: let calls share functions that are sharded alike.

Before:

    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%b) : (tensor<8xf32>) -> tensor<8xf32>

After:

    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, complete_shardings
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import argument_shardings, rank_of, result_shardings
from pyshardy.passes.functions import ORIGINAL_FUNCTION_NAME, functions_of, original_name
from pyshardy.passes.symbols import symbol_name
from pyshardy.passes.walks import operations_named

_MANUAL_AXES = "sdy.func_manual_axes"
_Shardings = tuple[TensorSharding, ...] | None


@dataclass(frozen=True, slots=True)
class _Origin:
    """What functions that were copied from one have in common."""

    name: str
    manual_axes: ir.Attribute | None
    function_type: ir.Attribute


@dataclass(frozen=True, slots=True)
class _Signature:
    """What functions of one origin have in common that are sharded alike, too."""

    origin: _Origin
    arguments: _Shardings
    results: _Shardings


_Call = tuple[ir.Operation, _Signature]


def unflatten_call_graph(module: ir.Module, *, dedup_functions_fully: bool = False) -> None:
    """Let the calls to functions that were copied from one function go to one of these.

    1. Functions of one origin may be exchanged: with the same original name, type and manual axes.
       By default, their arguments and results must be sharded alike, too.
    2. By default the first function that is called, in the order of the text, is kept.
    3. Otherwise the first is kept until, in the same order, the calls of functions sharded as
       another one outnumber those sharded as it is: from then on that one. With calls of
       `f` (sharded by S), `f_0` (T) and `f_1` (T), `f_1` is kept.
    4. Afterwards no function knows its origin any more.

    Args:
        module: the module to work in.
        dedup_functions_fully: exchange functions of one origin however they are sharded.
    """
    functions = {symbol_name(function): function for function in functions_of(module)}
    meshes = meshes_of(module)
    signatures = {name: _signature(function, meshes) for name, function in functions.items()}
    calls = [
        (call, signatures[name])
        for call in operations_named({"func.call"}, module)
        if (name := call.attributes["callee"].value) in signatures
    ]
    if dedup_functions_fully:
        most_called = _most_called(calls)
        targets = [most_called[signature.origin] for _, signature in calls]
    else:
        first_called = _first_called(calls)
        targets = [first_called[signature] for _, signature in calls]
    for (call, _), target in zip(calls, targets, strict=True):
        if call.attributes["callee"] != target:
            call.attributes["callee"] = target
    for function in functions.values():
        for name in (ORIGINAL_FUNCTION_NAME, _MANUAL_AXES):
            if name in function.attributes:
                del function.attributes[name]


def _signature(function: ir.Operation, meshes: Mapping[str, Mesh]) -> _Signature:
    attributes = function.attributes
    function_type = attributes["function_type"]
    arguments, results = function_type.value.inputs, function_type.value.results
    return _Signature(
        _Origin(
            original_name(function),
            attributes.get(_MANUAL_AXES, None),
            function_type,
        ),
        complete_shardings(argument_shardings(function), map(rank_of, arguments), meshes),
        complete_shardings(result_shardings(function), map(rank_of, results), meshes),
    )


def _first_called(calls: Iterable[_Call]) -> dict[_Signature, ir.Attribute]:
    """The function to keep for each signature, as the attribute of a call to it."""
    first: dict[_Signature, ir.Attribute] = {}
    for call, signature in calls:
        first.setdefault(signature, call.attributes["callee"])
    return first


def _most_called(calls: Sequence[_Call]) -> dict[_Origin, ir.Attribute]:
    """The function to keep for each origin, as the attribute of a call to it."""
    kept: dict[_Origin, _Call] = {}
    for call, signature in calls:
        kept.setdefault(signature.origin, (call, signature))
    counts: Counter[_Signature] = Counter()
    for call, signature in calls:
        counts[signature] += 1
        if counts[signature] > counts[kept[signature.origin][1]]:
            kept[signature.origin] = (call, signature)
    return {origin: call.attributes["callee"] for origin, (call, _) in kept.items()}
