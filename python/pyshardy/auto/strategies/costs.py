# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of strategies and of reshards between them.

All costs are those by which the partitioner and the reports estimate a program: the work of
operations (`cost.op_work`), the plans of reshards (`partition.resharding`), and the time of
collectives (`cost.collectives`). A `CostModel` replaces the time of operations and collectives,
such as by measured values.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.files import read_text
from mlir_sdy.model import AxisTuple, Mesh, Shape
from mlir_sdy.suggest import did_you_mean
from pyshardy.auto.problem.arrays import Floats, Ints
from pyshardy.auto.strategies.padding import traffic_of_reshard
from pyshardy.auto.strategies.reshard_forms import ReshardForm, ReshardForms
from pyshardy.auto.strategies.strategy import num_parts_of
from pyshardy.cost.collectives import PlannedCollective
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.measured import COLLECTIVES, Curve
from pyshardy.cost.op_work import Work
from pyshardy.irtools.tensor_types import is_even
from pyshardy.partition.halo.reshard import exchanging_reshard_collectives
from pyshardy.partition.op_facts.record import records
from pyshardy.partition.resharding.completions import completion_collectives
from pyshardy.partition.resharding.cost import (
    Reshard,
    reshard_collectives,
)
from pyshardy.partition.types.steps import AxesPerDim

Collectives = tuple[PlannedCollective, ...]


class CostModel(Protocol):
    """The cost of operations and of collectives on a device, usually in seconds."""

    def operation(self, name: str, work: Work) -> float:
        """Return the cost of one execution of an operation.

        Args:
            name: the name of the operation.
            work: its arithmetic operations and memory traffic on the device.
        """
        ...

    def collective(self, collective: PlannedCollective) -> float:
        """Return the cost of a collective."""
        ...


@dataclass(frozen=True, slots=True)
class HardwareCosts:
    """The time on some hardware.

    Attributes:
        hardware: the devices and links.
    """

    hardware: Hardware

    def operation(self, name: str, work: Work) -> float:  # noqa: ARG002 (of the protocol)
        """Return the maximum of the time of arithmetic and of memory traffic."""
        return work.seconds(self.hardware)

    def collective(self, collective: PlannedCollective) -> float:
        """Return the time in which its bytes are sent, and its latency."""
        return collective.traffic(self.hardware).seconds


@dataclass(frozen=True, slots=True)
class SentBytes:
    """The bytes that a device sends; operations cost nothing."""

    def operation(self, name: str, work: Work) -> float:  # noqa: ARG002 (of the protocol)
        """Return zero."""
        return 0.0

    def collective(self, collective: PlannedCollective) -> float:
        """Return the bytes."""
        return collective.sent


@dataclass(frozen=True, slots=True)
class PricedBytes:
    """The cost of another model, and a price for each byte that a device sends.

    For networks that others use as well, or where bytes are paid for: of two plans, the one that
    sends less may take longer.

    Attributes:
        model: the other model, such as `HardwareCosts`.
        price: the cost of a byte on top of it.
    """

    model: CostModel
    price: float

    def operation(self, name: str, work: Work) -> float:
        """Return the cost of the other model."""
        return self.model.operation(name, work)

    def collective(self, collective: PlannedCollective) -> float:
        """Return the cost of the other model, and the price of the bytes."""
        return self.model.collective(collective) + self.price * collective.sent


class _Plan(NamedTuple):
    """The operations of a reshard of a tensor of one byte.

    Attributes:
        collectives: its collectives.
        accessed: the bytes that its slices access, and pads and cuts.
    """

    collectives: Collectives
    accessed: float = 0.0

    def renamed(self, names: Sequence[tuple[str, str]]) -> _Plan:
        """Return the plan along other axes: `(its axis, the new one)`."""
        if not names:
            return self
        new = dict(names)
        moved = tuple(
            replace(each, axes=tuple(new.get(axis, axis) for axis in each.axes))
            for each in self.collectives
        )
        return _Plan(moved, self.accessed)


