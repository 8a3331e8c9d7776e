# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of symbols from shapes, and the attributes that declare sizes."""

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError
from pyshardy.sizes.signature import is_dynamic, signature_of
from pyshardy.sizes.static_program import static_at

PROGRAM = """
module attributes {sdy.symbols = {b = {min = 2, max = 64, multiple_of = 2, hint = 32}}} {
  func.func @main(%x: tensor<?x4xf32> {sdy.sizes = ["4*b + 1", ""]},
                  %y: tensor<?x?xf32> {sdy.sizes = ["b", "b*s"]}) -> tensor<?x4xf32> {
    %0 = stablehlo.tanh %x : tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}
"""


def signature(text=PROGRAM):
    return signature_of(sdy.parse(text))


def test_values_of_shapes():
    found = signature()
    assert [str(each) for each in found.arguments] == ["f32[4*b + 1, 4]", "f32[b, b*s]"]
    assert found.values_of([(17, 4), (4, 12)]) == {"b": 4, "s": 3}
    assert [str(each) for each in found.symbols.values()] == [
        "b in 2..64, a multiple of 2 (hint 32)",
        "s >= 1",
    ]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(17, 4)], "takes 2 arrays, but got 1"),
        ([(17,), (4, 12)], r"%x has shape \(17,\), expected f32\[4\*b \+ 1, 4\]"),
        ([(17, 5), (4, 12)], "dimension 1 of %x has size 5, expected 4$"),
        ([(18, 4), (4, 12)], r"4\*b \+ 1 = 18 has no solution, as 4 doesn't divide 17; use 17"),
        ([(13, 4), (3, 12)], "b = 3 is no multiple of 2; use b = 2 or 4"),
        ([(401, 4), (100, 300)], "b = 100 is above 64; use b = 64"),
        ([(17, 4), (6, 12)], r"dimension 0 of %y has size 6, expected 4 as b with b = 4 \(dim"),
        ([(17, 4), (4, 13)], r"b\*s = 13 has no solution, as 4 doesn't divide 13; use 12 or 16"),
    ],
)
def test_shapes_that_do_not_fit(shapes, message):
    with pytest.raises(UsageError, match=message):
        signature().values_of(shapes)


def test_rests_do_not_tell_a_size():
    """An array of 3 = mod(s, 8) rows leaves s open, which another one tells."""
    found = signature(PROGRAM.replace('"4*b + 1"', '"mod(s, 8)"').replace('"b", "b*s"', '"b", "s"'))
    assert found.values_of([(3, 4), (4, 11)]) == {"s": 11, "b": 4}
    with pytest.raises(UsageError, match=r"size 2, expected 3 as mod\(s, 8\) with s = 11"):
        found.values_of([(2, 4), (4, 11)])


def test_a_size_that_shapes_do_not_tell():
    found = signature(PROGRAM.replace('"b", "b*s"', '"b", "r*s"'))
    with pytest.raises(UsageError, match=r"the size [rs] can't be found from the shapes"):
        found.values_of([(17, 4), (4, 12)])


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("multiple_of", "multiples_of", "'b' has no 'multiples_of'; did you mean 'multiple_of'"),
        ("min = 2", "min = 80", "no number is 'b in 80..64"),
        ("hint = 32", "hint = 31", "the hint: b = 31 is no multiple of 2"),
        ("{b = {", "{c = {", "the program has no size 'c'; it has b, s"),
        ('["4*b + 1", ""]', '["4*b + 1"]', 'expected 2 texts, such as ."4.b", ""'),
        ('"b*s"', '"b*"', "'b.' is no size: invalid syntax"),
        ("{b = {min = 2, max = 64, multiple_of = 2, hint = 32}}", "7", "expected numbers by name"),
    ],
)
def test_bad_attributes(before, after, message):
    with pytest.raises(UsageError, match=message):
        signature(PROGRAM.replace(before, after))


def test_sizes_without_names():
    text = """func.func @f(%x: tensor<?x3x?xf32>, %arg1: tensor<?xf32>) -> tensor<?x3x?xf32> {
      return %x : tensor<?x3x?xf32>
    }"""
    module = sdy.parse(text)
    assert is_dynamic(module)
    assert [*signature_of(module).symbols] == ["x0", "x2", "arg10"]
    assert not is_dynamic(sdy.parse(text.replace("?", "2")))


def test_operations_that_have_no_static_form():
    call = "stablehlo.custom_call @f(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>"
    with pytest.raises(UsageError, match="name the operand with its shape by 'indices_of_shape_"):
        static_at(sdy.parse(PROGRAM.replace("stablehlo.tanh %x : tensor<?x4xf32>", call)), {})
    added = "stablehlo.add %x, %y : (tensor<?x4xf32>, tensor<?x?xf32>) -> tensor<?x4xf32>"
    with pytest.raises(UsageError, match=r"'stablehlo.add' op demands 4\*b \+ 1 == b"):
        static_at(sdy.parse(PROGRAM.replace("stablehlo.tanh %x : tensor<?x4xf32>", added)), {})
    with pytest.raises(UsageError, match="sizes: the program has no size 'q'; it has b, s"):
        static_at(sdy.parse(PROGRAM), {"q": 3})
