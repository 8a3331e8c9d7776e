# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules by their names, with options, or by orders that users write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.mpmd.schedules.orders import ORDERS, orders_of
from pyshardy.mpmd.schedules.units import Orders, Pipeline, SchedulingUnit, order_text, read_order
from pyshardy.mpmd.simulator import check_that_it_ends
from pyshardy.pipeline.options import options_of, read_options
from pyshardy.pipeline.syntax import PassUse, parse_pipeline

UPSTREAM_NAMES: dict[str, str] = {
    "gpipe": "gpipe",
    "1f1b": "1f1b",
    "gpipebut1f1bforlastmesh": "gpipe-1f1b-last",
    "zerobubbleh1": "zb-h1",
    "zerobubbleh2zerotxlatency": "zb-h2",
    "zerobubbleh2halftxlatency": "zb-h2{latency=0.5}",
    "zerobubbleh2fulltxlatency": "zb-h2{latency=1}",
    "circular": "circular",
    "circularwithreversedbackward": "circular{reversed}",
    "parallelpipelineswithwraparound": "wrap-around",
}
"""The names of C++ Shardy, in lower case, since it ignores the case."""


@dataclass(frozen=True)
class NamedSchedule:
    """A schedule with a name and options, such as `zb-h2{latency=0.5}`.

    Attributes:
        name: a key of `ORDERS`.
        options: the keyword arguments that are given.
    """

    name: str
    options: Mapping[str, Any]

    @property
    def splits_backward(self) -> bool:
        """Whether it runs the two halves of backward fragments apart."""
        return self.name.startswith("zb-")

    def orders(self, pipeline: Pipeline) -> Orders:
        """Return the units of each mesh, in their order.

        Raises:
            UsageError: the schedule isn't for such a pipeline.
        """
        return orders_of(self.name, pipeline, dict(self.options))

    def __str__(self) -> str:
        given = " ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}{{{given}}}" if given else self.name


def read_schedule(text: str) -> NamedSchedule | WrittenSchedule:
    """Return a schedule by its name, or written as orders of meshes.

        read_schedule("1f1b"), read_schedule("zb-h2{latency=0.5}"), read_schedule("ZeroBubbleH1")
        read_schedule("m0: F0 F1 B0 B1; m1: F0 B0 F1 B1")

    Raises:
        UsageError: an unknown schedule or option, or a wrong order.
    """
    if ":" in text:
        lines = (line.partition(":") for line in re.split(r"[;\n]", text) if line.strip())
        return WrittenSchedule({mesh.strip(): order.strip() for mesh, _, order in lines})
    elements = parse_pipeline(text, "<schedule>").elements
    use = elements[0] if len(elements) == 1 else None
    if not isinstance(use, PassUse):
        raise UsageError(error(f"'{text}' is no schedule: expected one name, such as '1f1b'"))
    upstream = None if use.options else UPSTREAM_NAMES.get(use.name.lower())
    if upstream is not None and upstream != use.name:
        return read_schedule(upstream)
    order = ORDERS.get(use.name)
    if order is None:
        advice = did_you_mean(use.name.lower(), ORDERS) or f"; there are {', '.join(ORDERS)}"
        raise UsageError(error(f"no schedule '{use.name}'{advice}", use.location))
    return NamedSchedule(use.name, read_options(use, options_of(order), what="schedule"))


def listed(
    schedules: str | WrittenSchedule | Sequence[str | WrittenSchedule],
) -> list[str]:
    """Return the texts of schedules, which may be one alone.

    Raises:
        UsageError: there are none.
    """
    several = [schedules] if isinstance(schedules, str | WrittenSchedule) else schedules
    found = list(map(str, several))
    if not found:
        raise UsageError(error("'schedules' needs at least one schedule, such as '1f1b'"))
    return found