_ClassesKey: TypeAlias = tuple[Shape, bool, tuple[AxesPerDim, ...], tuple[AxesPerDim, ...]]


@dataclass(slots=True)
class ReshardCosts:
    """The collectives of reshards and completions, computed once for each form of reshards.

    The bytes that are sent are proportional to those of the tensor.

    Attributes:
        mesh: the mesh.
        model: the cost of collectives.
    """

    mesh: Mesh
    model: CostModel
    _forms: ReshardForms = field(init=False)
    _plans: dict[ReshardForm, _Plan] = field(default_factory=dict[ReshardForm, _Plan])
    _number_of_form: dict[int, int] = field(default_factory=dict[int, int])
    _number_of_plan: dict[_Plan, int] = field(default_factory=dict[_Plan, int])
    _in_order: list[_Plan] = field(default_factory=list[_Plan])
    _matrices: dict[_ClassesKey, Ints] = field(default_factory=dict[_ClassesKey, Ints])

    def __post_init__(self) -> None:
        self._forms = ReshardForms(self.mesh)

    def with_model(self, model: CostModel) -> ReshardCosts:
        """Return the costs of the same reshards by another model."""
        other = copy(self)
        other.model = model
        return other

    def collectives(
        self,
        nbytes: int,
        shape: Shape,
        source: AxesPerDim,
        target: AxesPerDim,
        reduced: AxisTuple = (),
    ) -> Collectives:
        """Return the collectives that complete a tensor along some axes, and reshard it.

        Args:
            nbytes: the bytes of the unsharded tensor.
            shape: its shape.
            source: the axes of each dimension before.
            target: the axes of each dimension afterwards.
            reduced: the axes along which the tensor is partial.
        """
        if source == target and not reduced:
            return ()
        is_padded = self._is_padded(shape, source) or self._is_padded(shape, target)
        before, after = self._forms.sharding(source), self._forms.sharding(target)
        form = self._forms.number(shape, before, after, reduced, is_padded=is_padded)
        return _scaled(self._in_order[self._number(form)].collectives, nbytes)

    def _is_padded(self, shape: Shape, axes: AxesPerDim) -> bool:
        """Whether shards are padded; those of empty tensors aren't."""
        return not is_even(shape, axes, self.mesh) and all(shape)

    def _number(self, form: int) -> int:
        """Return the number of the plan for a tensor of one byte: many reshards have equal ones."""
        number = self._number_of_form.get(form)
        if number is None:
            named = self._forms.forms[form]
            plan = self._plans.get(named.form)
            if plan is None:
                plan = self._plans[named.form] = self._plan(named.form)
            number = self._number_of_form[form] = self._numbered(plan.renamed(named.names))
        return number

    def _numbered(self, plan: _Plan) -> int:
        number = self._number_of_plan.setdefault(plan, len(self._in_order))
        if number == len(self._in_order):
            self._in_order.append(plan)
        return number

    def _plan(self, form: ReshardForm) -> _Plan:
        """Compute the plan of a form for a tensor of one byte."""
        reshard = Reshard(form.shape, 1, form.source, form.target, self.mesh)
        if form.reduced:
            plan = completion_collectives(reshard, form.reduced)
        elif form.is_padded:
            plan = exchanging_reshard_collectives(reshard)
        else:
            plan = reshard_collectives(reshard)
        unit = math.prod(form.shape)
        scaled = tuple(replace(each, sent=each.sent / unit) for each in plan)
        return _Plan(scaled, 0.0 if form.reduced else traffic_of_reshard(reshard) / unit)

    def _cost(self, plan: _Plan, nbytes: int) -> float:
        """Return the cost of a plan: collectives, and slices, which are read and written."""
        cost = sum(self.model.collective(each) for each in _scaled(plan.collectives, nbytes))
        if plan.accessed:
            work = Work(0.0, plan.accessed * nbytes)
            cost += self.model.operation("stablehlo.dynamic_slice", work)
        return cost

    def matrix(
        self,
        nbytes: int,
        shape: Shape,
        sources: Sequence[AxesPerDim],
        targets: Sequence[AxesPerDim],
        *,
        is_fused: bool = False,
    ) -> Floats:
        """Return the costs of the reshards of a tensor, by source and by target.

        Args:
            nbytes: the bytes of the unsharded tensor.
            shape: its shape.
            sources: the axes of each dimension before.
            targets: those afterwards.
            is_fused: whether it is in memory only if it is resharded: it is written before, and
                read afterwards.
        """
        padded = {axes for axes in (*sources, *targets) if self._is_padded(shape, axes)}
        total = self.mesh.total_size
        divisors = shape if padded else tuple(math.gcd(size, total) for size in shape)
        key = divisors, bool(padded), tuple(sources), tuple(targets)
        plans = self._matrices.get(key)
        if plans is None:
            plans = self._matrices[key] = self._plans_between(divisors, sources, targets, padded)
        used: list[int] = np.unique(plans).tolist()
        costs = np.zeros(len(self._in_order))
        for number in used:
            costs[number] = self._cost(self._in_order[number], nbytes)
        found: Floats = costs[plans]
        if is_fused:
            written, read = (
                np.array([self.traffic(nbytes, shape, axes) for axes in ends])
                for ends in (sources, targets)
            )
            is_same = np.array([[a == b for b in targets] for a in sources])
            found = found + np.where(is_same, 0.0, written[:, None] + read)
        return found

    def traffic(self, nbytes: int, shape: Shape, axes: AxesPerDim) -> float:
        """Return the cost of writing or reading a shard."""
        work = Work(0.0, nbytes / num_parts_of(shape, axes, self.mesh))
        return self.model.operation("stablehlo.dynamic_slice", work)

    def _plans_between(
        self,
        shape: Shape,
        sources: Sequence[AxesPerDim],
        targets: Sequence[AxesPerDim],
        padded: Set[AxesPerDim],
    ) -> Ints:
        """Return the numbers of the plans of reshards, by source and by target.

        Args:
            shape: the shape of the tensor.
            sources: the axes of each dimension before.
            targets: those afterwards.
            padded: those whose shards are padded.
        """
        forms, none = self._forms, self._numbered(_Plan(()))
        ends = [(forms.sharding(axes), axes in padded) for axes in targets]
        plans = np.empty((len(sources), len(targets)), np.int64)
        for row, axes in enumerate(sources):
            source, is_padded = forms.sharding(axes), axes in padded
            for column, (target, is_target_padded) in enumerate(ends):
                if source is target:
                    plans[row, column] = none
                    continue
                has_padding = is_padded or is_target_padded
                form = forms.number(shape, source, target, is_padded=has_padding)
                plans[row, column] = self._number(form)
        return plans


