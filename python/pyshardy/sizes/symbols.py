# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbols of sizes: their ranges, divisors and hints, as the attribute `sdy.symbols` has them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.symbols import meshes_of

SYMBOLS = "sdy.symbols"
"""The attribute of a module with its symbols: `{b = {min = 1, max = 64, multiple_of = 8}}`."""

_VALUE = re.compile(r"\s*(?:(?P<name>\w+)\s*[=:])?\s*(?P<value>\d+)\s*")
_RANGE = re.compile(r"\s*(\w+)\s*[:=]\s*(\d+)\.\.(\d*)\s*")
_LEAST_HINT = 128
_KEYS = {"min": "low", "max": "high", "multiple_of": "multiple_of", "hint": "hint"}


@dataclass(frozen=True, slots=True)
class SizeSymbol:
    """A positive integer that sizes depend on, with its range, and a divisor of its values.

    The program is propagated at its hint; None for one that is chosen.
    """

    name: str
    low: int = 1
    high: int | None = None
    multiple_of: int = 1
    hint: int | None = None

    def limited_as(self, other: SizeSymbol) -> SizeSymbol:
        """Return the symbol with the limits of another one, too, whose values it has."""
        highs = [each for each in (self.high, other.high) if each is not None]
        low, high = max(self.low, other.low), min(highs, default=None)
        multiple_of = math.lcm(self.multiple_of, other.multiple_of)
        return SizeSymbol(self.name, low, high, multiple_of, self.hint or other.hint)

    def has(self, value: int) -> bool:
        """Whether a number is a value of the symbol."""
        is_within = self.low <= value and (self.high is None or value <= self.high)
        return is_within and value % self.multiple_of == 0

    def problem_of(self, value: int) -> str | None:
        """Return why a number is no value of the symbol, with the nearest values; None if it is."""
        if self.has(value):
            return None
        problem = f"no multiple of {self.multiple_of}"
        if value < self.low:
            problem = f"below {self.low}"
        elif self.high is not None and value > self.high:
            problem = f"above {self.high}"
        near = " or ".join(map(str, self.nearest(value)))
        advice = f"; use {self.name} = {near}" if near else ""
        return f"{self.name} = {value} is {problem}{advice}"

    def nearest(self, value: float) -> tuple[int, ...]:
        """Return the nearest values of the symbol below a number and above it, if there are any."""
        step = self.multiple_of
        least = math.ceil(self.low / step) * step
        largest = math.inf if self.high is None else self.high // step * step
        around = (math.floor(value / step) * step, math.ceil(value / step) * step)
        found = {min(max(each, least), largest) for each in around}
        return tuple(sorted(int(each) for each in found if self.has(int(each))))

    def __str__(self) -> str:
        limits = f">= {self.low}" if self.high is None else f"in {self.low}..{self.high}"
        multiple = f", a multiple of {self.multiple_of}" if self.multiple_of > 1 else ""
        hint = "" if self.hint is None else f" (hint {self.hint})"
        return f"{self.name} {limits}{multiple}{hint}"


def read_symbols(module: ir.Module) -> dict[str, SizeSymbol]:
    """Return the symbols that a module declares, by their names.

    Raises:
        UsageError: the attribute has another form.
    """
    declared = get_discardable(module.operation, SYMBOLS)
    place = location_of(module.operation.location)
    if declared is None:
        return {}
    if not isinstance(declared, ir.DictAttr):
        raise _wrong(f"it is {declared}", place)
    found: dict[str, SizeSymbol] = {}
    for named in declared:
        if not isinstance(named.attr, ir.DictAttr):
            raise _wrong(f"'{named.name}' is {named.attr}", place)
        values: dict[str, int] = {}
        for entry in named.attr:
            if entry.name not in _KEYS:
                hint = did_you_mean(entry.name, _KEYS) or f"; it has {', '.join(_KEYS)}"
                raise _wrong(f"'{named.name}' has no '{entry.name}'{hint}", place)
            if not isinstance(entry.attr, ir.IntegerAttr) or entry.attr.value < 0:
                raise _wrong(f"'{entry.name}' of '{named.name}' is {entry.attr}", place)
            values[_KEYS[entry.name]] = entry.attr.value
        found[named.name] = _checked(SizeSymbol(named.name, **values), place)
    return found


def write_symbols(module: ir.Module, symbols: Iterable[SizeSymbol]) -> None:
    """Declare symbols in a module."""
    entries: dict[str, ir.Attribute] = {}
    with module.context:
        number = ir.IntegerType.get_signless(64)
        for each in symbols:
            values = {key: getattr(each, field) for key, field in _KEYS.items()}
            known = {k: ir.IntegerAttr.get(number, v) for k, v in values.items() if v is not None}
            entries[each.name] = ir.DictAttr.get(known)
        if entries:
            set_discardable(module.operation, SYMBOLS, ir.DictAttr.get(entries))


