# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding operations by name, and putting them in the order of the text."""

import random

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.attribute_search import operations_with, operations_with_any, values_of_attribute
from mlir_sdy.host import ir
from pyshardy.irtools.walks import Place, operations_named, textual_order

NESTED = """
func.func @main(%a: tensor<8xf32>, %p: tensor<i32>) -> tensor<8xf32> {
  %0 = stablehlo.abs %a : tensor<8xf32>
  %1 = sdy.named_computation<"outer">(%0) (%x: tensor<8xf32>) {
    %4 = stablehlo.abs %x : tensor<8xf32>
    %5 = sdy.named_computation<"inner">(%4) (%y: tensor<8xf32>) {
      %6 = stablehlo.abs %y : tensor<8xf32>
      sdy.return %6 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %5 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "stablehlo.case"(%p) ({
    %7 = stablehlo.abs %1 : tensor<8xf32>
    stablehlo.return %7 : tensor<8xf32>
  }, {
    %8 = stablehlo.abs %0 : tensor<8xf32>
    stablehlo.return %8 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  %3 = stablehlo.abs %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
func.func private @declared(%a: tensor<8xf32>) -> tensor<8xf32>
"""
NAMES = {"stablehlo.abs", "sdy.named_computation", "stablehlo.case", "func.func"}


@pytest.mark.parametrize("order", [ir.WalkOrder.PRE_ORDER, ir.WalkOrder.POST_ORDER])
def test_operations_named_is_a_walk(context, order):
    module = parse(NESTED, context)
    expected: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name in NAMES:
            expected.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, order)
    assert operations_named(NAMES, module, order) == expected


def test_textual_order_is_that_of_the_walk(context):
    module = parse(NESTED, context)
    names = NAMES - {"func.func"}
    function = operations_named({"func.func"}, module)[0]
    expected = operations_named(names, function)
    shuffled = list(expected)
    random.Random(0).shuffle(shuffled)
    places = sorted((Place.of(operation, function) for operation in shuffled), key=textual_order)
    assert [place.path[-1] for place in places] == expected


def test_operations_with_an_attribute(context):
    noted = NESTED.replace("abs %0 :", 'abs %0 {my.note = "first"} :').replace(
        "abs %y :", 'abs %y {my.note = "inner"} :'
    )
    module = parse(noted, context)
    found = operations_with("my.note", module)
    assert [operation.name for operation in found] == ["stablehlo.abs"] * 2
    values = values_of_attribute("my.note", module)
    assert sorted(value.value for value in values) == ["first", "inner"]
    assert asm(module) == asm(parse(noted, context)), "looking changes nothing"
    assert len(operations_with("name", module)) == 2
    assert not operations_with('of "nobody"', module)
    assert len(operations_with_any(("my.note", "name"), module)) == 4
    assert len(operations_with_any(("my.note", "my.note"), module)) == 2, "each once"
