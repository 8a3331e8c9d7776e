# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-import-names`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from mlir_sdy.diagnostics import PassError, error, note
from mlir_sdy.discardable import get_discardable, has_discardable, set_discardable, text_of
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import attribute_of
from mlir_sdy.mpmd.building import create, return_, unsigned
from mlir_sdy.mpmd.dialect import register
from mlir_sdy.mpmd.reading import (
    CALL,
    CALL_COUNTER,
    NAMED_COMPUTATION,
    body_of,
    integer_of,
    operations_of,
)
from mlir_sdy.mpmd.values import MeshReduction, UserOrigin
from mlir_sdy.uses import replace_by
from pyshardy.irtools.functions import (
    ENTRY,
    CallGraph,
    FreshNames,
    functions_of,
    is_private,
    replace_by_body,
)
from pyshardy.irtools.locations import names_in
from pyshardy.irtools.stablehlo_views import FunctionView, callee_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import entry_points
from pyshardy.pipeline import register_pass

_SYMBOL = re.compile(r"mpmd\.(name|tensor|broadcast|reduce|call|marker)/(.*)/(?:_\d+)?", re.DOTALL)
_KINDS = ("name", "tensor", "broadcast", "reduce", CALL_COUNTER)
TRANSPOSE_COUNT = "mpmd.transpose_count"
_REMATERIALIZED = "rematted_computation"


class _Mark(NamedTuple):
    """The meaning of a call.

    Attributes:
        kind: one of `_KINDS`; empty for a call of a function with names inside.
        name: the name, or the number of the microbatch.
        transpose_count: how often the call itself was transposed.
        is_repeated: whether `jax.checkpoint` around the name repeats it.
    """

    kind: str
    name: str
    transpose_count: int
    is_repeated: bool


@register_pass("mpmd-import-names", release="pyshardy")
def import_names(module: ir.Module) -> None:
    """Convert calls that stand for names to operations.

    | call                                                  | becomes                         |
    |-------------------------------------------------------|---------------------------------|
    | with `mpmd.name = "f"`                                | `mpmd.named_computation<"f">`   |
    | with `mpmd.tensor = "t"`                              | `mpmd.named_tensor name="t"`    |
    | with `mpmd.broadcast`, `mpmd.reduce`                  | these operations                |
    | with `mpmd.call_counter = "3"`                        | `mpmd.call {call_counter = 3}`  |
    | of another function with such calls inside            | the body of the function        |

    The attribute `mpmd.transpose_count` of a call is added to the counts of the names in it. The
    functions that JAX makes of `sdy.mpmd.named_computation` and the like need no attributes: they
    are recognized by their names, and the counts by the paths of locations.

    Raises:
        PassError: a name is inside of a loop or of another region, or `jax.checkpoint` is around
            it; a function calls itself; the numbers of microbatches have a gap, or the call of a
            microbatch is inside of another one or of a name; a named tensor is several ones.
    """
    graph = CallGraph(module)
    marked = functions_with_names(graph)
    if not marked:
        return
    graph.check_not_recursive("searched for names")
    register(module.context)
    importer = _Importer(module, graph.functions, marked)
    for function in entry_points(module):
        importer.expand(function, 0)
        _check_counters(function)
    unused = {name for name in graph.functions if name in marked or name in importer.copied}
    while unused:
        called = {callee_of(each) for each in operations_named({"func.call", CALL}, module)}
        erased = [
            each
            for each in functions_of(module)
            if symbol_name(each) in unused - called and is_private(each)
        ]
        if not erased:
            break
        for each in erased:
            each.erase()


def _check_counters(function: ir.Operation) -> None:
    calls = operations_named({CALL}, function)
    counters = sorted({integer_of(each, CALL_COUNTER) or 0 for each in calls})
    if counters and counters != list(range(counters[0], counters[0] + len(counters))):
        message = (
            f"the calls of microbatches have the counters {', '.join(map(str, counters))}: they "
            f"must be numbers without gaps"
        )
        raise PassError(error(message, location_of(calls[0].location)))


