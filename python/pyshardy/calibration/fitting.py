# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constants of hardware from measurements, by least squares on relative errors.

| constant                      | from                                                        |
|-------------------------------|-------------------------------------------------------------|
| `seconds_per_kernel`          | a chain of the smallest kernels                             |
| `bytes_per_second`            | elementwise operations, from 1 MiB on                       |
| rates of products, by element | products                                                    |
| `half_rate_size`              | products of several smallest dimensions                     |
| links, and the launch         | collectives along one axis                                  |
| `lane`                        | two collectives at once                                     |
| `compute_while_communicating` | a collective beside products                                |

All measured points are kept beside the constants, which count where nothing was measured.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import geometric_mean, median

import numpy as np
import numpy.typing as npt

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.calibration.measuring import (
    COLLECTIVES,
    ELEMENTWISE,
    MIB,
    PRODUCT,
    PRODUCTS,
    START,
    WINDOW,
    Measurements,
    Point,
    TimedStep,
    mesh_text,
)
from pyshardy.cost.collectives import PlannedCollective, num_steps, share_sent
from pyshardy.cost.hardware import OWN, SHARED, Hardware, Link
from pyshardy.cost.measured import GROUPED, Curve, Provenance

_LEAST_RATE_LEFT = 0.01
_LEAST_WORK = 0.1
"""The least part of a measured time that isn't the start of the kernel."""
_HALF_RATE_SIZES = (0.0, *np.geomspace(1, 4096, 97).tolist())
_OVERLAP_OF_OWN_LANES = 0.5
"""The part of the shorter of two collectives at once that is hidden, if lanes are their own."""

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Residual:
    """A measurement beside the times of the model.

    Attributes:
        point: the measurement.
        fitted: the seconds by the constants alone.
        error: how far these are above the measured time, as a part of it; below if negative.
    """

    point: Point
    fitted: float
    error: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Hardware that was measured.

    Attributes:
        hardware: its description.
        residuals: the measurements of single steps beside the fitted constants.
        unseen: the constants that weren't measured, and what stands for them.
    """

    hardware: Hardware
    residuals: tuple[Residual, ...]
    unseen: tuple[str, ...]


def calibrate(found: Measurements, name: str = "") -> Calibration:
    """Fit the constants of hardware to measurements.

    Args:
        found: the measurements.
        name: the name of the hardware; that of the devices by default.

    Raises:
        UsageError: there are neither measurements of products nor of elementwise operations.
    """
    single = [point for point in found.points if len(point.steps) == 1]
    if not single:
        message = "there are no measurements: measuring was interrupted too early"
        raise UsageError(error(f"{message}; start it again"))
    unseen: list[str] = []
    start = _start(single, unseen)
    rates, half = _products(single, start, unseen)
    bandwidth = _bandwidth(single, start, unseen)
    fastest = max(rates.values(), default=bandwidth)
    launch, links = _links(single, found.mesh, unseen)
    links = _with_lanes(found, links, unseen)
    # For axes that weren't measured: the slowest of each.
    other = Link(
        min((link.bytes_per_second for link in links.values()), default=bandwidth),
        max((link.seconds_to_start for link in links.values()), default=0.0),
    )
    spread = median([point.spread for point in found.points])
    interrupted = found.interrupted
    mesh = mesh_text(found.mesh)
    hardware = Hardware(
        name or found.devices,
        _rounded(fastest),
        _rounded(bandwidth),
        found.bytes_of_memory,
        other,
        links,
        _rounded(launch),
        {element: _rounded(rate) for element, rate in rates.items()},
        round(_rate_left(found, unseen), 2),
        _rounded(half),
        _rounded(start),
        _curves(single, found.mesh, start),
        Provenance(
            found.devices,
            found.date,
            found.versions,
            mesh,
            _rounded(found.seconds_of_program),
            round(spread, 4),
            interrupted,
        ),
    )
    constants = replace(hardware, measured=())
    residuals = [_residual(point, constants, found.mesh) for point in single]
    return Calibration(hardware, tuple(residuals), tuple(unseen))


# --- Computation ----------------------------------------------------------------------------------


def _start(points: Sequence[Point], unseen: list[str]) -> float:
    by_kind = {
        kind: [point.seconds for point in points if point.steps[0].kind == kind]
        for kind in (START, ELEMENTWISE)
    }
    smallest = by_kind[START] or by_kind[ELEMENTWISE]
    if not smallest:
        unseen.append("seconds_per_kernel: not measured, 0")
    return min(smallest, default=0.0)


def _products(
    points: Sequence[Point], start: float, unseen: list[str]
) -> tuple[dict[str, float], float]:
    """Return the rates by element, and the dimension at which they are half as high."""
    by_element: defaultdict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for point in points:
        (step,) = point.steps
        if step.kind == PRODUCT:
            by_element[step.element].append((step.amount, min(step.shape), point.seconds))
    if not by_element:
        unseen.append("flops_per_second: no product was measured, the rate of the memory")
        return {}, 0.0
    tables: dict[str, _Floats] = {each: np.array(rows).T for each, rows in by_element.items()}

    def fit(half: float) -> tuple[float, dict[str, float]]:
        """Return the sum of squared relative errors, and the rates for a `half_rate_size`."""
        total, rates = 0.0, dict[str, float]()
        for element, (amount, smallest, seconds) in tables.items():
            relative: _Floats = amount * (1 + half / smallest) / seconds
            work: _Floats = np.maximum(1 - start / seconds, 0.0)
            inverse = float(np.dot(work, relative) / np.square(relative).sum())
            total += float(np.square(work - inverse * relative).sum())
            rates[element] = 1 / max(inverse, 1e-21)
        return total, rates

    sizes = {row[1] for rows in by_element.values() for row in rows}
    candidates = _HALF_RATE_SIZES if len(sizes) > 1 else (0.0,)
    if len(sizes) == 1:
        unseen.append("half_rate_size: products of a single size were measured, 0")
    half = min(candidates, key=lambda size: fit(size)[0])
    return fit(half)[1], float(half)


def _bandwidth(points: Sequence[Point], start: float, unseen: list[str]) -> float:
    passes = [
        (point.steps[0].amount, point.seconds)
        for point in points
        if point.steps[0].kind == ELEMENTWISE
    ]
    large = [(amount, seconds - start) for amount, seconds in passes if amount >= MIB]
    rows = [(a, s) for a, s in large or passes if s > 0]
    if not rows:
        unseen.append("bytes_per_second: no elementwise operation was measured, 1e12")
        return 1e12
    relative: _Floats = np.array([amount / seconds for amount, seconds in rows])
    return float(np.square(relative).sum() / relative.sum())


# --- Communication --------------------------------------------------------------------------------


def planned(step: TimedStep, mesh: Mapping[str, int]) -> PlannedCollective:
    """Return the collective that a step measures."""
    group = math.prod(mesh[axis] for axis in step.axes)
    sent = step.nbytes * float(share_sent(step.kind, group))
    return PlannedCollective(step.kind, group, step.axes, sent)


def _links(
    points: Sequence[Point], mesh: Mapping[str, int], unseen: list[str]
) -> tuple[float, dict[str, Link]]:
    """Return the launch of a collective, and the links along the axes."""
    measured = [
        (planned(point.steps[0], mesh), point.seconds)
        for point in points
        if point.steps[0].kind in COLLECTIVES and len(point.steps[0].axes) == 1
    ]
    axes = [axis for axis in mesh if any(axis in each.axes for each, _ in measured)]
    for axis, size in mesh.items():
        if axis not in axes:
            reason = "it has one device" if size == 1 else "no collective was measured"
            unseen.append(f'axes."{axis}": {reason}, the slowest of the others')
    if not measured:
        unseen.append("link: no collective was measured, the rate of the memory")
        return 0.0, {}
    table = np.zeros((len(measured), 1 + 2 * len(axes)))
    for row, (collective, seconds) in zip(table, measured, strict=True):
        at = 1 + 2 * axes.index(collective.axes[0])
        steps = num_steps(collective.kind, collective.group_size)
        row[0], row[at], row[at + 1] = 1 / seconds, steps / seconds, collective.sent / seconds
    launch, *by_axis = non_negative_least_squares(table, np.ones(len(measured))).tolist()
    links: dict[str, Link] = {}
    for axis, latency, seconds in zip(axes, by_axis[::2], by_axis[1::2], strict=True):
        inverse = seconds
        if not inverse:
            inverse = min(time / each.sent for each, time in measured if axis in each.axes)
            text = "times don't grow with the bytes, the highest that was reached"
            unseen.append(f'axes."{axis}".bytes_per_second: {text}')
        if not latency:
            unseen.append(f'axes."{axis}".seconds_to_start: less than the launch, 0')
        links[axis] = Link(_rounded(1 / inverse), _rounded(latency), SHARED)
    if not launch:
        unseen.append("seconds_per_collective: less than the latencies, 0")
    return launch, links


def non_negative_least_squares(table: _Floats, right: _Floats) -> _Floats:
    """Return the x >= 0 with the least |table x - right|, by Lawson and Hanson's method."""
    scale = np.linalg.norm(table, axis=0)
    scale[scale == 0] = 1.0
    scaled: _Floats = table / scale
    count = scaled.shape[1]
    x, passive = np.zeros(count), np.zeros(count, bool)
    for _ in range(10 * count):
        gradient: _Floats = np.dot(right - np.dot(scaled, x), scaled)
        gradient[passive] = -np.inf
        if gradient.max() <= 1e-9 * len(right):
            break
        passive[np.argmax(gradient)] = True
        while True:
            solved = np.zeros(count)
            solved[passive] = np.linalg.lstsq(scaled[:, passive], right, rcond=None)[0]
            negative = passive & (solved <= 0)
            if not negative.any():
                break
            step = (x[negative] / np.maximum(x[negative] - solved[negative], 1e-300)).min()
            x += step * (solved - x)
            passive &= x > 1e-12
        x = solved
    return x / scale


