# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices and the links between them, described by a TOML file.

name = "two hosts of 4"
flops_per_second = 1e14        # of matrix products
bytes_per_second = 1e12        # between a device and its memory
bytes_of_memory = 16e9
seconds_per_collective = 2e-6  # to launch a collective; 0 if missing
seconds_per_kernel = 3e-6      # to start an operation that isn't fused; 0 if missing
compute_while_communicating = 0.9  # of the computing rate while a link is busy; 1 if missing
half_rate_size = 64            # smallest dimension of a product at half of its rate; 0 if missing

[flops_by_element]             # of matrix products of some elements, if different
f32 = 5e13
f8 = 2e14                      # all floating-point numbers of 8 bits

[link]                         # along every axis that is not named below
bytes_per_second = 1e11        # that a device sends
seconds_to_start = 1e-6        # until the first byte of a step arrives
lane = "shared"                # these axes take turns; "axis" if each has links of its own
directions = 1                 # 2 if the bandwidth is the sum of both directions of a torus

[axes.data]                    # along the mesh axis "data"
bytes_per_second = 1e10
seconds_to_start = 1e-5

[between_meshes]               # between meshes of a pipeline; the slowest link if missing
bytes_per_second = 1e10
seconds_to_start = 1e-5

Files of `sdy-calibrate` also have the tables `[origin]` and `[[measured]]`, see `cost.measured`.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from mlir_sdy.diagnostics import UsageError, emit, error, warning, wrong_type
from mlir_sdy.files import read_text
from mlir_sdy.model.hashing import HashSlot, hash_once
from mlir_sdy.suggest import did_you_mean
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, REPORT_HARDWARE
from pyshardy.cost.measured import (
    ELEMENTWISE,
    PRODUCT,
    PRODUCTS,
    Curve,
    Provenance,
    inline_toml,
    read_curves,
    read_origin,
)
from pyshardy.toml import loads

_PRESETS = resources.files("pyshardy.cost") / "presets"

_MOST_SECONDS, _MOST = 1, 1e21
"""The largest latency and the largest rate or size that real hardware may have."""

SHARED, OWN = "shared", "axis"
"""The lanes of links: a lane that axes share, or a lane for each axis."""

_T = TypeVar("_T", str, int)


@dataclass(frozen=True, slots=True)
class Link:
    """The link between neighboring devices along a mesh axis.

    Attributes:
        bytes_per_second: the bandwidth of a device for sending.
        seconds_to_start: the latency of a step.
        lane: `axis` if collectives along other axes run beside those along this one, `shared` if
            the axes take turns.
        directions: 2 if the bandwidth is that of both directions together, else 1.
    """

    bytes_per_second: float
    seconds_to_start: float
    lane: str = SHARED
    directions: int = 1


