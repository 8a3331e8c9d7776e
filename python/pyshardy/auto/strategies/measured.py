# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs from measured times of collectives and operations, such as of a real cluster.

    kind,axis,bytes,flops,seconds
    all_reduce,data,1048576,,3.1e-4
    all_reduce,data,16777216,,2.9e-3
    all_gather,model,1048576,,8.0e-5
    stablehlo.dot_general,,,1e9,4.1e-6
    stablehlo.dot_general,,,1e12,1.7e-3
    stablehlo.add,,16777216,,9.5e-6

1. The bytes of a collective are those that a device sends. A collective along several axes takes
   the longest time along one of them.
2. An operation has no axis. Its amount is either the bytes that it reads and writes on a device, or
   the arithmetic operations (column `flops`, which may be missing). If both are measured in
   different lines, the operation takes the longer of the two times. An operation that accesses no
   memory, since it is fused into others, has no time by its bytes.
3. Times between two measurements are interpolated linearly, and those beyond the largest grow in
   proportion to the amount. Below the smallest, the time is that of the smallest.
4. What isn't measured takes the time of the hardware.
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
from pyshardy.auto.strategies.costs import HardwareCosts
from pyshardy.cost.collectives import PlannedCollective
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.op_work import Work
from pyshardy.partition.op_facts.record import records

_COLUMNS = ("kind", "axis", "bytes", "seconds")
_KINDS = ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter")

_Key = tuple[str, str]
_Row = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Curve:
    """The time by the amount of work, in rising order.

    Attributes:
        amounts: the measured bytes or arithmetic operations.
        seconds: the measured times.
    """

    amounts: tuple[float, ...]
    seconds: tuple[float, ...]

    def at(self, amount: float) -> float:
        """Return the time for an amount."""
        if amount > self.amounts[-1]:
            return self.seconds[-1] * amount / self.amounts[-1]
        return float(np.interp(amount, self.amounts, self.seconds))


@dataclass(frozen=True, slots=True)
class MeasuredCosts:
    """The `CostModel` of measured collectives and operations.

    Attributes:
        hardware: the devices and links, for what isn't measured.
        collectives: the measurements by kind and axis.
        operations: the measurements by name and amount: "bytes" or "flops".
    """

    hardware: Hardware
    collectives: Mapping[_Key, Curve]
    operations: Mapping[_Key, Curve]

    def operation(self, name: str, work: Work) -> float:
        """Return the interpolated time, or that on the hardware without measurements."""
        amounts = {"bytes": work.nbytes, "flops": work.operations}
        found = [
            self.operations[name, unit].at(amount)
            for unit, amount in amounts.items()
            if amount and (name, unit) in self.operations
        ]
        return max(found) if found else HardwareCosts(self.hardware).operation(name, work)

    def collective(self, collective: PlannedCollective) -> float:
        """Return the interpolated time, or that of the hardware without measurements."""
        curves = [self.collectives.get((collective.kind, axis)) for axis in collective.axes]
        found = [curve.at(collective.sent) for curve in curves if curve is not None]
        if len(found) < len(curves) or not found:
            found.append(HardwareCosts(self.hardware).collective(collective))
        return max(found)


def read_measured(path: str | os.PathLike[str], hardware: Hardware) -> MeasuredCosts:
    """Read measured collectives and operations from a CSV file.

    Args:
        path: the file.
        hardware: the devices and links, for what isn't measured.

    Raises:
        UsageError: the file can't be read, or an entry is missing or invalid.
    """
    collectives: dict[_Key, dict[float, float]] = {}
    operations: dict[_Key, dict[float, float]] = {}
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
                kind = (row["kind"] or "").strip()
                if kind in _KINDS:
                    key, unit, points = (kind, (row["axis"] or "").strip()), "bytes", collectives
                else:
                    unit = _unit_of_operation(kind, row, place)
                    key, points = (kind, unit), operations
                amount, seconds = (_number(row, name, place) for name in (unit, "seconds"))
                points.setdefault(key, {})[amount] = seconds
    except (OSError, UnicodeDecodeError, csv.Error) as reason:
        raise UsageError(error(f"cannot read the measurements '{path}': {reason}")) from None
    return MeasuredCosts(hardware, _curves(collectives), _curves(operations))


def _curves(points: Mapping[_Key, Mapping[float, float]]) -> dict[_Key, Curve]:
    return {
        key: Curve(tuple(sorted(found)), tuple(found[each] for each in sorted(found)))
        for key, found in points.items()
    }


def _unit_of_operation(kind: str, row: _Row, place: SourceLocation) -> str:
    """Return the column with the amount of an operation: "bytes" or "flops".

    Raises:
        UsageError: there is no such operation, or not exactly one amount.
    """
    if kind not in records():
        hint = did_you_mean(kind, (*_KINDS, *records()))
        hint = hint or f"; the collectives are {', '.join(_KINDS)}"
        raise UsageError(error(f"no collective or operation '{kind}'{hint}", place))
    if (row["axis"] or "").strip():
        raise UsageError(error(f"the operation '{kind}' has no axis: leave it empty", place))
    given = [unit for unit in ("bytes", "flops") if (row.get(unit) or "").strip()]
    if len(given) != 1:
        raise UsageError(error(f"'{kind}' needs a number of either 'bytes' or 'flops'", place))
    return given[0]


def _number(row: _Row, name: str, place: SourceLocation) -> float:
    try:
        value = float(row[name] or "")
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        message = f"'{name}' must be a positive number, got: {row[name]!r}"
        raise UsageError(error(message, place))
    return value
