# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs from measured times of collectives, such as of a real cluster.

    kind,axis,bytes,seconds
    all_reduce,data,1048576,3.1e-4
    all_reduce,data,16777216,2.9e-3
    all_gather,model,1048576,8.0e-5

`bytes` are those that a device sends. Times between two measurements are interpolated linearly, and
those beyond the largest grow in proportion to the bytes. Below the smallest, the time is that of
the smallest. A collective along several axes takes the longest time along one of them. Kinds
and axes without measurements take the time of the hardware.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.auto.costs import HardwareCosts
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.op_work import Work
from pyshardy.partition.resharding.cost import PlannedCollective

_COLUMNS = ("kind", "axis", "bytes", "seconds")
_KINDS = ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter")


@dataclass(frozen=True, slots=True)
class Curve:
    """The time of a collective by the bytes that a device sends, in rising order.

    Attributes:
        nbytes: the measured bytes.
        seconds: the measured times.
    """

    nbytes: tuple[float, ...]
    seconds: tuple[float, ...]

    def at(self, nbytes: float) -> float:
        """Return the time for some bytes."""
        if nbytes > self.nbytes[-1]:
            return self.seconds[-1] * nbytes / self.nbytes[-1]
        return float(np.interp(nbytes, self.nbytes, self.seconds))


@dataclass(frozen=True, slots=True)
class MeasuredCosts:
    """The `CostModel` of measured collectives.

    Attributes:
        hardware: the devices and links, for operations and for collectives without measurements.
        curves: the measurements by kind and axis.
    """

    hardware: Hardware
    curves: Mapping[tuple[str, str], Curve]

    def operation(self, name: str, work: Work) -> float:
        """Return the time on the hardware."""
        return HardwareCosts(self.hardware).operation(name, work)

    def collective(self, collective: PlannedCollective) -> float:
        """Return the interpolated time, or that of the hardware without measurements."""
        curves = [self.curves.get((collective.kind, axis)) for axis in collective.axes]
        found = [curve.at(collective.sent) for curve in curves if curve is not None]
        if len(found) < len(curves) or not found:
            found.append(HardwareCosts(self.hardware).collective(collective))
        return max(found)


def read_measured(path: str | os.PathLike[str], hardware: Hardware) -> MeasuredCosts:
    """Read measured collectives from a CSV file.

    Args:
        path: the file.
        hardware: the devices and links, for what isn't measured.

    Raises:
        UsageError: the file can't be read, or an entry is missing or invalid.
    """
    points: dict[tuple[str, str], dict[float, float]] = {}
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                place = SourceLocation(str(path), 1, 1)
                columns = ", ".join(_COLUMNS)
                message = f"the column '{missing[0]}' is missing; expected {columns}"
                raise UsageError(error(message, place))
            for row in reader:
                place = SourceLocation(str(path), reader.line_num, 1)
                kind = row["kind"].strip()
                if kind not in _KINDS:
                    hint = did_you_mean(kind, _KINDS) or f"; the kinds are {', '.join(_KINDS)}"
                    raise UsageError(error(f"no collective '{kind}'{hint}", place))
                nbytes, seconds = (_number(row, name, place) for name in ("bytes", "seconds"))
                points.setdefault((kind, row["axis"].strip()), {})[nbytes] = seconds
    except (OSError, UnicodeDecodeError, csv.Error) as reason:
        raise UsageError(error(f"cannot read the measurements '{path}': {reason}")) from None
    curves = {
        key: Curve(tuple(sorted(found)), tuple(found[each] for each in sorted(found)))
        for key, found in points.items()
    }
    return MeasuredCosts(hardware, curves)


def _number(row: Mapping[str, str | None], name: str, place: SourceLocation) -> float:
    try:
        value = float(row[name] or "")
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        message = f"'{name}' must be a positive number, got: {row[name]!r}"
        raise UsageError(error(message, place))
    return value