@hash_once
@dataclass(frozen=True, slots=True)
class Hardware(HashSlot):
    """The devices of a mesh, all alike.

    Attributes:
        name: the name of the hardware.
        flops_per_second: multiplications and additions of matrix products.
        flops_by_element: those of products of some elements, if different (see `flops_of`).
        bytes_per_second: the bandwidth of a device's memory.
        bytes_of_memory: the size of a device's memory.
        link: the link along axes that are not in `axes`.
        axes: the links along other axes.
        seconds_per_collective: the time to launch a collective, whatever it sends.
        compute_while_communicating: the part of the computing rate that is left while a collective
            runs.
        half_rate_size: the smallest dimension of a product that runs at half of the rate; those of
            size m run at m / (m + `half_rate_size`) of it.
        seconds_per_kernel: the time to start an operation that isn't fused.
        measured: measured times and rates, which count instead of those by the other numbers.
        origin: where these come from; None for other hardware.
        between_meshes: the link between devices of different meshes; None for the slowest link.
    """

    name: str
    flops_per_second: float
    bytes_per_second: float
    bytes_of_memory: float
    link: Link
    axes: Mapping[str, Link] = field(default_factory=dict[str, Link])
    seconds_per_collective: float = 0.0
    flops_by_element: Mapping[str, float] = field(default_factory=dict[str, float])
    compute_while_communicating: float = 1.0
    half_rate_size: float = 0.0
    seconds_per_kernel: float = 0.0
    measured: tuple[Curve, ...] = ()
    origin: Provenance | None = None
    between_meshes: Link | None = None

    def __hash__(self) -> int:
        """Return a hash of the name, the rates and the links."""
        rates = self.flops_per_second, self.bytes_per_second, self.bytes_of_memory
        rates = *rates, self.compute_while_communicating, self.half_rate_size
        rates = *rates, self.seconds_per_kernel, self.measured, self.origin
        links = self.link, frozenset(self.axes.items()), self.seconds_per_collective
        links = *links, self.between_meshes
        return hash((self.name, rates, frozenset(self.flops_by_element.items()), links))

    @property
    def entries(self) -> dict[str, object]:
        """The entries of its file, without `measured` and `origin` of other hardware."""
        found: dict[str, object] = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        found |= {"link": asdict(self.link), "measured": [each.entries for each in self.measured]}
        found["axes"] = {name: asdict(link) for name, link in self.axes.items()}
        between = self.between_meshes
        found["between_meshes"] = None if between is None else asdict(between)
        found["origin"] = None if self.origin is None else self.origin.entries
        return {key: value for key, value in found.items() if value not in (None, [])}

    @property
    def text(self) -> str:
        """The value of the option `hardware` of passes: an inline table of TOML."""
        return inline_toml(self.entries)

    @property
    def title(self) -> str:
        """The name, with the origin of measured hardware."""
        return self.name if self.origin is None else f"{self.name} ({self.origin})"

    def curve(self, kind: str, axes: Iterable[str] = (), devices: int = 0) -> Curve | None:
        """Return what was measured of a collective, or of elementwise operations.

        Args:
            kind: a kind of collective, or `elementwise`.
            axes: the axes of the collective in any order.
            devices: the devices of its group.
        """
        if not self.measured:
            return None
        found = _curves(self)
        group = frozenset(axes)
        return found.get((kind, group, devices)) or found.get((kind, group, 0))

    def curves_of_nearest_size(self, kind: str, devices: int) -> tuple[Curve, ...]:
        """Return what was measured of a collective in groups whose size is the nearest."""
        return _nearest_curves(self, kind, devices)

    def link_along(self, axis: str) -> Link:
        """Return the link along an axis."""
        return self.axes.get(axis, self.link)

    def lanes(self, axes: Iterable[str]) -> tuple[str, ...]:
        """Return the lanes that a collective along some axes occupies.

        1. Collectives of one lane run one after another, others beside each other.
        2. An axis has a lane of its own, named like it, if its link says `lane = "axis"`: by
           default if it is in `axes`. The others share the lane `link`.

        Args:
            axes: the names of the axes; those of groups along no axes share the lane `link`.
        """
        lanes = [axis if self.link_along(axis).lane == OWN else "link" for axis in axes]
        return tuple(sorted(set(lanes))) or ("link",)

    def slowest_link(self, axes: Iterable[str]) -> Link:
        """Return the lowest bandwidth and the highest latency along some axes.

        Those of `link` if there are none.
        """
        if not self.axes:
            return self.link
        links = [self.link_along(axis) for axis in axes] or [self.link]
        return Link(
            min(link.bytes_per_second for link in links),
            max(link.seconds_to_start for link in links),
        )

    @property
    def link_between_meshes(self) -> Link:
        """The link between devices of different meshes: the slowest link by default."""
        return self.between_meshes or self.slowest_link(self.axes)

    def flops_of(self, element: str | None) -> float:
        """Return the rate of products of some elements: the first that `flops_by_element` has.

        1. That of the elements themselves, such as `f8E4M3FN` or `f32-highest`.
        2. For `f32` of a precision, that of the lower ones: `f32-high`, then `f32`.
        3. For unsigned integers, such as `ui8`, that of `i8`.
        4. For small floating-point numbers, that of all with their number of bits: `f8`.
        5. Otherwise, `flops_per_second`.

        Args:
            element: the elements, as in `Work.element`; None for operations that aren't products.
        """
        if element is None or not self.flops_by_element:
            return self.flops_per_second
        rates = (self.flops_by_element.get(name) for name in _names_of(element))
        return next((rate for rate in rates if rate is not None), self.flops_per_second)

    def work_seconds(
        self,
        operations: float,
        accessed: float,
        element: str | None = None,
        smallest: float = 0.0,
        kind: str = PRODUCT,
    ) -> float:
        """Return the time of a computation: the maximum of its arithmetic and memory traffic.

        Args:
            operations: the number of arithmetic operations.
            accessed: the bytes that are read and written.
            element: the elements of a product (see `flops_of`).
            smallest: the size of the smallest dimension of a product, for `half_rate_size`; 0 for
                other operations.
            kind: the kind of a product, whose measured rates count; those of products otherwise.
        """
        rates = None
        if smallest and self.measured:
            known = _rates(self)
            rates = known.get((kind, element)) or known.get((PRODUCT, element))
        if rates is not None:
            arithmetic = operations / rates.at(smallest)
        else:
            arithmetic = operations / self.flops_of(element)
            if self.half_rate_size and smallest:
                arithmetic *= (smallest + self.half_rate_size) / smallest
        passes = self.curve(ELEMENTWISE) if accessed else None
        memory = accessed / self.bytes_per_second if passes is None else passes.at(accessed)
        return max(arithmetic, memory)