def _with_lanes(
    found: Measurements, links: Mapping[str, Link], unseen: list[str]
) -> dict[str, Link]:
    """Return the links, with a lane of its own for an axis whose collectives hide others."""
    hidden: dict[frozenset[str], float] = {}
    for point in found.points:
        if len(point.steps) == 2 and all(step.kind in COLLECTIVES for step in point.steps):
            axes = frozenset(axis for step in point.steps for axis in step.axes)
            hidden[axes] = (sum(point.alone) - point.seconds) / min(point.alone)
    pairs = [frozenset(pair) for pair in combinations(links, 2)]
    if any(pair not in hidden for pair in pairs):
        unseen.append("lane: not all pairs of axes were measured at once, shared")
    own = {
        axis: all(hidden.get(pair, 0.0) >= _OVERLAP_OF_OWN_LANES for pair in pairs if axis in pair)
        for axis in links
    }
    return {
        axis: replace(link, lane=OWN if own[axis] and len(links) > 1 else SHARED)
        for axis, link in links.items()
    }


def _rate_left(found: Measurements, unseen: list[str]) -> float:
    """Return the part of the computing rate that is left while a collective runs."""
    left: list[float] = []
    for point in found.points:
        if len(point.steps) == 2 and point.steps[1].kind == PRODUCT:
            communication, products = point.alone
            left.append((communication + products - point.seconds) / min(communication, products))
    if not left:
        unseen.append("compute_while_communicating: not measured, 1")
        return 1.0
    return min(max(median(left), _LEAST_RATE_LEFT), 1.0)


