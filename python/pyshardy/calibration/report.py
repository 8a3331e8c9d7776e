# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of a calibration: measurements and hardware; its tables and warnings."""

from __future__ import annotations

import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any, cast

from mlir_sdy.diagnostics import Diagnostic, UsageError, error, warning
from mlir_sdy.files import read_text
from pyshardy.calibration.fitting import Calibration, Residual
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
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.measured import inline_toml, toml_key
from pyshardy.display import Table, counted, seconds_text

_KINDS = (*COLLECTIVES, *PRODUCTS, ELEMENTWISE, START)


def read_measurements(path: str | os.PathLike[str]) -> Measurements:
    """Read the measurements of a file.

    Raises:
        UsageError: the file can't be read, or an entry is missing or invalid.
    """
    text = read_text(path, "the measurements")
    try:
        return _measurements(json.loads(text))
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


NOISY = 0.3
"""The spread from which measurements count as noisy."""

_NUM_NAMED = 3
_TABLES = ("link", "axes", "flops_by_element", "origin", "measured")


def constants_table(hardware: Hardware) -> Table:
    """Return the fitted constants."""
    rows: list[tuple[str, str]] = [
        ("bytes_per_second", f"{hardware.bytes_per_second:.3g}"),
        *((f"flops of {name}", f"{rate:.3g}") for name, rate in hardware.flops_by_element.items()),
        ("half_rate_size", f"{hardware.half_rate_size:.3g}"),
        ("seconds_per_kernel", f"{hardware.seconds_per_kernel:.3g}"),
        ("seconds_per_collective", f"{hardware.seconds_per_collective:.3g}"),
        ("compute_while_communicating", f"{hardware.compute_while_communicating:.2f}"),
    ]
    for axis, link in hardware.axes.items():
        rows.append((f"{axis}: bytes_per_second", f"{link.bytes_per_second:.3g}"))
        rows.append((f"{axis}: seconds_to_start", f"{link.seconds_to_start:.3g}"))
        rows.append((f"{axis}: lane", link.lane))
    return Table(hardware.title, ("constant", "value"), rows, num_numeric=1)


def residuals_table(calibration: Calibration, *, whole: bool = False) -> Table:
    """Return the errors of the constants, by what was measured.

    Args:
        calibration: the calibration.
        whole: whether to list all sizes.
    """
    if whole:
        rows: list[tuple[object, ...]] = [
            (
                each.point,
                seconds_text(each.point.seconds),
                f"{each.point.spread:.0%}",
                seconds_text(each.fitted),
                f"{each.error:+.0%}",
            )
            for each in calibration.residuals
        ]
        headings = ("measured", "time", "spread", "by constants", "residual")
        return Table("Measurements", headings, rows, num_numeric=4)
    series: defaultdict[str, list[Residual]] = defaultdict(list)
    for each in calibration.residuals:
        series[_series(each.point.steps[0])].append(each)
    rows = []
    for name, found in series.items():
        errors = [abs(each.error) for each in found]
        spread = median([each.point.spread for each in found])
        largest = max(found, key=lambda each: abs(each.error))
        size = str(largest.point).rpartition(", ")[2]
        worst = f"{largest.error:+.0%} ({size})"
        rows.append((name, len(found), f"{spread:.0%}", f"{median(errors):.0%}", worst))
    headings = ("measured", "sizes", "spread", "residual", "largest residual")
    return Table("Residuals of the constants: medians", headings, rows, num_numeric=4)


def _series(step: TimedStep) -> str:
    if step.kind in COLLECTIVES:
        return f"{step.kind} along {', '.join(step.axes)}"
    if step.kind == START:
        return "start of a kernel"
    return f"{step.kind} of {step.element}" if step.kind in PRODUCTS else step.kind


def remarks(found: Measurements, calibration: Calibration) -> Iterator[str]:
    """Yield lines on what wasn't measured, and why."""
    if calibration.unseen:
        yield "Constants that were not measured:"
        yield from (f"  {each}" for each in calibration.unseen)
    for reason, count in Counter(found.left_out.values()).items():
        named = [what for what, why in found.left_out.items() if why == reason]
        listed = "; ".join(named[:_NUM_NAMED]) + ("; ..." if count > _NUM_NAMED else "")
        yield f"{counted(count, 'measurement')} left out: {reason}: {listed}"


def warnings_of(found: Measurements) -> Iterator[Diagnostic]:
    """Yield warnings of noise and of an interruption."""
    noisy = [point for point in found.points if point.spread > NOISY]
    if noisy:
        worst = max(noisy, key=lambda point: point.spread)
        message = f"{counted(len(noisy), 'measurement')} of {len(found.points)} spread over more "
        message += f"than {NOISY:.0%}, up to {worst.spread:.0%} ({worst}): other work runs on "
        yield warning(f"{message}these devices; measure again when they are idle")
    if found.interrupted:
        message = f"measuring was interrupted after {counted(len(found.points), 'measurement')}"
        yield warning(f"{message}: the rest takes the fitted constants; the file is marked")


def hardware_file(hardware: Hardware) -> str:
    """Return the text of the TOML file of some hardware."""
    entries = hardware.entries
    lines = [
        "# Written by sdy-calibrate. The amounts of collectives are bytes that a device sends; of",
        "# elementwise operations, bytes read and written; of products, the smallest dimension.",
    ]
    lines += [f"{key} = {inline_toml(each)}" for key, each in entries.items() if key not in _TABLES]
    for key in ("link", "flops_by_element", "origin"):
        if key in entries:
            lines += _table(key, entries[key])
    for axis, link in _mapping(entries["axes"]).items():
        lines += _table(f"axes.{toml_key(axis)}", link)
    for curve in hardware.measured:
        lines += _table("[measured]", curve.entries)
    return "\n".join(lines) + "\n"


def _table(name: str, entries: object) -> list[str]:
    pairs = (f"{toml_key(key)} = {inline_toml(each)}" for key, each in _mapping(entries).items())
    return ["", f"[{name}]", *pairs]


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value)