@cache
def _curves(hardware: Hardware) -> dict[tuple[str, frozenset[str], int], Curve]:
    return {(each.kind, frozenset(each.axes), each.devices): each for each in hardware.measured}


@cache
def _nearest_curves(hardware: Hardware, kind: str, devices: int) -> tuple[Curve, ...]:
    curves = [each for each in hardware.measured if each.kind == kind]
    ratios = [abs(math.log(each.devices / devices)) if each.devices else 0.0 for each in curves]
    nearest = min(ratios, default=0.0)
    return tuple(each for each, ratio in zip(curves, ratios, strict=True) if ratio == nearest)


@cache
def _rates(hardware: Hardware) -> dict[tuple[str, str | None], Curve]:
    """Return what was measured of products by their kinds and elements."""
    rates = (each for each in hardware.measured if each.kind in PRODUCTS)
    return {(each.kind, each.element): each for each in rates}


_SMALL_FLOAT = re.compile(r"f[1-8](?=E)")
_BY_PRECISION = ("f32-highest", "f32-high", "f32")
_COMMON_ELEMENTS = (
    *_BY_PRECISION,
    *("bf16", "f16", "f64", "f8", "f6", "f4"),
    *("i1", "i2", "i4", "i8", "i16", "i32", "i64"),
)
_ELEMENT = re.compile(rf"{'|'.join(_COMMON_ELEMENTS)}|ui\d+|f[1-8]E\w+")


@cache
def _names_of(element: str) -> tuple[str, ...]:
    """Return the names by which `flops_by_element` may have the rate of some elements."""
    if element in _BY_PRECISION:
        return _BY_PRECISION[_BY_PRECISION.index(element) :]
    small = _SMALL_FLOAT.match(element)
    return (element, element.removeprefix("u"), *([small[0]] if small else []))


