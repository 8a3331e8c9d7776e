# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes as polynomials of symbols."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_sdy.diagnostics import UsageError
from pyshardy.sizes import Size, SizeSymbol


@st.composite
def sizes(draw, depth=3):
    if depth == 0 or draw(st.booleans()):
        number = st.integers(-9, 9).map(Size.of)
        return draw(st.one_of(number, st.sampled_from(["b", "s", "n"]).map(Size.symbol)))
    left, divisor = draw(sizes(depth - 1)), draw(st.integers(1, 6))
    match draw(st.sampled_from(["+", "*", "-", "floordiv", "mod"])):
        case "+":
            return left + draw(sizes(depth - 1))
        case "*":
            return left * draw(sizes(depth - 1))
        case "-":
            return -left
        case "floordiv":
            return left // divisor
        case _:
            return left % divisor


VALUES = st.fixed_dictionaries({name: st.integers(1, 40) for name in "bsn"})


@given(sizes())
def test_a_text_is_read_again(size):
    assert Size.parse(str(size)) == size


@given(sizes(), sizes(), st.integers(1, 8), VALUES)
def test_arithmetic_is_that_of_numbers(left, right, divisor, values):
    one, other = left.evaluate(values), right.evaluate(values)
    assert (left + right).evaluate(values) == one + other
    assert (left * right).evaluate(values) == one * other
    assert (left // divisor).evaluate(values) == one // divisor
    assert (left % divisor).evaluate(values) == one % divisor


@given(sizes(), st.integers(1, 8), VALUES, st.integers(1, 4))
def test_what_is_known_of_divisors_holds(size, divisor, values, multiple):
    values = {**values, "b": values["b"] * multiple}
    known = size.divisible_by(divisor, {"b": SizeSymbol("b", multiple_of=multiple)})
    if known is not None:
        assert known == (size.evaluate(values) % divisor == 0)


@given(sizes(), VALUES)
def test_bounds_hold(size, values):
    low, high = size.bounds({name: SizeSymbol(name, 1, 40) for name in "bsn"})
    number = size.evaluate(values)
    assert low is None or low <= number
    assert high is None or number <= high


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("floordiv(b - s, 2)", (None, 19)),  # s has no largest value
        ("floordiv(b - 5, 2)^2", (-34, 289)),
        ("4*m + 1", (33, 129)),
        ("floordiv(m, 3)", (2, 10)),
        ("mod(b - s, 4)", (0, 3)),
    ],
)
def test_bounds(text, limits):
    symbols = [SizeSymbol("b", high=40), SizeSymbol("s"), SizeSymbol("m", 5, 39, multiple_of=8)]
    assert Size.parse(text).bounds({each.name: each for each in symbols}) == limits


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("b*4 + 2*b", "6*b"),
        ("b**2 + 1", "b^2 + 1"),
        ("mod(4*b, 2)", "0"),
        ("mod(4*b, 3)", "mod(b, 3)"),
        ("floordiv(4*b + 8, 4)", "b + 2"),
        ("b - b", "0"),
        ("3 - b*s", "-b*s + 3"),
    ],
)
def test_canonical_form(text, written):
    assert str(Size.parse(text)) == written


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("b/2", "it has 'b / 2'"),
        ("b +", "invalid syntax"),
        ("mod(b, 0)", "divided by '0', which is no positive integer"),
        ("b**99", "a power is from 0 to 16"),
        ("print(1)", "it has 'print(1)'"),
    ],
)
def test_bad_texts(text, reason):
    with pytest.raises(UsageError, match="is no size: ") as refusal:
        Size.parse(text)
    assert reason in str(refusal.value)
