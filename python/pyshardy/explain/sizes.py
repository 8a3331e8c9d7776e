# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan of a program with dynamic sizes at several sizes, side by side.

1. The first column is that of the hints. Sizes whose collectives differ from those are marked.
2. Bytes are expressions of the symbols where they are polynomials: through sizes near the hints and
   those of the columns that have the same collectives.
3. Each column also has the time of a plan that was found for its sizes. If that is much shorter,
   a recommendation says from which size on.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from mlir_sdy.diagnostics import SdyError, UsageError, collect, error, wrong_type
from mlir_sdy.host import ir
from mlir_sdy.late_numpy import np
from pyshardy.api import propagate, propagate_with
from pyshardy.contracts.contract import MeasuredProgram, placed
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, report_hardware_of
from pyshardy.display import Printed, Table, seconds_text
from pyshardy.dynamic.program import DynamicProgram
from pyshardy.explain.estimate import Estimate, estimate
from pyshardy.irtools.modules import copy_of
from pyshardy.program import partition
from pyshardy.sizes.size import Size
from pyshardy.sizes.static_program import static_at

if TYPE_CHECKING:
    from pyshardy.pipelines.propagation import PropagationOptions

Sizes: TypeAlias = "Mapping[str, int | Sequence[int]]"
"""Values of symbols: one, or several to be compared."""

Key: TypeAlias = tuple[str, str]
"""The kind and the axes of a collective."""

_MOST_LOSS = 0.1
"""The part of the time of a plan for one size from which on the plan for all is worth a remark."""

_MOST_PROGRAMS = 256

_POINTS = {1: 5, 2: 3}
"""The number of values of each of one or two symbols through which polynomials go."""


@dataclass(frozen=True, slots=True)
class PlanAtSizes:
    """A plan at given sizes.

    Attributes:
        values: the values of the symbols.
        cost: the estimated cost.
        counts: the number of collectives by kinds and axes.
        nbytes: the bytes that they send.
        own: the estimated cost of a plan that was found for these sizes; None if there is none.
    """

    values: Mapping[str, int]
    cost: Estimate
    counts: Mapping[Key, int]
    nbytes: Mapping[Key, int]
    own: Estimate | None = None

    @property
    def loss(self) -> float:
        """The time beyond that of the plan for these sizes, as a part of that."""
        if self.own is None or not self.own.predicted:
            return 0.0
        return self.cost.predicted / self.own.predicted - 1


