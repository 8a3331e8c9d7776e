# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which reduction over devices completes partial results, and which operations have none."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.model import ReductionOp
from pyshardy.partition.reductions import completing_reduction

T = "tensor<4x8xf32>"


def completed(context, operations: str) -> ReductionOp | None:
    """What completes the last of some operations on `%a`, `%b` and a scalar `%s`."""
    module = parse(
        f"func.func @main(%a: {T}, %b: {T}, %s: tensor<f32>) {{\n{operations}\nreturn\n}}", context
    )
    block = module.body.operations[0].regions[0].blocks[0]
    return completing_reduction(block.operations[len(block.operations) - 2].operation)


def constant(value: str, element: str = "f32", operation: str = "stablehlo.constant") -> str:
    return f"%init = {operation} dense<{value}> : tensor<{element}>"


def reduce(kind: str, init: str = "%init") -> str:
    return (
        f"%r = stablehlo.reduce(%a init: {init}) applies stablehlo.{kind} across dimensions = [1] "
        f": ({T}, tensor<f32>) -> tensor<4xf32>"
    )


def reduce_by(body: str) -> str:
    return (
        f"%r = stablehlo.reduce(%a init: %init) across dimensions = [1] "
        f": ({T}, tensor<f32>) -> tensor<4xf32> reducer(%p: tensor<f32>, %q: tensor<f32>) {{ "
        f"{body} }}"
    )


def test_contractions_add_up(context):
    dot = (
        f"%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ({T}, {T})"
        " -> tensor<4x4xf32>"
    )
    assert completed(context, dot) is ReductionOp.SUM


def test_other_operations_have_none(context):
    assert completed(context, f"%r = stablehlo.add %a, %b : {T}") is None


@pytest.mark.parametrize("operation", ["stablehlo.constant", "sdy.constant"])
def test_sums_from_zero(context, operation):
    init = constant("0.0", operation=operation)
    assert completed(context, f"{init}\n{reduce('add')}") is ReductionOp.SUM
    init = constant("-0.0", operation=operation)
    assert completed(context, f"{init}\n{reduce('add')}") is ReductionOp.SUM


def test_sums_from_other_values_would_count_them_on_each_device(context):
    assert completed(context, f"{constant('1.0')}\n{reduce('add')}") is None
    assert completed(context, f"{constant('0x7FC00000')}\n{reduce('add')}") is None
    assert completed(context, reduce("add", "%s")) is None
    computed = "%init = stablehlo.negate %s : tensor<f32>"
    assert completed(context, f"{computed}\n{reduce('add')}") is None


@pytest.mark.parametrize("init", ["%init", "%s"])
def test_maxima_and_minima_from_any_value(context, init):
    for kind, expected in (("maximum", ReductionOp.MAX), ("minimum", ReductionOp.MIN)):
        assert completed(context, f"{constant('5.0')}\n{reduce(kind, init)}") is expected


def test_reductions_that_the_dialect_has_not(context):
    assert completed(context, f"{constant('1.0')}\n{reduce('multiply')}") is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%r1 = stablehlo.add %q, %p : tensor<f32> stablehlo.return %r1 : tensor<f32>", "sum"),
        ("%r1 = stablehlo.add %p, %p : tensor<f32> stablehlo.return %r1 : tensor<f32>", None),
        ("%r1 = stablehlo.add %p, %q : tensor<f32> stablehlo.return %p : tensor<f32>", None),
        (
            "%r0 = stablehlo.abs %q : tensor<f32> %r1 = stablehlo.add %p, %r0 : tensor<f32> "
            "stablehlo.return %r1 : tensor<f32>",
            None,
        ),
        ("stablehlo.return %p : tensor<f32>", None),
    ],
)
def test_bodies(context, body, expected):
    found = completed(context, f"{constant('0.0')}\n{reduce_by(body)}")
    assert (None if found is None else str(found)) == expected


def test_several_operands(context):
    both = (
        "%r:2 = stablehlo.reduce(%a init: %init), (%b init: %init) across dimensions = [1] "
        f": ({T}, {T}, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) "
        "reducer(%p: tensor<f32>, %q: tensor<f32>) (%i: tensor<f32>, %j: tensor<f32>) { "
        "%r1 = stablehlo.add %p, %q : tensor<f32> %r2 = stablehlo.add %i, %j : tensor<f32> "
        "stablehlo.return %r1, %r2 : tensor<f32>, tensor<f32> }"
    )
    assert completed(context, f"{constant('0.0')}\n{both}") is None
