# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes of values as expressions, and sizes that operations demand equal."""

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError
from mlir_sdy.host import location_of
from pyshardy.sizes.signature import signature_of
from pyshardy.sizes.size_map import SizeMap


def program(body, arguments="%x: tensor<?x4xf32>, %y: tensor<?x4xf32>", symbols="", rank=2):
    result = f"tensor<{'?x4x' if rank == 2 else '?x'}f32>"
    return sdy.parse(f"""module attributes {{sdy.symbols = {{{symbols}}}}} {{
  sdy.mesh @mesh = <["a"=2]>
  func.func @main({arguments}) -> {result} {{
    {body}
    return %0 : {result}
  }}
}}""")


ADD = "%0 = stablehlo.add %x, %y : tensor<?x4xf32>"
DOT = """%t = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x4xf32>) -> tensor<4x?xf32>
    %p = stablehlo.dot_general %t, %y, contracting_dims = [1] x [0]
        : (tensor<4x?xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>
    %0 = stablehlo.dot_general %x, %p, contracting_dims = [1] x [0]
        : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>"""
BROADCAST = """%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %f = stablehlo.constant dense<4> : tensor<1xi32>
    %s = stablehlo.concatenate %v, %f, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %0 = stablehlo.dynamic_broadcast_in_dim %y, %s, dims = [0, 1]
        : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>"""
LOOP = """%c = stablehlo.constant dense<true> : tensor<i1>
    %0 = "stablehlo.if"(%c) ({
      stablehlo.return %x : tensor<?x4xf32>
    }, {
      stablehlo.return %y : tensor<?x4xf32>
    }) : (tensor<i1>) -> tensor<?x4xf32>"""


@pytest.mark.parametrize(
    ("body", "operation"),
    [(ADD, "add"), (DOT, "dot_general"), (BROADCAST, "dynamic_broadcast_in_dim"), (LOOP, "if")],
)
def test_equal_sizes(body, operation):
    module = program(body)
    sdy.propagate(module)
    built = sdy.partition(module)
    guard = next(each for each in built.guards if each.kind == "equal")
    assert f"y0 == x0: checked at run time; 'stablehlo.{operation}' op at -:" in str(guard)
    x, y = (np.full((5, 4), number, "float32") for number in (2, 3))
    expected = {"add": x + y, "dot_general": x @ (x.T @ y), "if": x}.get(operation, y)
    np.testing.assert_allclose(built.run([x, y])[0], expected)
    with pytest.raises(
        UsageError, match=r"%y has size 4, expected 5 as x0 with x0 = 5 .dimension 0"
    ):
        built.run([x, y[1:]])


def test_slices_whose_distance_is_a_size():
    """Such as the diagonal of a matrix: every n + 1 of its elements."""
    module = sdy.parse("""
  sdy.mesh @mesh = <["a"=2]>
  func.func @main(%x: tensor<?xf32> {sdy.sizes = ["b"]}) -> tensor<?xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %to = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %by = stablehlo.subtract %to, %to : tensor<1xi32>
    %0 = stablehlo.real_dynamic_slice %x, %by, %to, %to
        : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
""")
    (result,) = sdy.partition(module).run([np.arange(5, dtype="f")])
    np.testing.assert_array_equal(result, [0])


def test_expressions_that_are_equal():
    named = '%x: tensor<?x4xf32> {sdy.sizes = ["4*b", ""]}, %y: tensor<?x4xf32>'
    module = program(ADD, named, "y0 = {min = 3, multiple_of = 2}")
    sdy.propagate(module, hints={"b": 6})
    assert [each.type for each in sdy.partition(module).inputs] == ["f32[4*b, 4]"] * 2
    both = program(ADD, symbols="x0 = {min = 3, hint = 12}, y0 = {max = 99, multiple_of = 4}")
    sdy.propagate(both)
    assert str(sdy.partition(both).sizes["x0"]) == "x0 in 3..99, a multiple of 4 (hint 12)"
    alike = program(ADD, symbols="x0 = {hint = 8}, y0 = {hint = 8}")  # so that any hint fits
    sdy.propagate(alike)
    assert [each.kind for each in sdy.partition(alike).guards] == ["equal"]
    unlike = named.replace("y: tensor<?x4xf32>", 'y: tensor<?x4xf32> {sdy.sizes = ["6*c", ""]}')
    unequal = "'stablehlo.add' op demands 4.b == 6.c: give b and c values with that"
    with pytest.raises(UsageError, match=unequal):
        sdy.propagate(program(ADD, unlike))
    both = program(ADD, unlike)
    sdy.propagate(both, hints={"b": 6, "c": 4})
    built = sdy.partition(both)
    assert [str(each)[:14] for each in built.guards] == ["4*b == 6*c: ch"]
    x = np.ones((12, 4), "float32")
    np.testing.assert_allclose(built.run([x, x])[0], x + x)
    with pytest.raises(UsageError, match="the program doesn't fit the sizes b = 6, c = 2"):
        built.run([np.ones((24, 4), "float32"), x])


SIZES = {
    "floordiv(x0, 2)": "divide %n, %two",
    "mod(x0, 2)": "remainder %n, %two",
    "x0": "maximum %n, %one",
    "1": "minimum %n, %one",
    "d1": "minimum %n, %two",
    "-1": "sign %minus",
    "0": "sign %zero",
}


@pytest.mark.parametrize("expression", SIZES)
def test_sizes_that_are_computed(expression):
    module = program(
        f"""%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %minus = stablehlo.constant dense<-2> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %m = stablehlo.{SIZES[expression]} : tensor<i32>
    %v = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
    %0 = stablehlo.dynamic_iota %v, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>""",
        "%x: tensor<?x4xf32>",
        rank=1,
    )
    found = SizeMap(module, signature_of(module))
    block = module.body.operations[1].regions[0].blocks[0]
    (returned,) = list(block.operations)[-1].operands
    assert [str(each) for each in found.sizes(returned)] == [expression]
    places = [str(location_of(each.location)) for each in found.scalars.values()]
    assert places == ["-:9:10"] * (expression == "d1")
