# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of dimensions as expressions of symbols.

A `Size` is a polynomial with integer coefficients. Its atoms are symbols, and `floordiv(e, k)` and
`mod(e, k)` of a size and a positive integer. Terms are sorted, so that equal polynomials compare
equal:

    Size.parse("b*4 + 2*b") == Size.parse("6*b")
    Size.parse("4*b").divisible_by(4)               # True
    Size.parse("b").divisible_by(4)                 # None: it depends on b
    Size.parse("b").divisible_by(4, {"b": 8})       # True: b is a multiple of 8
    Size.parse("4*b + 2").divisible_by(4)           # False
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias, TypeVar

from mlir_sdy.diagnostics import SourceLocation, UsageError, error

Item = TypeVar("Item")

_MOST_POWER = 16


@dataclass(frozen=True, slots=True)
class Quotient:
    """`floordiv(size, divisor)` or `mod(size, divisor)`.

    Attributes:
        function: `floordiv` or `mod`.
        size: the dividend.
        divisor: a positive integer.
    """

    function: str
    size: Size
    divisor: int

    def __str__(self) -> str:
        return f"{self.function}({self.size}, {self.divisor})"


Atom: TypeAlias = "str | Quotient"

Number: TypeAlias = "int | Size"
"""A size that is an integer if it is known; see `number_of`."""

Monomial: TypeAlias = "tuple[tuple[Atom, int], ...]"
"""Atoms with their powers, sorted by their texts; none for the constant term."""


