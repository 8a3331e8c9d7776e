# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measured times and rates of hardware, and where they come from; parts of its TOML file.

[origin]
devices = "8 x cpu"
date = "2026-11-27"
versions = "jax 0.10.2, jaxlib 0.10.2"
mesh = "data:4,model:2"
seconds_per_program = 3e-4       # to start one, which estimates don't contain; 0 if missing
spread = 0.12                    # of repeated measurements, the median of all; 0 if missing
interrupted = false              # whether some measurements are missing; false if missing

[[measured]]
kind = "all_reduce"
axes = ["data"]
devices = 4                      # in a group; any number if missing
amounts = [6144, 98304]          # bytes that a device sends
seconds = [4e-5, 7e-5]

[[measured]]
kind = "elementwise"
amounts = [8192, 131072]         # bytes that are read and written
seconds = [4e-7, 5e-6]

[[measured]]
kind = "product"
element = "f32"
amounts = [64, 256]              # smallest dimension
rates = [9e9, 1.1e10]            # operations in a second

Entries of the kinds `convolution`, `gradient`, `grouped_convolution` and `grouped_gradient` are as
those of products. Gradients are convolutions whose windows are larger than their results.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

from mlir_sdy.suggest import did_you_mean

COLLECTIVES = ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter")
PRODUCT, ELEMENTWISE = "product", "elementwise"
CONVOLUTION, GRADIENT = "convolution", "gradient"
GROUPED = "grouped_"
"""The prefix of the kinds of convolutions whose channels are in groups."""
PRODUCTS = (PRODUCT, *(group + kind for group in ("", GROUPED) for kind in (CONVOLUTION, GRADIENT)))
"""The kinds whose values are rates."""
_KINDS = (*COLLECTIVES, *PRODUCTS, ELEMENTWISE)


@dataclass(frozen=True, slots=True)
class Curve:
    """The time, or the rate of a product, by the amount of work.

    Attributes:
        kind: a kind of collective, `elementwise`, or one of `PRODUCTS`.
        amounts: the measured amounts in rising order: the bytes that a device sends, or reads and
            writes, or the smallest dimension of a product.
        values: the seconds, or the operations of a product in a second.
        axes: the axes of a collective.
        devices: the devices of a collective's group; 0 for any number.
        element: the elements of a product.
    """

    kind: str
    amounts: tuple[float, ...]
    values: tuple[float, ...]
    axes: tuple[str, ...] = ()
    devices: int = 0
    element: str = ""

    def at(self, amount: float) -> float:
        """Return the interpolated value.

        1. Values between two measurements are interpolated linearly.
        2. Below the smallest amount, a time is that of the smallest, and a rate is proportional to
           the amount. Above the largest, it is the other way round.
        """
        amounts, values = self.amounts, self.values
        if amount <= amounts[0]:
            return values[0] * amount / amounts[0] if self.kind in PRODUCTS else values[0]
        if amount >= amounts[-1]:
            return values[-1] if self.kind in PRODUCTS else values[-1] * amount / amounts[-1]
        above = bisect_left(amounts, amount)
        part = (amount - amounts[above - 1]) / (amounts[above] - amounts[above - 1])
        return values[above - 1] + part * (values[above] - values[above - 1])

    @property
    def entries(self) -> dict[str, object]:
        """The entries of its table in the file, without those that are empty."""
        found: dict[str, object] = {"kind": self.kind, "axes": self.axes, "devices": self.devices}
        values = "rates" if self.kind in PRODUCTS else "seconds"
        found |= {"element": self.element, "amounts": self.amounts, values: self.values}
        return {key: value for key, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class Provenance:
    """The devices, the day and the software of measured hardware.

    Attributes:
        devices: the devices in words.
        date: the day.
        versions: the versions of the software that measured.
        mesh: the mesh, such as `data:4,model:2`.
        seconds_per_program: the time to start a program, which estimates don't contain.
        spread: how far repeated measurements differ: the median of all spreads.
        interrupted: whether measuring ended early.
    """

    devices: str
    date: str
    versions: str
    mesh: str
    seconds_per_program: float = 0.0
    spread: float = 0.0
    interrupted: bool = False

    def __str__(self) -> str:
        ending = ", interrupted" if self.interrupted else ""
        return f"measured on {self.date}, {self.devices}, {self.mesh}, {self.versions}{ending}"

    @property
    def entries(self) -> dict[str, object]:
        """The entries of its table in the file."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of the axes."""
        pairs = (each.partition(":") for each in self.mesh.split(",") if each)
        return {axis: int(size) for axis, _, size in pairs}


def inline_toml(value: object) -> str:
    """Return a text, a number, a sequence or a mapping as TOML on one line."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        pairs = (f"{toml_key(key)} = {inline_toml(each)}" for key, each in entries.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(inline_toml, cast('Sequence[object]', value)))}]"
    return str(value)


def toml_key(name: str) -> str:
    """Return a key of TOML, quoted if necessary."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


# --- Reading --------------------------------------------------------------------------------------


_TEXTS = ("devices", "date", "versions", "mesh")


def read_curves(entries: object) -> tuple[Curve, ...]:
    """Return the curves of `[[measured]]`.

    Raises:
        ValueError: an entry is missing or invalid.
    """
    if not isinstance(entries, list):
        raise ValueError("'measured' in the file is no list of tables: write [[measured]]")
    tables = cast("list[object]", entries)
    curves = [_curve(table, f"[[measured]] {at}") for at, table in enumerate(tables, 1)]
    seen: set[tuple[object, ...]] = set()
    for at, curve in enumerate(curves, 1):
        key = curve.kind, frozenset(curve.axes), curve.devices, curve.element
        if key in seen:
            raise ValueError(f"[[measured]] {at} is the second one of {_described(curve)}")
        seen.add(key)
    return tuple(curves)


def read_origin(entries: object) -> Provenance:
    """Return the contents of `[origin]`.

    Raises:
        ValueError: an entry is missing or invalid.
    """
    where = "[origin]"
    table = _table(entries, where, [entry.name for entry in fields(Provenance)])
    texts: dict[str, Any] = {key: table.get(key) for key in _TEXTS}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"'{key}' in {where} {_found(text)}: expected a text")
    numbers = {key: table.get(key, 0.0) for key in ("seconds_per_program", "spread")}
    for key, number in numbers.items():
        if not _is_number(number) or not 0 <= number < math.inf:
            message = f"'{key}' in {where} is {number!r}: expected zero or a positive number"
            raise ValueError(message)
    interrupted = table.get("interrupted", False)
    if not isinstance(interrupted, bool):
        raise ValueError(f"'interrupted' in {where} is {interrupted!r}: expected true or false")
    origin = Provenance(**texts, **numbers, interrupted=interrupted)
    try:
        sizes = origin.sizes
    except ValueError:
        sizes = {"": 0}
    if any(not axis or size < 1 for axis, size in sizes.items()):
        message = f"'mesh' in {where} is {origin.mesh!r}: expected axes and sizes"
        raise ValueError(f"{message}, such as data:4,model:2")
    return origin


