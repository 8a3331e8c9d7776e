# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import PassError
from pyshardy.irtools.functions import CallGraph


def module_of(context, **calls: str):
    """Functions that call others, by their names."""
    functions = [
        f"func.func @{name}() {{\n"
        + "".join(f"  call @{callee}() : () -> ()\n" for callee in callees.split())
        + "  return\n}"
        for name, callees in calls.items()
    ]
    return parse("\n".join([*functions, "func.func private @declared()"]), context)


def test_post_order(context):
    module = module_of(context, z="", main="a b a", a="c", b="c declared", c="", y="")
    assert CallGraph(module).post_order == ["z", "c", "a", "b", "main", "y"]


def test_calls_of_functions_come_in_that_order(context):
    module = module_of(context, main="a b", a="", b="a")
    graph = CallGraph(module)
    assert [
        (call.parent.attributes["sym_name"].value, call.attributes["callee"].value)
        for call in graph.calls_in_post_order()
    ] == [("b", "a"), ("main", "a"), ("main", "b")]


def test_long_chains_of_calls(context):
    length = 3_000
    calls = {f"f{at}": f"f{at + 1}" for at in range(length)}
    module = module_of(context, **calls, **{f"f{length}": ""})
    graph = CallGraph(module)
    graph.check_not_recursive("followed")
    assert graph.post_order[0] == f"f{length}"


def test_the_way_around_is_told(context):
    module = module_of(context, main="a", a="b", b="c declared", c="a")
    graph = CallGraph(module)
    with pytest.raises(PassError) as failure:
        graph.check_not_recursive("flattened")
    (diagnostic,) = failure.value.diagnostics
    assert diagnostic.message == (
        "function 'a' calls itself: recursive functions can't be flattened"
    )
    assert [note.message for note in diagnostic.notes] == [
        "which calls 'c' here",
        "which calls 'a' here",
    ]