@functools.cache
def presets() -> tuple[str, ...]:
    """Return the names of the built-in hardware."""
    names = (entry.name for entry in _PRESETS.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load_hardware(text: Hardware | str) -> Hardware:
    """Read hardware; a value is returned as it is.

    Args:
        text: the name of a preset; a TOML file, whose name ends with ".toml"; an inline table of
            TOML, such as `Hardware.text`; or a value.

    Raises:
        WrongTypeError: it is no text.
        UsageError: there is no such preset or file, or an entry is missing or invalid.
    """
    if isinstance(text, Hardware):
        return text
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        expected = f"hardware: sdy.Hardware, a file *.toml or one of {', '.join(presets())}"
        raise wrong_type("load_hardware", expected, text)
    if text in presets():
        return _preset(text)
    try:
        if text.startswith("{"):
            return _of_table(text)
        if text.endswith(".toml"):
            return _hardware(loads(read_text(text, "the hardware file")))
    except ValueError as reason:
        raise UsageError(error(f"{text}: {reason}")) from None
    message = f"unknown hardware '{text}': expected one of {', '.join(presets())}, or a .toml file"
    raise UsageError(error(message + did_you_mean(text, presets())))


def report_hardware_of(
    hardware: Hardware | str, report_hardware: Hardware | str | None = None
) -> Hardware:
    """Return the hardware whose times count, in reports and in automatic sharding.

    By default it is the hardware that programs are partitioned for; an H100 if this is the default,
    which is no real device.

    Args:
        hardware: the hardware that programs are partitioned for.
        report_hardware: other hardware whose times count; None for the default.

    Raises:
        UsageError: there is no such hardware.
    """
    used = report_hardware or (REPORT_HARDWARE if hardware == DEFAULT_HARDWARE else hardware)
    return load_hardware(used)


def warn_of_other_axes(hardware: Hardware, sizes: Mapping[str, int]) -> None:
    """Emit warnings if the hardware isn't that of the meshes.

    1. It was measured, but not along an axis of several devices, or with another number of devices
       along it.
    2. It was not measured, and has a link along an axis that no mesh has.

    Args:
        hardware: the hardware.
        sizes: the sizes of the axes of all meshes.
    """
    if hardware.origin is None:
        _warn_of_unused_links(hardware, sizes)
        return
    measured = hardware.origin.sizes
    others = [axis for axis, size in sizes.items() if size not in (1, measured.get(axis, 1))]
    if others:
        mesh = ",".join(f"{axis}:{size}" for axis, size in sizes.items())
        message = f"the hardware '{hardware.name}' was measured on the mesh {hardware.origin.mesh}"
        message += f", the program's is {mesh}: along {', '.join(others)} the measured groups of "
        message += "the nearest size count, the slowest of them; to measure the others: "
        emit(warning(f"{message}sdy-calibrate --mesh={mesh}"))


def _warn_of_unused_links(hardware: Hardware, axes: Collection[str]) -> None:
    for name in hardware.axes:
        if name not in axes:
            known = ", ".join(f'"{axis}"' for axis in axes) or "none"
            advice = did_you_mean(name, axes, mark='"')
            message = f"the hardware '{hardware.name}' has a link along the axis \"{name}\""
            message += f", which no mesh has: it isn't used; the axes are {known}{advice}"
            emit(warning(message))


@cache
def _preset(name: str) -> Hardware:
    return _hardware(loads((_PRESETS / f"{name}.toml").read_text(encoding="utf-8")))


@cache
def _of_table(text: str) -> Hardware:
    return _hardware(loads(f"hardware = {text}")["hardware"])


def _hardware(entries: Mapping[str, Any]) -> Hardware:
    _check_known(entries, {entry.name for entry in fields(Hardware)}, "the file")
    axes: Mapping[str, Any] = entries.get("axes", {})
    rates: Mapping[str, Any] = entries.get("flops_by_element", {})
    _check_elements(rates)
    launch, half, start = (
        _number(entries, key, "the file", or_zero=True, default=0.0)
        for key in ("seconds_per_collective", "half_rate_size", "seconds_per_kernel")
    )
    curves, origin = entries.get("measured", []), entries.get("origin")
    between = entries.get("between_meshes")
    left = _number(entries, "compute_while_communicating", "the file", default=1.0)
    if left > 1.0:
        raise ValueError(
            f"'compute_while_communicating' in the file is {left}: expected a part of the rate, "
            "at most 1"
        )
    return Hardware(
        str(entries.get("name", "hardware")),
        _number(entries, "flops_per_second", "the file"),
        _number(entries, "bytes_per_second", "the file"),
        _number(entries, "bytes_of_memory", "the file"),
        _link(entries.get("link", {}), "[link]", SHARED),
        {axis: _link(link, f"[axes.{axis}]", OWN) for axis, link in axes.items()},
        launch,
        {element: _number(rates, element, "[flops_by_element]") for element in rates},
        left,
        half,
        start,
        read_curves(curves),
        None if origin is None else read_origin(origin),
        None if between is None else _link(between, "[between_meshes]", OWN),
    )


def _link(entries: Mapping[str, Any], where: str, lane: str) -> Link:
    _check_known(entries, {entry.name for entry in fields(Link)}, where)
    return Link(
        _number(entries, "bytes_per_second", where),
        _number(entries, "seconds_to_start", where, or_zero=True),
        _one_of(entries, "lane", where, (SHARED, OWN), lane),
        _one_of(entries, "directions", where, (1, 2), 1),
    )


def _one_of(
    entries: Mapping[str, Any], key: str, where: str, allowed: Sequence[_T], default: _T
) -> _T:
    value = entries.get(key, default)
    if value not in allowed or isinstance(value, bool):
        expected = " or ".join(map(json.dumps, allowed))
        advice = did_you_mean(str(value), [str(each) for each in allowed])
        raise ValueError(f"'{key}' in {where} is {value!r}: expected {expected}{advice}")
    return value


def _check_elements(rates: Mapping[str, Any]) -> None:
    for element in rates:
        if not _ELEMENT.fullmatch(element):
            advice = did_you_mean(element, _COMMON_ELEMENTS)
            raise ValueError(
                f"unknown elements '{element}' in [flops_by_element]; expected a type of MLIR such "
                f"as bf16, i8 or f8E4M3FN, f8 for all of 8 bits, or f32-highest{advice}"
            )


def _check_known(entries: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(entries.keys() - known)
    if unknown:
        listed = ", ".join(sorted(known))
        advice = did_you_mean(unknown[0], known)
        raise ValueError(f"unknown key '{unknown[0]}' in {where}; expected one of {listed}{advice}")


def _number(
    entries: Mapping[str, Any],
    key: str,
    where: str,
    *,
    or_zero: bool = False,
    default: float | None = None,
) -> float:
    """Return a positive number, or zero where that is allowed."""
    value = entries.get(key, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0 or (value == 0 and not or_zero):
        found = "is missing" if value is None else f"is {value!r}"
        expected = "zero or a positive number" if or_zero else "a positive number"
        raise ValueError(f"'{key}' in {where} {found}: expected {expected}")
    if key.startswith("seconds") and value > _MOST_SECONDS:
        raise ValueError(f"'{key}' in {where} is {value} seconds: expected at most {_MOST_SECONDS}")
    if value > _MOST:
        raise ValueError(f"'{key}' in {where} is {value}: expected at most {_MOST:g}")
    return float(value)