def annotate_names(module: ir.Module) -> set[str]:
    """Write what the calls of a module stand for into their attributes, and return the names."""
    graph = CallGraph(module)
    marked = functions_with_names(graph)
    names: set[str] = set()
    for call in operations_named({"func.call"}, module):
        if callee_of(call) not in marked:
            continue
        mark = mark_of(call)
        with module.context:
            if mark.kind:
                value = ir.StringAttr.get(mark.name)
                set_discardable(call, f"mpmd.{mark.kind}", value)
            if mark.transpose_count:
                number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), mark.transpose_count)
                set_discardable(call, TRANSPOSE_COUNT, number)
        names |= {mark.name} if mark.kind in ("name", "tensor") else set()
    return names


def names_in_order(module: ir.Module) -> tuple[list[str], list[str]]:
    """Return the names of computations in the order of their calls, and those of tensors."""
    graph = CallGraph(module)
    found: dict[str, dict[str, None]] = {"name": {}, "tensor": {}}

    def visit(function: str) -> None:
        for call in graph.calls[function]:
            mark = mark_of(call)
            if mark.kind in found:
                found[mark.kind].setdefault(mark.name)
            visit(callee_of(call))

    visit(ENTRY)
    return list(found["name"]), list(found["tensor"])


def mark_of(call: ir.Operation) -> _Mark:
    """Return what a call stands for, by its attributes, else by its symbol and location."""
    path = next(names_in(call.location), "")
    # The body of a transposed loop is transposed itself, in its own part of the path.
    path = path.rpartition("/body/")[2]
    count = get_discardable(call, TRANSPOSE_COUNT)
    number = path.count("transpose(") if count is None else ir.IntegerAttr(count).value
    repeated = _REMATERIALIZED in path
    for kind in _KINDS:
        if has_discardable(call, f"mpmd.{kind}"):
            return _Mark(kind, text_of(call, f"mpmd.{kind}") or "", number, repeated)
    match = _SYMBOL.fullmatch(callee_of(call))
    if match is None:
        return _Mark("", "", number, repeated)
    return _Mark(CALL_COUNTER if match[1] == "call" else match[1], match[2], number, repeated)


def functions_with_names(graph: CallGraph) -> set[str]:
    """Return the functions that stand for a name, or have one inside."""
    found: set[str] = set()
    for name in graph.post_order:
        for call in graph.calls[name]:
            if mark_of(call).kind:
                found.add(callee_of(call))
            if callee_of(call) in found:
                found.add(name)
    return found


