# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How partial results on devices are completed, and which operations can't be."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp
from pyshardy.partition.partial.reductions import (
    Completion,
    completion_of,
    counts_any_number_of_times,
    is_neutral,
)

T = "tensor<4x8xf32>"
SUM, MAX, MIN = (Completion((kind,)) for kind in ReductionOp)
BY_ITSELF = Completion()


def function_with(context, operations: str) -> ir.Module:
    """Some operations on `%a`, `%b`, truth values `%p` and a scalar `%s`."""
    return parse(
        'sdy.mesh @mesh = <["x"=2]>\n'
        f"func.func @main(%a: {T}, %b: {T}, %p: tensor<4x8xi1>, %s: tensor<f32>) {{\n"
        f"{operations}\nreturn\n}}",
        context,
    )


def last_operation(module: ir.Module) -> ir.Operation:
    """The last one of the function; the module must be kept as long as it is looked at."""
    block = module.body.operations[1].regions[0].blocks[0]
    return block.operations[len(block.operations) - 2].operation


def completed(context, operations: str) -> Completion | None:
    module = function_with(context, operations)
    return completion_of(last_operation(module))


def known_as_neutral(context, operations: str, name: str) -> bool:
    module = function_with(context, operations)
    return is_neutral(last_operation(module).results[0], f"stablehlo.{name}")


def constant(value: str, element: str = "f32", operation: str = "stablehlo.constant") -> str:
    return f"%init = {operation} dense<{value}> : tensor<{element}>"


def reduce(kind: str, init: str = "%init", element: str = "f32") -> str:
    operand = "%p" if element == "i1" else "%a"
    return (
        f"%r = stablehlo.reduce({operand} init: {init}) applies stablehlo.{kind} across "
        f"dimensions = [1] : (tensor<4x8x{element}>, tensor<{element}>) -> tensor<4x{element}>"
    )


def reduce_by(body: str) -> str:
    return (
        f"%r = stablehlo.reduce(%a init: %s) across dimensions = [1] "
        f": ({T}, tensor<f32>) -> tensor<4xf32> reducer(%p0: tensor<f32>, %q0: tensor<f32>) {{ "
        f"{body} }}"
    )


def reduce_two(body: str, attributes: str = "") -> str:
    return (
        "%r:2 = stablehlo.reduce(%a init: %s), (%b init: %s) across dimensions = [1] "
        f"{attributes} : ({T}, {T}, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) "
        "reducer(%p0: tensor<f32>, %q0: tensor<f32>) (%i: tensor<f32>, %j: tensor<f32>) { "
        f"{body} stablehlo.return %r1, %r2 : tensor<f32>, tensor<f32> }}"
    )


ARGMAX = (
    "%c = stablehlo.compare GE, %p0, %q0 : (tensor<f32>, tensor<f32>) -> tensor<i1> "
    "%r1 = stablehlo.select %c, %p0, %q0 : tensor<i1>, tensor<f32> "
    "%r2 = stablehlo.select %c, %i, %j : tensor<i1>, tensor<f32> "
)


def test_contractions_add_up(context):
    dot = (
        f"%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ({T}, {T})"
        " -> tensor<4x4xf32>"
    )
    assert completed(context, dot) == SUM


def test_other_operations_have_none(context):
    assert completed(context, f"%r = stablehlo.add %a, %b : {T}") is None