@dataclass(frozen=True)
class Size:
    """A size; see the description of the module.

    Attributes:
        terms: the monomials with their coefficients, none of which is 0.
    """

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    @lru_cache(maxsize=1 << 12)
    def of(number: int) -> Size:
        """Return a constant size."""
        return _canonical({(): number})

    @staticmethod
    def symbol(name: str) -> Size:
        """Return the size that a symbol stands for."""
        return _canonical({((name, 1),): 1})

    @staticmethod
    def parse(text: str, place: SourceLocation | None = None) -> Size:
        """Return the size that a text such as `4*b + floordiv(s, 2)` describes.

        Args:
            text: the text.
            place: the place of the text, for errors.

        Raises:
            UsageError: it is no size.
        """
        try:
            return _read(ast.parse(text.replace("^", "**"), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError) as reason:
            detail = reason.msg if isinstance(reason, SyntaxError) else str(reason)
            message = f"'{text}' is no size: {detail}; expected an expression such as '4*b' or"
            raise UsageError(error(f"{message} 'floordiv(s, 2) + 1'", place)) from None

    @cached_property
    def constant(self) -> int | None:
        """The number, if the size has no symbols."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The names of its symbols."""
        return frozenset(
            name
            for monomial, _ in self.terms
            for atom, _ in monomial
            for name in ((atom,) if isinstance(atom, str) else atom.size.symbols)
        )

    def __add__(self, other: Number) -> Size:
        return _canonical(_totals(*self.terms, *size_of(other).terms))

    __radd__ = __add__

    def __mul__(self, other: Number) -> Size:
        products = (
            (tuple(sorted(_totals(*left, *right).items(), key=_text)), count * times)
            for left, count in self.terms
            for right, times in size_of(other).terms
        )
        return _canonical(_totals(*products))

    __rmul__ = __mul__

    def __neg__(self) -> Size:
        return self * -1

    def __sub__(self, other: Number) -> Size:
        return self + -other

    def __rsub__(self, other: int) -> Size:
        return -self + other

    def floordiv(self, divisor: int) -> Size:
        """Return the quotient by a positive integer, rounded down; exact if that is known."""
        if all(count % divisor == 0 for _, count in self.terms):
            return _canonical({each: count // divisor for each, count in self.terms})
        constant = self.constant
        if constant is not None:
            return Size.of(constant // divisor)
        for rest in self._remainders(divisor):
            if (self + rest).mod(divisor) == rest:
                return (self + rest).floordiv(divisor)
        return _canonical({((Quotient("floordiv", self, divisor), 1),): 1})

    def mod(self, divisor: int) -> Size:
        """Return the remainder of a division by a positive integer; a number if that is known."""
        rest = _canonical({each: count % divisor for each, count in self.terms})
        if rest.constant is not None:
            return Size.of(rest.constant % divisor)
        if rest in self._remainders(divisor):
            return rest
        return _canonical({((Quotient("mod", rest, divisor), 1),): 1})

    def _remainders(self, divisor: int) -> list[Size]:
        """Return the remainders of divisions by an integer in the terms."""
        return [
            Size(((monomial, 1),))
            for monomial, _ in self.terms
            for atom, power in monomial[:1]
            if isinstance(atom, Quotient) and (atom.function, atom.divisor) == ("mod", divisor)
            if power == len(monomial) == 1
        ]

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the number for the values of its symbols.

        Raises:
            KeyError: a symbol has no value.
        """
        return sum(
            count * math.prod(_value(atom, values) ** power for atom, power in monomial)
            for monomial, count in self.terms
        )

    def replaced(self, values: Mapping[str, Size]) -> Size:
        """Return the size with given sizes instead of symbols."""
        total = Size.of(0)
        for monomial, count in self.terms:
            term = Size.of(count)
            for atom, power in monomial:
                if isinstance(atom, str):
                    factor = values.get(atom) or Size.symbol(atom)
                else:
                    dividend = atom.size.replaced(values)
                    function = Size.floordiv if atom.function == "floordiv" else Size.mod
                    factor = function(dividend, atom.divisor)
                term = math.prod([factor] * power, start=term)
            total += term
        return total

    def divisible_by(self, divisor: int, multiples: Mapping[str, int] | None = None) -> bool | None:
        """Whether an integer divides the size; None if that depends on the symbols.

        A term is divisible if the divisor divides the product of its coefficient and the known
        divisors of its symbols. If all terms but the constant are, that one decides.

        Args:
            divisor: the positive integer.
            multiples: known divisors of symbols, by their names.
        """
        rest = self.scaled(multiples or {}).mod(divisor).constant
        return None if rest is None else rest == 0

    def scaled(self, multiples: Mapping[str, int]) -> Size:
        """Return the size with products instead of symbols, by the known divisors of these."""
        products = {name: each for name, each in multiples.items() if each > 1}
        of = {name: each * Size.symbol(name) for name, each in products.items()}
        return self.replaced(of) if of else self

    def bounds(self, ranges: Mapping[str, tuple[int, int | None]]) -> tuple[int | None, int | None]:
        """Return the least and the largest value; None where there is no limit, or none is known.

        Args:
            ranges: the least and the largest value of each symbol; None for no limit.
        """
        least, largest = 0.0, 0.0
        for monomial, count in self.terms:
            low, high = 1.0, 1.0
            for atom, power in monomial:
                of_atom = _atom_bounds(atom, ranges)
                low, high = low * of_atom[0] ** power, high * of_atom[1] ** power
            least += count * (low if count > 0 else high)
            largest += count * (high if count > 0 else low)
        return (
            int(least) if math.isfinite(least) else None,
            int(largest) if math.isfinite(largest) else None,
        )

    def __str__(self) -> str:
        text = ""
        for monomial, count in sorted(self.terms, key=lambda each: not each[0]):  # constants last
            factors = [f"{atom}^{power}" if power > 1 else str(atom) for atom, power in monomial]
            if abs(count) != 1 or not factors:
                factors.insert(0, str(abs(count)))
            sign = ("-" if count < 0 else "") if not text else (" - " if count < 0 else " + ")
            text += sign + "*".join(factors)
        return text or "0"


def size_of(number: Number) -> Size:
    """Return a number as a size."""
    return Size.of(number) if isinstance(number, int) else number


def number_of(size: Size) -> Number:
    """Return a size as an integer if it has no symbols."""
    return size if size.constant is None else size.constant


def _text(factor: tuple[Atom, int]) -> tuple[str, int]:
    return str(factor[0]), factor[1]


def _totals(*counted: tuple[Item, int]) -> dict[Item, int]:
    """Return the sum of the numbers of each item."""
    found: dict[Item, int] = {}
    for item, count in counted:
        found[item] = found.get(item, 0) + count
    return found


def _canonical(terms: Mapping[Monomial, int]) -> Size:
    kept = [(monomial, count) for monomial, count in terms.items() if count]
    return Size(tuple(sorted(kept, key=lambda each: list(map(_text, each[0])))))


def _value(atom: Atom, values: Mapping[str, int]) -> int:
    if isinstance(atom, str):
        return values[atom]
    dividend = atom.size.evaluate(values)
    return dividend // atom.divisor if atom.function == "floordiv" else dividend % atom.divisor


def _atom_bounds(atom: Atom, ranges: Mapping[str, tuple[int, int | None]]) -> tuple[float, float]:
    if isinstance(atom, str):
        low, high = ranges.get(atom, (0, None))
        return low, math.inf if high is None else high
    if atom.function == "mod":
        return 0, atom.divisor - 1
    least, largest = atom.size.bounds(ranges)
    return (
        0 if least is None else least // atom.divisor,
        math.inf if largest is None else largest // atom.divisor,
    )


# --- Texts ----------------------------------------------------------------------------------------


def _read(node: ast.expr) -> Size:
    """Return the size of a parsed expression.

    Raises:
        ValueError: it has something that no size has.
    """
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return Size.of(number)
        case ast.Name(id=name):
            return Size.symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))):
            if not 0 <= power <= _MOST_POWER:
                raise ValueError(f"a power is from 0 to {_MOST_POWER}")
            return math.prod([_read(left)] * power, start=Size.of(1))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return _OPERATORS[type(operator)](_read(left), _read(right))
        case ast.Call(func=ast.Name(id="floordiv" | "mod" as function), args=[dividend, divisor]):
            return _OPERATORS[ast.FloorDiv if function == "floordiv" else ast.Mod](
                _read(dividend), _read(divisor)
            )
        case _:
            raise ValueError(f"it has '{ast.unparse(node)}'")


def _divisor(size: Size) -> int:
    if size.constant is None or size.constant < 1:
        raise ValueError(f"it is divided by '{size}', which is no positive integer")
    return size.constant


_OPERATORS: dict[type[ast.operator], Callable[[Size, Size], Size]] = {
    ast.Add: Size.__add__,
    ast.Sub: Size.__sub__,
    ast.Mult: Size.__mul__,
    ast.FloorDiv: lambda left, right: left.floordiv(_divisor(right)),
    ast.Mod: lambda left, right: left.mod(_divisor(right)),
}
