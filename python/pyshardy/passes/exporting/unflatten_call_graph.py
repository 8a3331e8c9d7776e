# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-unflatten-call-graph`: let calls share functions with equal shardings.

1. Functions are interchangeable if they have the same original name, type, manual axes and
   body, and both have `no_inline` or neither. By default, their arguments and results must have
   equal shardings, too.
2. By default the first function that is called, in the order of the text, is kept.
3. Otherwise the first is kept until, in the same order, the calls of functions with the
   shardings of another one outnumber those with its own: from then on that one. With calls of
   `f` (sharded by S), `f_0` (T) and `f_1` (T), `f_1` is kept.
4. The attributes that record the origin are removed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.discardable import get_discardable, has_discardable, remove_discardable
from mlir_sdy.host import identity, ir
from mlir_sdy.model import Mesh, TensorSharding, complete_shardings
from mlir_sdy.op_classes import view_as
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import may_have_regions
from mlir_sdy.values import (
    SHARDING,
    argument_shardings,
    manual_axes,
    rank_of,
    result_shardings,
    result_shardings_of,
)
from pyshardy.irtools.analyses import Changes
from pyshardy.irtools.functions import (
    NO_INLINE,
    ORIGINAL_FUNCTION_NAME,
    CallGraph,
    functions_of,
    original_name,
)
from pyshardy.irtools.stablehlo_views import (
    INTERFACE,
    CallView,
    callee_of,
    function_type_of,
    symbol_name,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

_MANUAL_AXES = "sdy.func_manual_axes"
_Shardings = tuple[TensorSharding, ...] | None


@dataclass(frozen=True, slots=True)
class _Origin:
    """The common properties of functions that were copied from one.

    Attributes:
        name: the original name.
        manual_axes: the manual axes at the calls.
        function_type: the types of arguments and results.
        is_inlined: whether calls may be inlined.
        body: a number for equal bodies, where functions of one name differ in them.
    """

    name: str
    manual_axes: ir.Attribute | None
    function_type: ir.FunctionType
    is_inlined: bool
    body: int | None = None


@dataclass(frozen=True, slots=True)
class _Signature:
    """The common properties of functions of one origin with equal shardings."""

    origin: _Origin
    arguments: _Shardings
    results: _Shardings


_Signatures = dict[str, _Signature]


@register_pass("sdy-unflatten-call-graph", release="0.10.2")
def unflatten_call_graph(module: ir.Module, *, dedup_functions_fully: bool = False) -> Changes:
    """Merge equal functions that were cloned for their calls.

    Reverts `sdy-flatten-call-graph` where possible: redirects calls to one of several equivalent
    functions.

    - Two functions are equivalent if they have the same `sdy.original_func_name` (or name, if the
      attribute is absent), the same `sdy.func_manual_axes`, the same shardings of arguments and
      results, and equal bodies.
    - The function that is called first, in textual order, is kept. `symbol-dce` removes the others.
    - With `dedup-functions-fully` shardings are not compared: the function is kept whose shardings
      belong to most calls.

    Finally the pass removes `sdy.original_func_name` and `sdy.func_manual_axes`.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%b) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    Options:
        dedup_functions_fully: whether to merge all copies of a function, regardless of their
            shardings.
    """
    functions = {symbol_name(function): function for function in functions_of(module)}
    calls = [
        call
        for function in functions.values()
        for call in operations_named({"func.call"}, function)
        if callee_of(call) in functions
    ]
    called = [callee_of(call) for call in calls]
    read_signature = _signature_reader(meshes_of(module))
    signatures = {name: read_signature(functions[name]) for name in dict.fromkeys(called)}
    if dedup_functions_fully:
        signatures = _by_what_they_compute(signatures, lambda signature: signature.origin, module)
        kept = _most_called(called, signatures)
    else:
        signatures = _by_what_they_compute(signatures, lambda signature: signature, module)
        kept = _first_called(called, signatures)
    for call, name in zip(calls, called, strict=True):
        if kept[name] != name:
            CallView(call).callee = kept[name]
    for function in functions.values():
        for attribute in (ORIGINAL_FUNCTION_NAME, _MANUAL_AXES):
            remove_discardable(function, attribute)
    return Changes()


def _signature_reader(meshes: Mapping[str, Mesh]) -> Callable[[ir.Operation], _Signature]:
    """Return a function that reads signatures, and the shardings of equal interfaces once."""
    known: dict[Hashable, tuple[_Shardings, _Shardings]] = {}

    def read(function: ir.Operation) -> _Signature:
        function_type = function_type_of(function)
        attributes = [get_discardable(function, each.name) for each in INTERFACE]
        interface = function_type, *attributes
        if interface not in known:
            inputs, results = (
                map(rank_of, function_type.inputs),
                map(rank_of, function_type.results),
            )
            known[interface] = (
                complete_shardings(argument_shardings(function), inputs, meshes),
                complete_shardings(result_shardings(function), results, meshes),
            )
        origin = _Origin(
            original_name(function),
            get_discardable(function, _MANUAL_AXES),
            function_type,
            not has_discardable(function, NO_INLINE),
        )
        return _Signature(origin, *known[interface])

    return read


def _by_what_they_compute(
    signatures: _Signatures, key: Callable[[_Signature], Hashable], module: ir.Module
) -> _Signatures:
    """Return the signatures, distinguishing functions with one key but different bodies.

    Copies of one function have equal bodies. But different named computations of the user may have
    the same name.
    """
    alike: defaultdict[Hashable, list[str]] = defaultdict(list)
    for name, signature in signatures.items():
        alike[key(signature)].append(name)
    names = [name for group in alike.values() if len(group) > 1 for name in group]
    if not names:
        return signatures
    bodies = body_numbers(CallGraph(module), names)
    return {
        name: replace(signature, origin=replace(signature.origin, body=bodies.get(name)))
        for name, signature in signatures.items()
    }


def _first_called(called: Sequence[str], signatures: _Signatures) -> dict[str, str]:
    """Return the function to call instead of each function, by name: the first that is called."""
    first: dict[_Signature, str] = {}
    for name in called:
        first.setdefault(signatures[name], name)
    return {name: first[signature] for name, signature in signatures.items()}


def _most_called(called: Sequence[str], signatures: _Signatures) -> dict[str, str]:
    """Return the function to call instead of each function, by name: that with the most calls."""
    kept: dict[_Origin, str] = {}
    for name in called:
        kept.setdefault(signatures[name].origin, name)
    counts: Counter[_Signature] = Counter()
    for name in called:
        signature = signatures[name]
        counts[signature] += 1
        if counts[signature] > counts[signatures[kept[signature.origin]]]:
            kept[signature.origin] = name
    return {name: kept[signature.origin] for name, signature in signatures.items()}


def body_numbers(graph: CallGraph, names: Iterable[str]) -> dict[str, int]:
    """Number functions and their callees so that functions with equal bodies have equal numbers.

    1. Two bodies are equal if they have equal operations in the same order, with equal operands,
       types and attributes.
    2. Shardings are ignored, except for the manual axes of manual computations, since these
       determine the local types of the body.
    3. Callees are compared by their bodies in turn, not by names. In recursive functions, names
       are compared.
    """
    wanted: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in wanted and name in graph.functions:
            wanted.add(name)
            waiting += map(callee_of, graph.calls[name])
    numbers: dict[str, int] = {}
    known: dict[Hashable, int] = {}
    for name in graph.post_order:
        if name in wanted:
            parts: list[Hashable] = []
            _BodyReader(numbers).read(graph.functions[name], parts)
            numbers[name] = known.setdefault(tuple(parts), len(known))
    return numbers


class _BodyReader:
    """Reads the content of a body, with values and blocks numbered in order of appearance.

    Types and attributes are read as their `identity`. An attribute dictionary is read only if it
    holds more than the shardings, as that takes as long as all else of an operation.
    """

    def __init__(self, functions: Mapping[str, int]):
        self._functions = functions
        self._numbers: defaultdict[int, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def read(self, operation: ir.Operation, parts: list[Hashable]) -> None:
        """Append the content of an operation's regions to `parts`."""
        numbers = self._numbers
        for region in operation.regions:
            for block in region.blocks:
                parts.append(numbers[identity(block)])
                for argument in block.arguments:
                    parts += numbers[identity(argument)], identity(argument.type)
                for view in block.operations:
                    inner = view.operation
                    name = inner.name
                    parts.append(name)
                    parts += [numbers[identity(operand)] for operand in inner.operands]
                    parts.append(self._attributes(inner, name))
                    for result in inner.results:
                        parts += numbers[identity(result)], identity(result.type)
                    if may_have_regions(name):
                        parts.append(tuple(numbers[identity(block)] for block in inner.successors))
                        self.read(inner, parts)
        parts.append(None)  # marks the end of the nested content

    def _attributes(self, operation: ir.Operation, name: str) -> Hashable:
        if name == "sdy.manual_computation":
            return tuple(_manual_parts(operation))
        num_attributes = len(operation.attributes)
        if not num_attributes or (num_attributes == 1 and has_discardable(operation, SHARDING)):
            return None
        if name.startswith("sdy.") and name != "sdy.constant":
            return None
        parts: dict[str, Hashable] = {
            key: identity(attribute)
            for key, attribute in operation.attributes.items()
            if not key.startswith("sdy.")
        }
        if name == "func.call":
            callee = callee_of(operation)
            parts["callee"] = self._functions.get(callee, callee)
        return tuple(parts.items())


def _manual_parts(computation: ir.Operation) -> Iterator[Hashable]:
    """Return the manual axes of a computation, and of the dimensions of operands and results."""
    manual = manual_axes(computation)
    yield frozenset(manual)
    in_shardings = value_of(view_as(sdy.ManualComputationOp, computation).in_shardings).shardings
    for sharding in (*in_shardings, *result_shardings_of(computation)):
        for dim in sharding.dim_shardings:
            yield tuple(axis for axis in dim.axes if axis.name in manual)