class SizesComparison(Printed):
    """A plan at several sizes; see the description of the module.

    Args:
        program: the program, which is partitioned for each of the sizes.
        sizes: the values of symbols to be compared; other symbols have their hints.
        hardware: the hardware of the estimates.
        own: returns the cost of a plan that is found for given values.
        call: how such a plan is found with `{hints}`.

    Raises:
        UsageError: there is no such symbol, or it can't have a value.
    """

    def __init__(
        self,
        program: DynamicProgram,
        sizes: Sizes,
        hardware: Hardware,
        own: Callable[[Mapping[str, int]], Estimate],
        call: str = "sdy.propagate(module, hints={hints})",
    ):
        self.program = program
        self._hardware = hardware
        self._own = own
        self._call = call
        lists = {n: [v] if isinstance(v, int) else [*v] for n, v in sizes.items()}
        self._compared = [name for name, values in lists.items() if len(values) > 1] or [*lists]
        points = itertools.product(*lists.values())
        given = [program.hints | dict(zip(lists, point, strict=True)) for point in points]
        self._points = given if lists else []
        for each in self._points:
            program.input_specs(**each)  # refuses wrong values

    @cached_property
    def hint(self) -> PlanAtSizes:
        """The plan at the hints."""
        return self._at(self.program.hints)

    @cached_property
    def columns(self) -> tuple[PlanAtSizes, ...]:
        """The plan at the sizes that were asked for."""
        return tuple(self._at(each, with_own=True) for each in self._points)

    @cached_property
    def expressions(self) -> Mapping[Key, str]:
        """The bytes of collectives as expressions of the symbols, where they are polynomials."""
        plans = (self.hint, *self._near_hints(), *self.columns)
        every = {tuple(each.values.values()): each for each in plans}.values()
        alike = [each for each in every if each.counts == self.hint.counts]
        points = [each.values for each in alike]
        found = {
            key: _polynomial(points, [each.nbytes[key] for each in alike])
            for key in self.hint.counts
        }
        return {key: str(size) for key, size in found.items() if size is not None}

    @cached_property
    def advice(self) -> tuple[str, ...]:
        """The sizes for which another plan is more than a tenth faster."""
        worse = [each for each in self.columns if each.loss > _MOST_LOSS]
        if len(self._compared) == 1:
            (name,) = self._compared
            ordered = sorted(self.columns, key=lambda each: each.values[name])
            small = [*itertools.takewhile(lambda each: each in worse, ordered)]
            large = [*itertools.takewhile(lambda each: each in worse, reversed(ordered))]
            between = [each for each in worse if each not in (*small, *large)]
            large = large if len(small) < len(ordered) else []
            return (
                *(self._advice(each, "up to") for each in small[-1:]),
                *map(self._advice, between),
                *(self._advice(each, "from", " on") for each in large[-1:]),
            )
        return tuple(map(self._advice, worse))

    @cached_property
    def measured(self) -> tuple[MeasuredProgram, ...]:
        """The collectives and the memory at the sizes that were asked for."""
        return tuple(
            MeasuredProgram(
                tuple(program.mesh.axis_names),
                tuple(map(placed, program.collectives)),
                each.cost.peak_bytes,
                each.values,
            )
            for each in self.columns
            for program in (self.program.at(**each.values),)
        )

    def summary(self) -> str:
        """Return the sizes that are compared."""
        return "; ".join(map(self._name, self.columns)) or self.program.summary()

    def tables(self) -> list[Table]:
        """Return tables of the sizes, the guards and the costs at each of the sizes."""
        tables = self.program.tables()[:2]
        if not self._points:
            return tables
        plans = [self.hint, *self.columns]
        keys = sorted({key for each in plans for key in each.counts})
        rows = [(_label(each), self.expressions.get(each, ""), *self._sent(each)) for each in keys]
        rows += [
            (label, "", *cells) for label, *cells in zip(_COSTS, *map(_cost, plans), strict=True)
        ]
        names = [f"{self._name(self.hint)} (hint)", *map(self._name, self.columns)]
        title = "Costs by sizes (bytes; *: other collectives than at the hint)"
        found = [Table(title, ("", "as expression", *names), rows, num_numeric=len(names) + 1)]
        advice = [(each,) for each in self.advice]
        return [*tables, *found, *([Table("Recommendations", ("",), advice)] if advice else [])]

    def plain(self) -> dict[str, object]:
        """Return the data as JSON has it."""
        return {
            "symbols": [str(each) for each in self.program.sizes.values()],
            "guards": [str(each) for each in self.program.guards],
            "bytes": {_label(key): size for key, size in self.expressions.items()},
            "at": [
                {
                    "sizes": each.values,
                    "nbytes": {_label(key): number for key, number in each.nbytes.items()},
                    "differs": each.counts != self.hint.counts,
                    "cost": each.cost,
                    "loss": each.loss,
                }
                for each in (self.hint, *self.columns)
            ],
            "advice": self.advice,
        }

    def _at(self, values: Mapping[str, int], *, with_own: bool = False) -> PlanAtSizes:
        program = self.program.at(**values)
        counts: Counter[Key] = Counter()
        nbytes: Counter[Key] = Counter()
        for each in program.collectives:
            key = each.kind, ", ".join(each.axes or ("other groups",))
            counts[key] += 1
            nbytes[key] += each.nbytes_total
        cost = estimate(program, self._hardware)
        return PlanAtSizes(values, cost, counts, nbytes, self._own(values) if with_own else None)

    def _near_hints(self) -> Iterator[PlanAtSizes]:
        """Yield the plan at sizes near the hints."""
        symbols = self.program.sizes.values()
        devices = self.program.at(**self.program.hints).mesh.total_size
        for steps in itertools.product(range(_POINTS.get(len(symbols), 0)), repeat=len(symbols)):
            values = {
                each.name: self.program.hints[each.name]
                + step * math.lcm(devices, each.multiple_of) * (number + 1)
                for number, (each, step) in enumerate(zip(symbols, steps, strict=True))
            }
            if any(steps) and not any(each.problem_of(values[each.name]) for each in symbols):
                try:
                    with collect():
                        yield self._at(values)
                except SdyError:
                    continue

    def _name(self, plan: PlanAtSizes) -> str:
        names = self._compared or [*plan.values]
        return ", ".join(f"{name} = {plan.values[name]}" for name in names)

    def _sent(self, key: Key) -> list[str]:
        """Return the bytes that collectives send at each of the sizes."""
        expected = self.hint.counts.get(key, 0)
        return [
            (f"{each.nbytes[key]:,}" if key in each.counts else "-")
            + ("" if each.counts.get(key, 0) == expected else " *")
            for each in (self.hint, *self.columns)
        ]

    def _advice(self, plan: PlanAtSizes, before: str = "at", after: str = "") -> str:
        assert plan.own is not None, "the columns have it"
        less = 1 - plan.own.predicted / plan.cost.predicted
        hints = {name: plan.values[name] for name in self._compared}
        message = f"{before} {self._name(plan)}{after}, a plan found there takes {less:.0%} less"
        return f"{message} time: {self._call.format(hints=hints)}"