class _Importer:
    """Converts calls of a module.

    Args:
        module: the module.
        functions: its functions by name, as they were.
        marked: the names of the functions that stand for a name, or have one inside.

    Attributes:
        copied: the names of functions that are copied for calls of microbatches.
    """

    def __init__(
        self, module: ir.Module, functions: Mapping[str, ir.Operation], marked: set[str]
    ) -> None:
        self.module = module
        self.names = FreshNames(module)
        self.functions = functions
        self.marked = marked
        self.copied: set[str] = set()
        self.callees: dict[tuple[str, int], str] = {}

    def expand(self, operation: ir.Operation, count: int) -> None:
        """Convert the calls in the body of an operation, which is transposed `count` times."""
        for call in operations_named({"func.call"}, operation):
            if callee_of(call) not in self.marked:
                continue
            mark = mark_of(call)
            self._check(call, mark, operation)
            total = count + mark.transpose_count
            with ir.InsertionPoint(call), call.location:
                match mark.kind:
                    case "name":
                        self._computation(call, mark.name, total)
                    case "":
                        copy = self._copy(callee_of(call), total)
                        replace_by_body(call, body_of(copy))
                    case "call_counter":
                        self._call(call, mark.name, total)
                    case _:
                        self._tensor(call, mark)

    def _copy(self, name: str, count: int) -> ir.Operation:
        copy = self.functions[name].clone(ip=False).operation
        self.expand(copy, count)
        return copy

    def _computation(self, call: ir.Operation, name: str, count: int) -> None:
        copy = self._copy(callee_of(call), count)
        _check_without_calls(copy, f"'{name}'")
        built = create(
            NAMED_COMPUTATION,
            [each.type for each in call.results],
            list(call.operands),
            {"origin": attribute_of(UserOrigin(name, count))},
            regions=1,
        )
        body = body_of(copy)
        *_, end = operations_of(body)
        body.append_to(built.regions[0])
        with ir.InsertionPoint(end):
            return_(list(end.operands))
        end.erase()
        replace_by(call, *built.results)

    def _tensor(self, call: ir.Operation, mark: _Mark) -> None:
        if len(call.operands) != 1:
            message = f"'mpmd.{mark.kind}' is for one tensor, but the call has {len(call.operands)}"
            raise PassError(error(message, location_of(call.location)))
        attributes: dict[str, ir.Attribute] = {}
        if mark.kind == "tensor":
            attributes = {"name": ir.StringAttr.get(mark.name)}
        elif mark.kind == "reduce":
            attributes = {"reduction": attribute_of(MeshReduction.NONE)}
        name = "mpmd.named_tensor" if mark.kind == "tensor" else f"mpmd.{mark.kind}"
        types = [each.type for each in call.results]
        replace_by(call, *create(name, types, list(call.operands), attributes).results)

    def _call(self, call: ir.Operation, counter: str, count: int) -> None:
        name = callee_of(call)
        inner = _forwarded(self.functions[name])
        if inner is not None:
            name, count = callee_of(inner), count + mark_of(inner).transpose_count
        callee = self.callees.get((name, count))
        if callee is None:
            copy = self._copy(name, count)
            _check_without_calls(copy, "a microbatch")
            callee = self.callees[name, count] = self.names.name(name)
            FunctionView(copy).sym_name = callee
            FunctionView(copy).sym_visibility = "private"
            self.module.body.append(copy)
            self.copied.add(name)
        attributes = {
            "callee": ir.FlatSymbolRefAttr.get(callee),
            CALL_COUNTER: unsigned(int(counter), call.context),
        }
        types = [each.type for each in call.results]
        replace_by(call, *create(CALL, types, list(call.operands), attributes).results)

    def _check(self, call: ir.Operation, mark: _Mark, around: ir.Operation) -> None:
        """Check that a call can be converted where it is."""
        what = f"'{mark.name}'" if mark.kind else f"the names in function '{callee_of(call)}'"
        place = location_of(call.location)
        if mark.is_repeated:
            advice = (
                "use 'sdy.mpmd.named_computation(..., remat=True)', or 'jax.checkpoint' inside of "
                "the named function"
            )
            message = f"'jax.checkpoint' is around {what}, which would run twice: {advice}"
            raise PassError(error(message, place))
        if mark.kind == "marker":
            message = f"the marker {what} has no effect here: use 'sdy.mpmd.staged' around the "
            raise PassError(error(f"{message}function, inside of gradients", place))
        parent = call.parent.operation if call.parent is not None else around
        if parent != around:
            message = (
                f"{what} must not be inside of a '{parent.name}': write a Python loop, or "
                "'sdy.mpmd.microbatched'"
            )
            raise PassError(error(message, place, [note("here", location_of(parent.location))]))


def _check_without_calls(function: ir.Operation, what: str) -> None:
    """Check that the function of a microbatch or a name calls none for microbatches."""
    for call in operations_named({CALL}, function):
        message = (
            f"{what} is split into microbatches: 'sdy.mpmd.microbatched' must not be inside of "
            "another one, of a name, or of 'lax.scan' or 'lax.fori_loop'; write a Python loop over "
            "steps, with names inside of microbatches"
        )
        raise PassError(error(message, location_of(call.location)))


def _forwarded(function: ir.Operation) -> ir.Operation | None:
    """Return the call in a function that only calls another one with its own arguments."""
    operations = operations_of(body_of(function))
    call, end = operations[0], operations[-1]
    if len(operations) != 2 or call.name != "func.call" or mark_of(call).kind:
        return None
    is_plain = list(call.operands) == list(body_of(function).arguments)
    return call if is_plain and list(end.operands) == list(call.results) else None