def _curve(entries: object, where: str) -> Curve:
    keys = ("kind", "axes", "devices", "element", "amounts", "seconds", "rates")
    table = _table(entries, where, keys)
    kind = table.get("kind")
    if kind not in _KINDS:
        hint = did_you_mean(str(kind), _KINDS)
        raise ValueError(
            f"'kind' in {where} {_found(kind)}: expected one of {', '.join(_KINDS)}{hint}"
        )
    where = f"{where} ({kind})"
    values = "rates" if kind in PRODUCTS else "seconds"
    is_collective = kind in COLLECTIVES
    needed = {"amounts", values, *(["element"] * (kind in PRODUCTS)), *(["axes"] * is_collective)}
    allowed = {"kind", *needed, *(["devices"] * is_collective)}
    if wrong := sorted(table.keys() - allowed):
        raise ValueError(f"'{wrong[0]}' in {where} is for another kind: remove it")
    if missing := sorted(needed - table.keys()):
        raise ValueError(f"'{missing[0]}' in {where} is missing")
    axes, devices, element = (table.get(key) for key in ("axes", "devices", "element"))
    if axes is not None and not (_is_list(axes) and axes and all(isinstance(a, str) for a in axes)):
        raise ValueError(f"'axes' in {where} is {axes!r}: expected a list of names")
    if devices is not None and (not isinstance(devices, int) or devices < 2):
        raise ValueError(f"'devices' in {where} is {devices!r}: expected an integer, at least 2")
    if element is not None and not isinstance(element, str):
        raise ValueError(f"'element' in {where} is {element!r}: expected a type, such as bf16")
    columns = [_numbers(table, key, where) for key in ("amounts", values)]
    amounts, found = columns
    if len(amounts) != len(found):
        raise ValueError(f"{where} has {len(amounts)} amounts, but {len(found)} {values}")
    if list(amounts) != sorted(set(amounts)):
        raise ValueError(f"'amounts' in {where} don't rise: sort them, each one once")
    return Curve(kind, amounts, found, tuple(axes or ()), devices or 0, element or "")


def _numbers(table: Mapping[str, Any], key: str, where: str) -> tuple[float, ...]:
    given = table[key]
    if not _is_list(given) or not given or not all(_is_number(each) for each in given):
        raise ValueError(f"'{key}' in {where} is {given!r}: expected a list of numbers")
    wrong = [each for each in given if not 0 < each < math.inf]
    if wrong:
        raise ValueError(f"'{key}' in {where} has {wrong[0]!r}: expected positive numbers")
    return tuple(map(float, given))


def _table(entries: object, where: str, known: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(entries, Mapping):
        raise ValueError(f"{where} is no table")
    table = cast("Mapping[str, Any]", entries)
    if unknown := sorted(table.keys() - set(known)):
        advice = did_you_mean(unknown[0], known)
        listed = ", ".join(sorted(known))
        raise ValueError(f"unknown key '{unknown[0]}' in {where}; expected one of {listed}{advice}")
    return table


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _found(value: object) -> str:
    return "is missing" if value is None else f"is {value!r}"


def _described(curve: Curve) -> str:
    along = f" along {', '.join(curve.axes)}" if curve.axes else ""
    return f"{curve.kind}{along}{' of ' + curve.element if curve.element else ''}"