def split_sizes(sizes: Sizes) -> tuple[dict[str, int], dict[str, Sequence[int]]]:
    """Return the single values of symbols, and the lists of several.

    Raises:
        UsageError: a value is neither an integer nor a list of some.
    """
    one: dict[str, int] = {}
    several: dict[str, Sequence[int]] = {}
    if not isinstance(sizes, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        expected = "'sizes' as values by names of sizes, such as {'b': [1, 64]}"
        raise wrong_type("explain", expected, sizes)
    for name, given in sizes.items():
        value: object = given  # users write anything
        if isinstance(value, int):
            one[name] = value
        elif isinstance(value, list | tuple) and all(
            isinstance(n, int) for n in cast("Sequence[object]", value)
        ):
            several[name] = cast("Sequence[int]", value)
        else:
            message = f"sizes: {name} is {value!r}; expected a number, or a list such as [1, 64]"
            raise UsageError(error(message))
    return one, several


def _label(key: Key) -> str:
    return f"{key[0]} along {key[1]}"


_COSTS = ("bytes sent", "peak memory", "total time", "  of a plan for the size", "  loss")


def _cost(plan: PlanAtSizes) -> list[str]:
    """Return the texts of the costs."""
    cost, own = plan.cost, plan.own
    beside = ["", ""] if own is None else [seconds_text(own.predicted), f"{plan.loss:.0%}"]
    nbytes = [f"{each:,}" for each in (cost.nbytes_sent, cost.peak_bytes)]
    return [*nbytes, seconds_text(cost.predicted), *beside]


def compare_sizes(
    module: ir.Module,
    sizes: Sizes,
    options: PropagationOptions,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    report_hardware: Hardware | str | None = None,
) -> tuple[SizesComparison, ir.Module]:
    """Return the plan of a program at several sizes, and the static program for its hints.

    Args:
        module: the program with dynamic sizes, before propagation.
        sizes: the values of symbols; a single one is the hint of its symbol.
        options: the options of propagation.
        hardware: the hardware that it is partitioned for.
        report_hardware: the hardware of the estimates.

    Raises:
        UsageError: there is no such symbol, or it can't have a value.
        PipelineError: the program can't be propagated or partitioned.
    """
    one, several = split_sizes(sizes)
    static, report = static_at(module, one), report_hardware_of(hardware, report_hardware)

    def own(values: Mapping[str, int]) -> Estimate:
        at_values = static_at(module, values)
        with collect():
            propagate_with(at_values, cast("Mapping[str, Any]", options), is_temporary=True)
            return estimate(partition(at_values, hardware=hardware), report)

    plan = copy_of(module)
    with collect():  # the explanation tells it
        propagate(plan, hints=one, **options)
        program = DynamicProgram(plan, partial(partition, hardware=hardware), None, _MOST_PROGRAMS)
    return SizesComparison(program, several, report, own), static


def _polynomial(points: Sequence[Mapping[str, int]], numbers: Sequence[int]) -> Size | None:
    """Return the quadratic polynomial with given numbers at values of symbols; None for none.

    Args:
        points: values of the symbols; more than a polynomial has coefficients, to verify it.
        numbers: the number at each of them.
    """
    symbols = [Size.of(1), *map(Size.symbol, points[0])]
    monomials = [a * b for a, b in itertools.combinations_with_replacement(symbols, 2)]
    if len(points) <= len(monomials):
        return None
    rows = np.array([[each.evaluate(point) for each in monomials] for point in points], float)
    scale = np.abs(rows).max(0)
    solve = cast("Any", np.linalg.lstsq)
    factors: list[float] = (solve(rows / scale, np.array(numbers, float))[0] / scale).tolist()
    terms = (round(n) * each for n, each in zip(factors, monomials, strict=True))
    size = sum(terms, start=Size.of(0))
    found = [size.evaluate(point) for point in points]
    return size if found == list(numbers) else None