class WrittenSchedule:
    """Orders of units that the user writes.

        WrittenSchedule({"m0": "F0 F1 B0 B1", "m1": "F0 B0 F1 B1"})

    A unit of a pipeline with several stages on a mesh is written with its stage: `F0/2`.

    Args:
        orders: the units of each mesh, in the order of the meshes.

    Raises:
        UsageError: the orders aren't texts; a word isn't a unit, a unit occurs twice or is missing.
    """

    def __init__(self, orders: Mapping[str, str]) -> None:
        given = cast("Any", orders)
        are_texts = isinstance(given, Mapping) and all(
            isinstance(each, str) for each in cast("tuple[object, ...]", (*given, *given.values()))
        )
        if not are_texts:
            message = "a schedule is the units of each mesh as a text, as in"
            raise UsageError(error(f'{message} {{"m0": "F0 F1 B0 B1"}}, got: {orders!r}'))
        self.meshes, self._written = tuple(orders), dict(orders)
        self._orders = tuple(read_order(text, mesh) for mesh, text in enumerate(orders.values()))
        for name, units in zip(orders, self._orders, strict=True):
            for unit, count in Counter(units).items():
                if count > 1:
                    text = order_text([unit], with_stages="/" in orders[name])
                    raise UsageError(
                        error(f"mesh '{name}' of the schedule runs {text} {count} times")
                    )

    def __str__(self) -> str:
        return "; ".join(f"{mesh}: {order}" for mesh, order in self._written.items())

    @property
    def splits_backward(self) -> bool:
        """Whether it runs the two halves of backward fragments apart."""
        return any(unit.kind == "Ba" for units in self._orders for unit in units)

    def of_meshes(self, names: Sequence[str]) -> WrittenSchedule:
        """Return the schedule in the order of the meshes of a program.

        Raises:
            UsageError: they have other names; another number of them is an error of `orders`.
        """
        if len(names) != len(self.meshes):
            return self
        for mesh in self.meshes:
            if mesh not in names:
                advice = did_you_mean(mesh, names) or f"; it has {', '.join(names)}"
                message = f"the schedule orders mesh '{mesh}', which the program doesn't have"
                raise UsageError(error(f"{message}{advice}"))
        return WrittenSchedule({name: self._written[name] for name in names})

    def orders(self, pipeline: Pipeline) -> Orders:
        """Return the units of each mesh, in their order.

        Raises:
            UsageError: the schedule has other units than the pipeline, or its meshes wait for each
            other forever.
        """
        if len(self._orders) != pipeline.meshes:
            message = (
                f"the schedule is for {len(self._orders)} meshes, {', '.join(self.meshes)}, "
                f"but there are {pipeline.meshes}"
            )
            raise UsageError(error(message))
        with_stages = pipeline.stages_per_mesh > 1
        for mesh, (name, units) in enumerate(zip(self.meshes, self._orders, strict=True)):
            wanted = _wanted(pipeline, mesh, units)
            for what, found in (("lacks", wanted - set(units)), ("has", set(units) - wanted)):
                if found:
                    ordered = sorted(
                        found, key=lambda each: (each.kind, each.microbatch, each.stage)
                    )
                    text = order_text(ordered, with_stages=with_stages)
                    reason = "" if what == "lacks" else ", which the pipeline doesn't have"
                    message = f"mesh '{name}' of the schedule {what} {text}{reason}"
                    raise UsageError(error(message))
        check_that_it_ends(self._orders, pipeline.stages, self.meshes)
        return self._orders


def _wanted(
    pipeline: Pipeline, mesh: int, units: tuple[SchedulingUnit, ...]
) -> set[SchedulingUnit]:
    """Return the units that a mesh must run, whose backward units are split as in some units."""
    split = {unit.stage for unit in units if unit.kind in ("Ba", "Bw")}
    backward = any(not unit.is_forward for unit in units)
    return {
        SchedulingUnit(kind, microbatch, stage)
        for stage in range(mesh, pipeline.stages, pipeline.meshes)
        for kind in ("F", *((("Ba", "Bw") if stage in split else ("B",)) if backward else ()))
        for microbatch in range(pipeline.microbatches)
    }