def declare(module: ir.Module, symbols: Mapping[str, SizeSymbol], ranges: str) -> None:
    """Declare the symbols of a program, of which a text such as `b:1..4096,s:8..` gives ranges.

    Raises:
        UsageError: the text has another form, or there is no such symbol.
    """
    found = dict(symbols)
    for text in filter(None, ranges.split(",")):
        match = _RANGE.fullmatch(text)
        if match is None:
            message = f"symbols: '{text}' is no range: expected NAME:MIN..MAX, such as b:1..4096"
            raise UsageError(error(f"{message} or s:8.."))
        name, low, high = match.groups()
        check_name(name, symbols, "symbols")
        given = replace(found[name], low=int(low), high=int(high) if high else None)
        found[name] = _checked(given, None)
    write_symbols(module, found.values())


def with_hints(
    symbols: Mapping[str, SizeSymbol], hints: Mapping[str, int], module: ir.Module
) -> dict[str, SizeSymbol]:
    """Return symbols that all have hints.

    A hint that is neither given nor declared is at least 128, and a multiple of 8 times the number
    of devices where the symbol may be; several symbols have different ones.

    Raises:
        UsageError: there is no such symbol, or it can't have the value of a given hint.
    """
    for name, value in hints.items():
        check_name(name, symbols, "hint")
        if problem := symbols[name].problem_of(value):
            raise UsageError(error(f"the hint of {name} is no value of it: {problem}"))
    num_devices = max((mesh.total_size for mesh in meshes_of(module).values()), default=1)
    found: dict[str, SizeSymbol] = {}
    for number, symbol in enumerate(symbols.values(), 1):
        hint = hints.get(symbol.name, symbol.hint)
        found[symbol.name] = replace(symbol, hint=hint or _default(symbol, num_devices, number))
    return found


def hint_values(symbols: Mapping[str, SizeSymbol]) -> dict[str, int]:
    """Return the hints of symbols that have them, by name."""
    return {each.name: each.hint for each in symbols.values() if each.hint is not None}


def told_values(values: Mapping[str, int]) -> str:
    """Return the values of symbols as text, for errors."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def values_in(texts: Iterable[str], what: str) -> dict[str, int]:
    """Return the values of symbols that texts of a flag such as `b=3` or `b:3,s:128` give.

    Raises:
        UsageError: a text has another form, or a symbol has two values.
    """
    found = several_in(texts, what)
    for name, values in found.items():
        if len(values) > 1:
            raise UsageError(error(f"{what}: {name} has several values"))
    return {name: value for name, (value,) in found.items()}


def several_in(texts: Iterable[str], what: str) -> dict[str, list[int]]:
    """Return the values of symbols that texts of a flag such as `b=3` or `b=3,8,s=128` give.

    Raises:
        UsageError: a text has another form.
    """
    found: dict[str, list[int]] = {}
    for each in texts:
        name = None
        for text in filter(None, each.split(",")):
            match = _VALUE.fullmatch(text)
            name = name if match is None else match["name"] or name
            if match is None or name is None:
                message = f"{what}: '{text}' is no size: expected NAME=N, such as b=128"
                raise UsageError(error(message))
            found.setdefault(name, []).append(int(match["value"]))
    return found


def check_name(
    name: str, symbols: Iterable[str], what: str, place: SourceLocation | None = None
) -> None:
    """Check that a program has a symbol that a flag or an option names at a place.

    Raises:
        UsageError: it has none.
    """
    names = list(symbols)
    if name not in names:
        near = did_you_mean(str(name), names) or f"; it has {', '.join(names) or 'none'}"
        raise UsageError(error(f"{what}: the program has no size '{name}'{near}", place))


def _default(symbol: SizeSymbol, num_devices: int, number: int) -> int:
    step = math.lcm(8 * num_devices, symbol.multiple_of)
    least = max(_LEAST_HINT, symbol.low)
    hint = -(-least // step) * step * number
    if symbol.high is None or hint <= symbol.high:
        return hint
    for coarse in (step, math.lcm(num_devices, symbol.multiple_of), symbol.multiple_of):
        if symbol.high // coarse * coarse >= max(symbol.low, 1):
            return symbol.high // coarse * coarse
    return symbol.high


def _checked(symbol: SizeSymbol, place: SourceLocation | None) -> SizeSymbol:
    if symbol.multiple_of < 1 or (symbol.high is not None and symbol.high < symbol.low):
        raise _wrong(f"no number is '{symbol}'", place)
    if symbol.hint is not None and symbol.problem_of(symbol.hint):
        raise _wrong(f"the hint: {symbol.problem_of(symbol.hint)}", place)
    return symbol


def _wrong(problem: str, place: SourceLocation | None) -> UsageError:
    expected = "expected numbers by name, as {b = {min = 1, max = 64, multiple_of = 8, hint = 32}}"
    message = f"the attribute '{SYMBOLS}' of the module: {problem}; {expected}"
    return UsageError(error(message, place))
