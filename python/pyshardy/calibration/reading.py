# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of measurements, written by `measuring` as JSON."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.calibration.measuring import (
    COLLECTIVES,
    ELEMENTWISE,
    PRODUCTS,
    START,
    VERSION,
    Measurements,
    Point,
    TimedStep,
)

_KINDS = (*COLLECTIVES, *PRODUCTS, ELEMENTWISE, START)


def read_measurements(path: str | os.PathLike[str]) -> Measurements:
    """Read the measurements of a file.

    Raises:
        UsageError: the file can't be read, or an entry is missing or invalid.
    """
    try:
        entries = json.loads(Path(path).read_text(encoding="utf-8"))
        return _measurements(entries)
    except (OSError, UnicodeDecodeError) as reason:
        raise UsageError(error(f"cannot read the measurements '{path}': {reason}")) from None
    except json.JSONDecodeError as reason:
        message = f"{path}:{reason.lineno}:{reason.colno}: it is no JSON of sdy-calibrate's script"
        raise UsageError(error(f"{message}: {reason.msg}")) from None
    except KeyError as missing:
        message = f"{path}: the entry {missing} is missing; measure again with sdy-calibrate"
        raise UsageError(error(message)) from None
    except (TypeError, ValueError, AttributeError) as reason:
        message = f"{path}: {reason}; measure again with sdy-calibrate"
        raise UsageError(error(message)) from None


def _measurements(entries: Mapping[str, Any]) -> Measurements:
    if not isinstance(entries, dict) or "version" not in entries:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError("it has no measurements of sdy-calibrate's script")
    if entries["version"] != VERSION:
        raise ValueError(f"its format is version {entries['version']}, expected {VERSION}")
    mesh = {str(axis): int(size) for axis, size in entries["mesh"].items()}
    return Measurements(
        mesh,
        str(entries["devices"]),
        str(entries["versions"]),
        str(entries["date"]),
        _positive(entries, "bytes_of_memory", "the file"),
        [_point(point, mesh, f"point {at}") for at, point in enumerate(entries["points"], 1)],
        {str(what): str(reason) for what, reason in entries["left_out"].items()},
        bool(entries["interrupted"]),
        float(entries["seconds_of_program"]),
    )


def _point(entries: Mapping[str, Any], mesh: Mapping[str, int], where: str) -> Point:
    steps = tuple(_step(step, mesh, where) for step in entries["steps"])
    alone = tuple(float(each) for each in entries["alone"])
    if not 1 <= len(steps) <= 2 or len(alone) != (2 if len(steps) == 2 else 0):
        raise ValueError(f"{where} has {len(steps)} steps and {len(alone)} times of single ones")
    if any(not 0 < each < math.inf for each in alone):
        raise ValueError(f"'alone' of {where} is {list(alone)}: expected positive numbers")
    return Point(steps, _positive(entries, "seconds", where), float(entries["spread"]), alone)


def _step(entries: Mapping[str, Any], mesh: Mapping[str, int], where: str) -> TimedStep:
    kind, axes = entries["kind"], tuple(entries["axes"])
    if kind not in _KINDS:
        raise ValueError(f"'kind' of {where} is {kind!r}: expected one of {', '.join(_KINDS)}")
    for axis in axes:
        if axis not in mesh:
            raise ValueError(f"{where} is along '{axis}', which its mesh {dict(mesh)} hasn't")
    rows, summands, columns = map(int, entries["shape"])
    step = TimedStep(
        kind,
        axes,
        int(entries["nbytes"]),
        str(entries["element"]),
        (rows, summands, columns),
        int(entries["times"]),
    )
    if not 0 < step.amount < math.inf or (kind in COLLECTIVES) != bool(axes):
        raise ValueError(f"{where} has sizes or axes that {kind} can't have")
    return step


def _positive(entries: Mapping[str, Any], key: str, where: str) -> float:
    value = float(entries[key])
    if not 0 < value < math.inf:
        raise ValueError(f"'{key}' of {where} is {entries[key]}: expected a positive number")
    return value
