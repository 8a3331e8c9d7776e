# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices and the links between them, described by a TOML file.

name = "two hosts of 4"
flops_per_second = 1e14        # of matrix products
bytes_per_second = 1e12        # between a device and its memory
bytes_of_memory = 16e9

[link]                         # along every axis that is not named below
bytes_per_second = 1e11        # that a device sends
seconds_to_start = 1e-6        # until the first byte of a step arrives

[axes.data]                    # along the mesh axis "data"
bytes_per_second = 1e10
seconds_to_start = 1e-5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import tomli

from mlir_sdy.diagnostics import UsageError, error

_PRESETS = resources.files("pyshardy.cost") / "presets"


@dataclass(frozen=True, slots=True)
class Link:
    """The link between neighboring devices along a mesh axis.

    Attributes:
        bytes_per_second: the bandwidth of a device for sending.
        seconds_to_start: the latency of a step.
    """

    bytes_per_second: float
    seconds_to_start: float


@dataclass(frozen=True, slots=True)
class Hardware:
    """The devices of a mesh, all alike.

    Attributes:
        name: the name of the hardware.
        flops_per_second: multiplications and additions of matrix products.
        bytes_per_second: the bandwidth of a device's memory.
        bytes_of_memory: the size of a device's memory.
        link: the link along axes that are not in `axes`.
        axes: the links along other axes.
    """

    name: str
    flops_per_second: float
    bytes_per_second: float
    bytes_of_memory: float
    link: Link
    axes: Mapping[str, Link] = field(default_factory=dict[str, Link])

    def link_along(self, axis: str) -> Link:
        """Return the link along an axis."""
        return self.axes.get(axis, self.link)


def presets() -> tuple[str, ...]:
    """Return the names of the built-in hardware."""
    names = (entry.name for entry in _PRESETS.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load_hardware(name_or_path: str) -> Hardware:
    """Read hardware.

    Args:
        name_or_path: the name of a preset, or a TOML file, whose name ends with ".toml".

    Raises:
        UsageError: there is no such preset or file, or an entry is missing or invalid.
    """
    if name_or_path.endswith(".toml"):
        try:
            text = Path(name_or_path).read_text()
        except (OSError, UnicodeDecodeError) as reason:
            raise UsageError(error(f"cannot read the hardware description: {reason}")) from None
    elif name_or_path in presets():
        text = (_PRESETS / f"{name_or_path}.toml").read_text()
    else:
        known = ", ".join(presets())
        message = f"unknown hardware '{name_or_path}': expected one of {known}, or a .toml file"
        raise UsageError(error(message))
    try:
        return _hardware(tomli.loads(text))
    except ValueError as reason:
        raise UsageError(error(f"{name_or_path}: {reason}")) from None


def _hardware(entries: Mapping[str, Any]) -> Hardware:
    known = {"name", "flops_per_second", "bytes_per_second", "bytes_of_memory", "link", "axes"}
    _check_known(entries, known, "the file")
    axes: Mapping[str, Any] = entries.get("axes", {})
    return Hardware(
        str(entries.get("name", "hardware")),
        _positive(entries, "flops_per_second", "the file"),
        _positive(entries, "bytes_per_second", "the file"),
        _positive(entries, "bytes_of_memory", "the file"),
        _link(entries.get("link", {}), "[link]"),
        {axis: _link(link, f"[axes.{axis}]") for axis, link in axes.items()},
    )


def _link(entries: Mapping[str, Any], where: str) -> Link:
    _check_known(entries, {"bytes_per_second", "seconds_to_start"}, where)
    return Link(
        _positive(entries, "bytes_per_second", where), _positive(entries, "seconds_to_start", where)
    )


def _check_known(entries: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(entries.keys() - known)
    if unknown:
        listed = ", ".join(sorted(known))
        raise ValueError(f"unknown key '{unknown[0]}' in {where}; expected one of {listed}")


def _positive(entries: Mapping[str, Any], key: str, where: str) -> float:
    value = entries.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        found = "is missing" if value is None else f"is {value!r}"
        raise ValueError(f"'{key}' in {where} {found}: expected a positive number")
    return float(value)