# --- Tables ---------------------------------------------------------------------------------------


def _curves(points: Sequence[Point], mesh: Mapping[str, int], start: float) -> tuple[Curve, ...]:
    """Return the measured points as tables."""
    found: defaultdict[tuple[str, tuple[str, ...], int, str], dict[float, list[float]]]
    found = defaultdict(lambda: defaultdict(list))
    for point in points:
        (step,) = point.steps
        work = max(point.seconds - start, _LEAST_WORK * point.seconds)
        if step.kind in PRODUCTS:
            amount = step.amount / (2 * largest_of(step))
            key, value = (_rate_of(step), (), 0, step.element), step.amount / work
        elif step.kind == ELEMENTWISE:
            key, amount, value = (ELEMENTWISE, (), 0, ""), step.amount, work
        elif step.kind in COLLECTIVES:
            collective = planned(step, mesh)
            # The partitioner counts all devices in the group of a permute.
            group = 0 if step.kind == "collective_permute" else collective.group_size
            key, amount, value = (step.kind, step.axes, group, ""), collective.sent, point.seconds
        else:
            continue
        found[key][amount].append(value)
    return tuple(
        _curve(key, {amount: geometric_mean(values) for amount, values in sorted(by.items())})
        for key, by in found.items()
    )


def _rate_of(step: TimedStep) -> str:
    """Return the kind of `Work` that the rate of a product is for."""
    is_grouped = step.kind != PRODUCT and step.shape[1] == WINDOW
    return GROUPED + step.kind if is_grouped else step.kind


def largest_of(step: TimedStep) -> int:
    """Return the elements of the largest tensor of a product, by which `Work.smallest` is known."""
    rows, summands, columns = step.shape
    if step.kind == PRODUCT:
        return max(rows * summands, summands * columns, rows * columns)
    return max(rows, summands) * columns


def _curve(key: tuple[str, tuple[str, ...], int, str], values: Mapping[float, float]) -> Curve:
    """Return a curve of four digits; times that fall with the amount are noise, and are raised."""
    kind, axes, devices, element = key
    amounts = tuple(values)
    found = np.array([values[each] for each in amounts])
    if kind not in PRODUCTS:
        found = np.minimum.accumulate(found[::-1])[::-1]
    rounded = tuple(map(_rounded, found))
    return Curve(kind, tuple(map(float, amounts)), rounded, axes, devices, element)


def _rounded(value: float) -> float:
    """Return a number with four digits, as in the file."""
    return float(f"{value:.4g}")


def _residual(point: Point, hardware: Hardware, mesh: Mapping[str, int]) -> Residual:
    (step,) = point.steps
    if step.kind in COLLECTIVES:
        fitted = planned(step, mesh).traffic(hardware).seconds
    elif step.kind in PRODUCTS:
        smallest = step.amount / (2 * largest_of(step))
        work = hardware.work_seconds(step.amount, 0.0, step.element, smallest, _rate_of(step))
        fitted = hardware.seconds_per_kernel + work
    else:
        fitted = hardware.seconds_per_kernel + hardware.work_seconds(0.0, step.amount)
    return Residual(point, fitted, fitted / point.seconds - 1)