@pytest.mark.parametrize(
    ("kind", "element", "expected"),
    [
        ("add", "f32", SUM),
        ("maximum", "f32", MAX),
        ("minimum", "f32", MIN),
        ("multiply", "f32", BY_ITSELF),
        ("add", "i1", MAX),
        ("or", "i1", MAX),
        ("maximum", "i1", MAX),
        ("and", "i1", MIN),
        ("multiply", "i1", MIN),
        ("minimum", "i1", MIN),
        ("xor", "i1", BY_ITSELF),
    ],
)
def test_reductions_by_one_operation(context, kind, element, expected):
    init = constant("true" if element == "i1" else "3.0", element)
    assert completed(context, f"{init}\n{reduce(kind, element=element)}") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%r1 = stablehlo.add %q0, %p0 : tensor<f32> stablehlo.return %r1 : tensor<f32>", SUM),
        ("%r1 = stablehlo.add %p0, %p0 : tensor<f32> stablehlo.return %r1 : tensor<f32>", None),
        (
            "%r0 = stablehlo.abs %q0 : tensor<f32> %r1 = stablehlo.add %p0, %r0 : tensor<f32> "
            "stablehlo.return %r1 : tensor<f32>",
            None,
        ),
        ("stablehlo.return %p0 : tensor<f32>", BY_ITSELF),
        (
            "%r0 = stablehlo.compare LT, %p0, %q0 : (tensor<f32>, tensor<f32>) -> tensor<i1> "
            "%r1 = stablehlo.select %r0, %p0, %q0 : tensor<i1>, tensor<f32> "
            "stablehlo.return %r1 : tensor<f32>",
            BY_ITSELF,
        ),
        (
            "%r0 = stablehlo.compare LT, %p0, %q0 : (tensor<f32>, tensor<f32>) -> tensor<i1> "
            "%r1 = stablehlo.negate %q0 : tensor<f32> "
            "%r2 = stablehlo.select %r0, %p0, %r1 : tensor<i1>, tensor<f32> "
            "stablehlo.return %r2 : tensor<f32>",
            None,
        ),
    ],
)
def test_bodies(context, body, expected):
    assert completed(context, reduce_by(body)) == expected


def test_several_operands(context):
    both = "%r1 = stablehlo.add %p0, %q0 : tensor<f32> %r2 = stablehlo.maximum %i, %j : tensor<f32>"
    kinds = (ReductionOp.SUM, ReductionOp.MAX)
    assert completed(context, reduce_two(both)) == Completion(kinds)
    product = both.replace("maximum", "multiply")
    assert completed(context, reduce_two(product)) == BY_ITSELF
    assert completed(context, reduce_two(ARGMAX)) == BY_ITSELF
    crossed = both.replace("%p0, %q0", "%p0, %j").replace("%i, %j", "%i, %q0")
    assert completed(context, reduce_two(crossed)) is None


def test_nothing_but_an_all_reduce_completes_later(context):
    """An operation that completes itself leaves nothing unreduced."""
    unreduced = '<@mesh, [{}], unreduced={"x"}>'
    attributes = f"{{sdy.sharding = #sdy.sharding_per_value<[{unreduced}, {unreduced}]>}}"
    assert completed(context, reduce_two(ARGMAX, attributes)) is None


@pytest.mark.parametrize("operation", ["stablehlo.constant", "sdy.constant"])
@pytest.mark.parametrize(
    ("name", "number", "element"),
    [
        ("add", "0.0", "f32"),
        ("add", "-0.0", "f32"),
        ("add", "0", "i32"),
        ("multiply", "1.0", "bf16"),
        ("maximum", "0xFF800000", "f32"),
        ("maximum", "0", "ui8"),
        ("minimum", "127", "i8"),
        ("and", "true", "i1"),
        ("xor", "0", "i8"),
    ],
)
def test_neutral(context, name, number, element, operation):
    text = constant(number, element, operation)
    assert known_as_neutral(context, text, name)
    wide = "stablehlo.broadcast_in_dim %init, dims = []"
    text += f"\n%w = {wide} : (tensor<{element}>) -> tensor<3x{element}>"
    assert known_as_neutral(context, text, name)


@pytest.mark.parametrize(
    ("name", "number", "element"),
    [
        ("add", "1.0", "f32"),
        ("add", "0x7FC00000", "f32"),
        ("multiply", "0.0", "f32"),
        ("maximum", "0", "i8"),
        ("minimum", "127", "ui8"),
    ],
)
def test_not_neutral(context, name, number, element):
    assert not known_as_neutral(context, constant(number, element), name)


def test_what_is_computed_may_be_anything(context):
    module = parse("func.func @main(%s: tensor<f32>) { return }", context)
    (value,) = module.body.operations[0].regions[0].blocks[0].arguments
    assert not is_neutral(value, "stablehlo.add")
    assert not counts_any_number_of_times(value, "stablehlo.add")
    assert counts_any_number_of_times(value, "stablehlo.maximum")
