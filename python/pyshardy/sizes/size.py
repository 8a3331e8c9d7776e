# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of dimensions as expressions of symbols.

A `Size` is a polynomial with integer coefficients. Its atoms are symbols, and `floordiv(e, k)` and
`mod(e, k)` of a size and a positive integer. Terms are sorted, so that equal polynomials compare
equal:

    Size.parse("b*4 + 2*b") == Size.parse("6*b")
    Size.parse("4*b").divisible_by(4)               # True
    Size.parse("b").divisible_by(4)                 # None: it depends on b
    Size.parse("b").divisible_by(4, {"b": SizeSymbol("b", multiple_of=8)})  # True
    Size.parse("4*b + 2").divisible_by(4)           # False
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, TypeVar

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from pyshardy.sizes.symbols import SizeSymbol

Item = TypeVar("Item")

_MOST_POWER = 16


@dataclass(frozen=True, slots=True)
class Quotient:
    """`floordiv(size, divisor)` or `mod(size, divisor)`, of a size and a positive integer."""

    function: str
    size: Size
    divisor: int

    def __str__(self) -> str:
        return f"{self.function}({self.size}, {self.divisor})"


Atom: TypeAlias = "str | Quotient"

Number: TypeAlias = "int | Size"
"""A size that is an integer if it is known; see `number_of`."""

Symbols: TypeAlias = "Mapping[str, SizeSymbol]"
"""Symbols by their names, whose ranges and divisors are known."""

_NONE: Symbols = {}

Monomial: TypeAlias = "tuple[tuple[Atom, int], ...]"
"""Atoms with their powers, sorted by their texts; none for the constant term."""


@dataclass(frozen=True, eq=False)
class Size:
    """A size; it equals a number if it has this value for all values of symbols.

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | Size) and self.terms == size_of(other).terms

    def __hash__(self) -> int:
        return hash(self.terms if self.constant is None else self.constant)

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

    def __floordiv__(self, divisor: Number) -> Size:
        """Return the quotient by a positive integer, rounded down; exact if that is known."""
        by = _divisor(divisor)
        if all(count % by == 0 for _, count in self.terms):
            return _canonical({each: count // by for each, count in self.terms})
        if self.constant is not None:
            return Size.of(self.constant // by)
        for rest in self._remainders(by):
            if (self + rest) % by == rest:
                return (self + rest) // by
        return _canonical({((Quotient("floordiv", self, by), 1),): 1})

    def __mod__(self, divisor: Number) -> Size:
        """Return the remainder of a division by a positive integer; a number if that is known."""
        by = _divisor(divisor)
        rest = _canonical({each: count % by for each, count in self.terms})
        if rest.constant is not None or rest in self._remainders(by):
            return rest
        return _canonical({((Quotient("mod", rest, by), 1),): 1})

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
        return self._at(values)

    def replaced(self, values: Mapping[str, Size]) -> Size:
        """Return the size with given sizes instead of symbols."""
        if self.symbols.isdisjoint(values):
            return self
        return size_of(self._at({name: Size.symbol(name) for name in self.symbols} | {**values}))

    def _at(self, values: Mapping[str, Any]) -> Any:
        """Return the value for numbers, or for sizes, of its symbols."""
        return sum(
            count * math.prod(_value(atom, values) for atom, n in monomial for _ in range(n))
            for monomial, count in self.terms
        )

    def divisible_by(self, divisor: int, symbols: Symbols = _NONE) -> bool | None:
        """Whether an integer divides the size; None if that depends on the symbols.

        A term is divisible if the divisor divides the product of its coefficient and the known
        divisors of its symbols. If all terms but the constant are, that one decides.
        """
        rest = (self._scaled(symbols) % divisor).constant
        return None if rest is None else rest == 0

    def bounds(self, symbols: Symbols = _NONE) -> tuple[int | None, int | None]:
        """Return limits of the values, by those of symbols; None where none is known."""
        least, largest = _limits(self._scaled(symbols), symbols)
        return (
            None if least == -math.inf else int(least),
            None if largest == math.inf else int(largest),
        )

    def _scaled(self, symbols: Symbols) -> Size:
        """Return the size with products instead of symbols, by the known divisors of these."""
        known = (symbols[name] for name in self.symbols & symbols.keys())
        return self.replaced({e.name: e.multiple_of * Size.symbol(e.name) for e in known})

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


def number_of(size: Number) -> Number:
    """Return a size as an integer if it has no symbols."""
    return size if isinstance(size, int) or size.constant is None else size.constant


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


def _divisor(number: Number) -> int:
    known = number_of(number)
    if not isinstance(known, int) or known < 1:
        raise ValueError(f"it is divided by '{known}', which is no positive integer")
    return known


def _value(atom: Atom, values: Mapping[str, Any]) -> Any:
    if isinstance(atom, str):
        return values[atom]
    return _OPERATORS[atom.function](atom.size._at(values), atom.divisor)


def _limits(of: Size | Atom, symbols: Symbols) -> tuple[float, float]:
    """Return limits of a scaled size, or of an atom of a size."""
    match of:
        case Size():
            least, largest = 0, 0
            for monomial, count in of.terms:
                of_atoms = (_limits(atom, symbols) for atom, n in monomial for _ in range(n))
                low, high = _product((count, count), *of_atoms)
                least, largest = least + low, largest + high
            return least, largest
        case Quotient("mod", _, divisor):
            return 0, divisor - 1
        case Quotient(_, size, divisor):
            low, high = (
                end if math.isinf(end) else end // divisor for end in _limits(size, symbols)
            )
            return low, high
        case str():
            known = symbols.get(of, SizeSymbol(of))
            step, high = known.multiple_of, math.inf if known.high is None else known.high
            least = -(-known.low // step) if of in symbols else -math.inf
            return least, high if math.isinf(high) else high // step


def _product(*ranges: tuple[float, float]) -> tuple[float, float]:
    """Return the least and the largest product of numbers in ranges."""
    low, high = 1, 1
    for limits in ranges:
        ends = [one * other if one and other else 0 for one in (low, high) for other in limits]
        low, high = min(ends), max(ends)
    return low, high


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
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Call(func=ast.Name(id=op), args=[left, right])
        ) if (function := op if isinstance(op, str) else type(op)) in _OPERATORS:
            return _OPERATORS[function](_read(left), _read(right))
        case _:
            raise ValueError(f"it has '{ast.unparse(node)}'")


_OPERATORS: dict[type[ast.operator] | str, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
}