def _scaled(plan: Collectives, nbytes: int) -> Collectives:
    """Return collectives for a tensor of the given bytes from the collectives for a byte."""
    return tuple(
        PlannedCollective(each.kind, each.group_size, each.axes, each.sent * nbytes)
        for each in plan
    )


# --- Measured times -------------------------------------------------------------------------------


_COLUMNS = ("kind", "axis", "bytes", "seconds")

_Key = tuple[str, str]
_Row = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class MeasuredCosts(HardwareCosts):
    """The `CostModel` of measured operations; `hardware` has the measured collectives.

    Attributes:
        operations: the measurements by name and amount: "bytes" or "flops".
    """

    operations: Mapping[_Key, Curve]

    def operation(self, name: str, work: Work) -> float:
        """Return the interpolated time, or that on the hardware without measurements."""
        amounts = {"bytes": work.nbytes, "flops": work.operations}
        found = [
            self.operations[name, unit].at(amount)
            for unit, amount in amounts.items()
            if amount and (name, unit) in self.operations
        ]
        return max(found) if found else work.seconds(self.hardware)


def read_measured(
    path: str | os.PathLike[str], hardware: Hardware, mesh: Mesh | None = None
) -> MeasuredCosts:
    """Read measured collectives and operations from a CSV file.

        kind,axis,bytes,flops,seconds
        all_reduce,data,1048576,,3.1e-4
        all_reduce,data,16777216,,2.9e-3
        all_gather,model,1048576,,8.0e-5
        stablehlo.dot_general,,,1e9,4.1e-6
        stablehlo.dot_general,,,1e12,1.7e-3
        stablehlo.add,,16777216,,9.5e-6

    1. The bytes of a collective are those that a device sends. A collective along several axes
       takes the longest time along one of them.
    2. An operation has no axis. Its amount is either the bytes that it reads and writes on a
       device, or the arithmetic operations (column `flops`, which may be missing). If both are
       measured in different lines, the operation takes the longer of the two times. An
       operation that accesses no memory, since it is fused into others, has no time by its
       bytes.
    3. Times between two measurements are interpolated linearly, and those beyond the largest
       grow in proportion to the amount. Below the smallest, the time is that of the smallest.
    4. What isn't measured takes the time of the hardware.

    Args:
        path: the file.
        hardware: the devices and links, for what isn't measured.
        mesh: the mesh, if it is known, which must have the axes.

    Raises:
        UsageError: the file can't be read, or an entry is missing, invalid, or there twice.
    """
    collectives: dict[_Key, dict[float, float]] = {}
    operations: dict[_Key, dict[float, float]] = {}
    text = read_text(path, "the measurements")
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""))
        missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            place = SourceLocation(str(path), 1, 1)
            columns = ", ".join(_COLUMNS)
            message = f"the column '{missing[0]}' is missing; expected {columns}"
            raise UsageError(error(message, place))
        for row in reader:
            place = SourceLocation(str(path), reader.line_num, 1)
            kind = (row["kind"] or "").strip()
            if kind in COLLECTIVES:
                key, unit, points = (kind, (row["axis"] or "").strip()), "bytes", collectives
                if mesh is not None and key[1] not in ("", *mesh.axis_names):
                    hint = did_you_mean(key[1], mesh.axis_names)
                    raise UsageError(error(f"the mesh has no axis '{key[1]}'{hint}", place))
            else:
                unit = _unit_of_operation(kind, row, place)
                key, points = (kind, unit), operations
            amount, seconds = (_number(row, name, place) for name in (unit, "seconds"))
            if points.setdefault(key, {}).setdefault(amount, seconds) != seconds:
                raise UsageError(error(f"'{kind}' has two times for {amount:,.0f}", place))
    except csv.Error as refusal:
        raise UsageError(error(f"cannot read the measurements '{path}': {refusal}")) from None
    known = [each for each in hardware.measured if each.kind not in COLLECTIVES]
    found = [_curve(*key, points) for key, points in collectives.items()]
    model = replace(hardware, measured=(*known, *found))
    by_amount = {key: _curve(key[0], "", points) for key, points in operations.items()}
    return MeasuredCosts(model, by_amount)


def _curve(kind: str, axis: str, points: Mapping[float, float]) -> Curve:
    amounts = tuple(sorted(points))
    return Curve(kind, amounts, tuple(map(points.__getitem__, amounts)), (axis,) if axis else ())


def _unit_of_operation(kind: str, row: _Row, place: SourceLocation) -> str:
    """Return the column with the amount of an operation: "bytes" or "flops".

    Raises:
        UsageError: there is no such operation, or not exactly one amount.
    """
    if kind not in records():
        hint = did_you_mean(kind, (*COLLECTIVES, *records()))
        hint = hint or f"; the collectives are {', '.join(COLLECTIVES)}"
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
