# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of automatic sharding: shardings with a certificate, and answers about them."""

from __future__ import annotations

import fnmatch
import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.suggest import did_you_mean
from pyshardy.api import propagate, sharding
from pyshardy.auto.build import Permitted
from pyshardy.auto.forced import DEFAULT_SECONDS, ForcedSharding, forced_shardings
from pyshardy.auto.jax_code import jax_code
from pyshardy.auto.page import AlternativeRow, ArgumentRow, PlanPage
from pyshardy.auto.pareto import Pareto, ParetoPoint
from pyshardy.auto.prediction import Prediction, predict
from pyshardy.auto.problem import Ints
from pyshardy.auto.search import Search
from pyshardy.auto.solution import Solution, relative_gap
from pyshardy.auto.solve import ProgressCallback
from pyshardy.auto.strategies import agrees_with
from pyshardy.auto.texts import bytes_text, cost_text, signed_text, spec_text
from pyshardy.auto.untied import is_quick, untied_bound
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.op_work import TensorSizes
from pyshardy.display import DisplayedText, Printed, Table, counted, seconds_text
from pyshardy.explain.estimate import Estimate, estimate
from pyshardy.explain.program import explain_program
from pyshardy.partition.resharding.steps import AxesPerDim
from pyshardy.program import PartitionedProgram, partition

Spec = TensorSharding | Sequence[str | tuple[str, ...] | None]
"""A sharding, or the axes of each dimension as in a `PartitionSpec`."""


@dataclass(frozen=True)
class Constraints:
    """Shardings that a plan must or must not have.

        plan = plan.fix("*.embed", ("model", None)).forbid("*.norm", ("data",)).solve()

    Attributes:
        search: the program with its choices.
        hardware: the devices and links.
        objective: what is minimized: "time" or "bytes".
        fixed: patterns of names with the shardings that the values must have.
        forbidden: patterns of names with shardings that they must not have.
        start: the choice of the plan that they began with.
        bound: a lower bound of the cost of all plans: that of the plan they began with, if they
            only add to its constraints.
    """

    search: Search
    hardware: Hardware
    objective: str
    fixed: tuple[tuple[str, Spec], ...] = ()
    forbidden: tuple[tuple[str, Spec], ...] = ()
    start: Ints | None = field(default=None, repr=False)
    bound: float = field(default=-math.inf, repr=False)

    def fix(self, pattern: str, spec: Spec) -> Constraints:
        """Return constraints by which values also have a sharding.

        Args:
            pattern: a pattern of names of arguments and results: `*['w']`.
            spec: the sharding; open dimensions may be sharded further.
        """
        return replace(self, fixed=(*self.fixed, (pattern, spec)))

    def forbid(self, pattern: str, spec: Spec) -> Constraints:
        """Return constraints by which values also don't have a sharding.

        Args:
            pattern: a pattern of names of arguments and results.
            spec: the sharding.
        """
        return replace(self, forbidden=(*self.forbidden, (pattern, spec)))

    def solve(self, *, progress: ProgressCallback | None = None) -> ShardingPlan:
        """Return the best plan that is found in time.

        Args:
            progress: called with the state of the search now and then.

        Raises:
            UsageError: a pattern matches nothing; no plan satisfies the constraints, or fits.
        """
        found = self.search.solve(
            self.permitted(), start=self.start, progress=progress, bound=self.bound
        )
        self.search.check_found(found)
        return ShardingPlan(self, found)

    def permitted(self) -> Permitted:
        """Return the strategies that sites may choose.

        Raises:
            UsageError: a pattern matches nothing, or no sharding is left for a value.
        """
        kept: dict[int, frozenset[int]] = {}
        rules = [(*each, True) for each in self.fixed] + [(*each, False) for each in self.forbidden]
        for pattern, spec, is_wanted in rules:
            wanted = spec if isinstance(spec, TensorSharding) else sharding(spec)
            for name, (site, number) in self._sites(pattern):
                axes = self.search.built.graph.sites[site].alternatives.results[number]
                if axes and len(axes[0]) != len(wanted.dim_axes):
                    message = f"'{name}' has {len(axes[0])} dimensions, the sharding {wanted} has "
                    raise UsageError(error(f"{message}{len(wanted.dim_axes)}"))
                agreeing = {at for at, each in enumerate(axes) if agrees_with(each, wanted)}
                left = agreeing if is_wanted else set(range(len(axes))) - agreeing
                kept[site] = kept.get(site, frozenset(range(len(axes)))) & left
                if not kept[site]:
                    message = f"no sharding is left for '{name}' with {wanted}: it must divide the "
                    message += "dimensions evenly, along axes that may be used"
                    raise UsageError(error(message))
        return kept

    def _sites(self, pattern: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the arguments and results whose names match a pattern, with their sites."""
        sites = self.search.named_values
        escaped = pattern.replace("[", "[[]")
        found = [(name, at) for name, at in sites.items() if fnmatch.fnmatchcase(name, escaped)]
        if not found:
            hint = did_you_mean(pattern, sites) or f"; the names are {', '.join(list(sites)[:20])}"
            raise UsageError(error(f"no argument or result matches '{pattern}'{hint}"))
        return found


class ShardingPlan(Printed):
    """Shardings of a program, with a proven bound of their cost.

    Args:
        constraints: the program and the shardings that were asked for.
        solution: the choice.

    Attributes:
        constraints: as given.
        solution: as given.
        choice: the strategy of each node.
        prediction: the collectives and the time by the cost model.
    """

    def __init__(self, constraints: Constraints, solution: Solution):
        assert solution.choice is not None, "checked by the caller"
        self.constraints = constraints
        self.solution = solution
        self.choice: Ints = solution.choice
        self.search = constraints.search
        self.prediction: Prediction = predict(self.search.built, self.choice)

    # --- The certificate --------------------------------------------------------------------

    @property
    def cost(self) -> float:
        """The predicted cost: seconds, or bytes if these were minimized."""
        return self.solution.cost

    @property
    def bound(self) -> float:
        """The proven lower bound of the cost of all plans."""
        return self.solution.bound

    @cached_property
    def untied_bound(self) -> float | None:
        """A lower bound of the cost of plans in which equal places may differ, in any memory.

        It is computed when it is asked for, in up to the time limit of the search. None for
        programs of more than 20,000 places; that of all plans if nothing is folded.
        """
        if not self.search.built.is_folded:
            return self.bound
        options = self.search.options
        found = untied_bound(
            self.search.built,
            self.constraints.permitted(),
            gap=options.gap,
            timeout=options.timeout,
        )
        return None if found is None else min(found, self.bound)

    @property
    def _stated_untied_bound(self) -> float | None:
        """The bound without folding that is a part of the certificate; None if it takes long."""
        return self.untied_bound if is_quick(self.search.built) else None

    @property
    def gap(self) -> float:
        """The proven distance from the optimum, as a fraction of the cost."""
        return self.solution.gap

    @property
    def seconds(self) -> float:
        """The seconds that the search took."""
        return self.search.seconds + self.solution.seconds

    @property
    def bytes(self) -> float:
        """The predicted bytes that a device sends."""
        return self.prediction.nbytes

    @cached_property
    def memory(self) -> float:
        """The predicted peak memory of a device in bytes."""
        return self.search.peak(self.choice)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the certificate: what was folded, what isn't proven."""
        built = self.search.built
        num_sites, num_nodes = len(built.graph.sites), len(built.problem.nodes)
        notes: list[str] = []
        if built.is_folded:
            notes.append(
                f"{num_sites:,} places are folded to {num_nodes:,}: equal ones have equal "
                "shardings, and the bound is for plans with this property"
            )
        if self._stated_untied_bound is not None:
            untied = cost_text(self._stated_untied_bound, self.constraints.objective)
            gap = relative_gap(self.cost, self._stated_untied_bound)
            notes.append(
                f"plans in which equal places differ cost at least {untied}: this one is within "
                f"{gap:.2%} of the best of them"
            )
        if self.solution.status == "feasible":
            notes.append("the gap that was asked for isn't proven: the time was up")
        notes += self.solution.notes
        if built.graph.replicated:
            first = built.graph.replicated[0]
            count = counted(len(built.graph.replicated), "operation")
            notes.append(f"{count} can't be computed on shards, such as {first}")
        return tuple(notes)

    # --- The result -------------------------------------------------------------------------

    @cached_property
    def shardings(self) -> Mapping[str, TensorSharding]:
        """The shardings of arguments and results by their names."""
        return self.search.shardings(self.choice)

    @cached_property
    def module(self) -> ir.Module:
        """The annotated program."""
        return self.search.annotated(self.choice)

    @cached_property
    def program(self) -> PartitionedProgram:
        """The partitioned program."""
        module = self.search.annotated(self.choice)
        propagate(module)
        return partition(module, hardware=self.constraints.hardware)

    @cached_property
    def estimate(self) -> Estimate:
        """The cost of the partitioned program."""
        return estimate(self.program, self.constraints.hardware)

    def check(self) -> PlanCheck:
        """Partition the program, and compare its collectives with the predicted ones."""
        counted_bytes: Counter[tuple[str, str]] = Counter()
        for each in self.program.collectives:
            counted_bytes[each.kind, ", ".join(each.axis_names)] += each.nbytes_total
        return PlanCheck(dict(self.prediction.bytes_by_kind), dict(counted_bytes))

    # --- Questions --------------------------------------------------------------------------

    def explain(self, name: str) -> Alternative:
        """Return the best plan in which an argument or a result has another sharding.

        Args:
            name: the name of the argument or the result.

        Raises:
            UsageError: there is none, or it has no other sharding.
        """
        sites = self.search.named_values
        if name not in sites:
            hint = did_you_mean(name, sites)
            raise UsageError(error(f"there is no argument or result '{name}'{hint}"))
        site, number = sites[name]
        chosen = self._axes(site, number)
        results = self.search.built.graph.sites[site].alternatives.results[number]
        others = frozenset(at for at, axes in enumerate(results) if axes != chosen)
        permitted = {**self.constraints.permitted()}
        permitted[site] = permitted.get(site, others) & others
        if not permitted[site]:
            raise UsageError(error(f"'{name}' can have no other sharding than it has"))
        found = self.search.solve(permitted, start=self.choice, bound=self.bound)
        if found.choice is None:
            raise UsageError(error(f"no plan in time in which '{name}' has another sharding"))
        wanted = self.search.as_sharding(chosen)
        other = ShardingPlan(self._continued.forbid(name, wanted), found)
        axes = results[int(found.choice[self.search.built.colors[site]])]
        return Alternative(
            name,
            wanted,
            self.search.as_sharding(axes),
            found.cost - self.cost,
            self.constraints.objective,
            tuple(self.prediction.changes(other.prediction)),
            other,
            self.gap,
        )

    def diff(self, other: ShardingPlan) -> PlanDifference:
        """Return where another plan of the program differs, and what that costs."""
        names = [
            name for name, own in self.shardings.items() if own != other.shardings.get(name, own)
        ]
        return PlanDifference(
            {name: (self.shardings[name], other.shardings[name]) for name in names},
            other.cost - self.cost,
            self.constraints.objective,
            tuple(self.prediction.changes(other.prediction)),
        )

    def compare(self, shardings: Mapping[str, Spec]) -> PlanDifference:
        """Return the differences to the best plan with some shardings, such as those of an expert.

        Args:
            shardings: the shardings by patterns of names of arguments and results.
        """
        given = self.constraints
        bound = -math.inf if given.fixed else self.bound  # of plans with other shardings
        constraints = replace(given, fixed=tuple(shardings.items()), start=self.choice, bound=bound)
        return self.diff(constraints.solve())

    def fix(self, pattern: str, spec: Spec) -> Constraints:
        """Return the constraints of this plan, by which values also have a sharding."""
        return self._continued.fix(pattern, spec)

    def forbid(self, pattern: str, spec: Spec) -> Constraints:
        """Return the constraints of this plan, by which values also don't have a sharding."""
        return self._continued.forbid(pattern, spec)

    @property
    def _continued(self) -> Constraints:
        return replace(self.constraints, start=self.choice, bound=self.bound)

    def pareto(self, memory: Sequence[float]) -> Pareto:
        """Return the cost of the best plans for several memory limits.

        Args:
            memory: the limits in bytes.
        """
        points: list[ParetoPoint] = []
        permitted = self.constraints.permitted()
        found: Solution | None = None
        for limit in sorted(memory, reverse=True):
            # A plan for a larger limit, and its bound, are valid for a smaller one that it fits.
            if found is None or found.choice is None or self.search.peak(found.choice) > limit:
                found = self.search.solve(permitted, start=self.choice, memory=limit)
            peak = math.nan if found.choice is None else self.search.peak(found.choice)
            points.append(ParetoPoint(limit, found.cost, peak, found.gap))
        return Pareto(tuple(points), self.constraints.objective)

    def alternatives(
        self, seconds: float = DEFAULT_SECONDS
    ) -> Mapping[str, tuple[ForcedSharding, ...]]:
        """Return the costs of the other shardings of each argument, the cheapest first.

        The costs are upper bounds: those of plans that local search finds from this one with the
        argument forced to have the sharding. `explain` solves the problem again.

        Args:
            seconds: the time after which no further argument is begun. Those that are missing then
                are the smallest ones.
        """
        found = forced_shardings(self.search, self.choice, self.constraints.permitted(), seconds)
        return {
            name: found[site] for name, site in self.search.argument_names.items() if site in found
        }

    # --- Output -----------------------------------------------------------------------------

    def html(
        self,
        *,
        title: str = "plan",
        pareto: Pareto | None = None,
        seconds: float = DEFAULT_SECONDS,
    ) -> str:
        """Return the report as HTML; see `to_html`."""
        hardware = self.constraints.hardware
        module = self.search.annotated(self.choice)
        program = explain_program(module, hardware=hardware, cost_hardware=hardware, title=title)
        objective = self.constraints.objective
        return PlanPage(
            title,
            objective,
            (
                ("predicted cost", cost_text(self.cost, objective)),
                ("proven lower bound", cost_text(self.bound, objective)),
                *self._untied_rows(),
                ("gap", f"{self.gap:.2%}" if math.isfinite(self.gap) else "unproven"),
                ("solver", self.search.options.solver),
                ("found in", seconds_text(self.seconds)),
                ("bytes sent by a device", bytes_text(self.bytes)),
                ("peak memory of a device", bytes_text(self.memory)),
                ("hardware", hardware.name),
                ("mesh", str(self.search.mesh)),
            ),
            self.notes,
            self._argument_rows(self.alternatives(seconds)),
            self.prediction.table(self.constraints.objective),
            pareto,
            program,
        ).html()

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "plan",
        pareto: Pareto | None = None,
        seconds: float = DEFAULT_SECONDS,
    ) -> None:
        """Write the report: the certificate, the arguments and their alternatives, the program.

        Args:
            path: the file.
            title: the name of the program.
            pareto: the cost by memory, for a picture.
            seconds: the time for the alternatives, as in `alternatives`.

        Raises:
            UsageError: the file can't be written.
        """
        try:
            text = self.html(title=title, pareto=pareto, seconds=seconds)
            Path(path).write_text(text, encoding="utf-8")
        except OSError as refusal:
            reason = refusal.strerror or refusal
            raise UsageError(error(f"cannot write output file '{path}': {reason}")) from None

    def _untied_rows(self) -> list[tuple[str, str]]:
        """Return the row of the certificate for the bound without folding, if it has one."""
        if self._stated_untied_bound is None:
            return []
        untied = cost_text(self._stated_untied_bound, self.constraints.objective)
        return [("proven lower bound without folding", untied)]

    def _argument_rows(
        self, alternatives: Mapping[str, tuple[ForcedSharding, ...]]
    ) -> list[ArgumentRow]:
        rows: list[ArgumentRow] = []
        for (name, site), value in zip(
            self.search.argument_names.items(), self.search.arguments, strict=True
        ):
            axes = self._axes(site)
            nbytes = TensorSizes().of(value).nbytes / math.prod(
                self.search.mesh.axes_size(each) for each in axes
            )
            others = alternatives.get(name)
            rows.append(
                ArgumentRow(
                    name,
                    str(value.type),
                    spec_text(self.search.as_sharding(axes)),
                    bytes_text(nbytes),
                    None if others is None else [*map(self._alternative_row, others)],
                )
            )
        return rows

    def _alternative_row(self, other: ForcedSharding) -> AlternativeRow:
        difference = other.cost - self.cost
        text = "no plan fits"
        if math.isfinite(difference):
            text = signed_text(difference, self.constraints.objective)
            text += ", within the gap" if difference < 0 else ""
        return AlternativeRow(spec_text(self.search.as_sharding(other.axes)), text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the shardings and the certificate to a JSON file, which `load` reads."""
        saved = SavedPlan(
            {name: str(each) for name, each in self.shardings.items()},
            str(self.search.mesh),
            self.cost,
            self.bound,
            self.bytes,
            self.memory,
            self._stated_untied_bound,
        )
        saved.save(path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> SavedPlan:
        """Read a plan that was saved.

            plan.compare(sdy.ShardingPlan.load("plan.json").specs())

        Raises:
            UsageError: the file can't be read, or isn't a plan.
        """
        return SavedPlan.load(path)

    def to_jax(self) -> str:
        """Return Python code with the shardings, and with constraints on values as comments."""
        return jax_code(self.search, self.choice)

    def summary(self) -> str:
        """Return the cost with its certificate in one line."""
        gap = f"within {self.gap:.2%} of the optimum" if math.isfinite(self.gap) else "unproven"
        return (
            f"{cost_text(self.cost, self.constraints.objective)}, {gap} "
            f"(at least {cost_text(self.bound, self.constraints.objective)}), "
            f"{counted(round(self.bytes), 'byte')} sent, peak memory "
            f"{counted(round(self.memory), 'byte')}, found in {seconds_text(self.seconds)}"
        )

    def table(self) -> Table:
        """Return the shardings of arguments and results."""
        rows = [(name, spec_text(own)) for name, own in self.shardings.items()]
        return Table("Shardings", ("value", "sharding"), rows)

    def tables(self) -> list[Table]:
        """Return the shardings, the largest costs, and the remarks on the certificate."""
        tables = [self.table(), self.prediction.table(self.constraints.objective)]
        if self.notes:
            tables.append(Table("Certificate", ("remark",), [(each,) for each in self.notes]))
        return tables

    def _axes(self, site: int, number: int = 0) -> AxesPerDim:
        return self.search.built.axes_of(self.choice, site, number)


@dataclass(frozen=True, slots=True, repr=False)
class PlanCheck(Printed):
    """The predicted bytes and those of the partitioned program.

    Attributes:
        predicted: the predicted bytes by the kind and the axes of collectives.
        counted: those of the partitioned program.
    """

    predicted: Mapping[tuple[str, str], float]
    counted: Mapping[tuple[str, str], float]

    @property
    def difference(self) -> float:
        """The bytes beyond the prediction, as a fraction of it; negative if there are fewer."""
        predicted, found = sum(self.predicted.values()), sum(self.counted.values())
        if predicted == found:
            return 0.0
        return math.inf if predicted == 0 else (found - predicted) / predicted

    def summary(self) -> str:
        """Return the predicted and the counted bytes."""
        predicted, found = sum(self.predicted.values()), sum(self.counted.values())
        return f"{predicted:,.0f} bytes predicted, {found:,.0f} counted"

    def tables(self) -> list[Table]:
        """Return the bytes by kind and axes."""
        return [self.table()]

    def table(self) -> Table:
        """Return the bytes by kind and axes."""
        rows = [
            (
                kind,
                axes,
                f"{self.predicted.get((kind, axes), 0.0):,.0f}",
                f"{self.counted.get((kind, axes), 0.0):,.0f}",
            )
            for kind, axes in sorted({*self.predicted, *self.counted})
        ]
        headings = ("collective", "axes", "predicted bytes", "counted bytes")
        return Table("Bytes sent", headings, rows, num_numeric=2)


@dataclass(frozen=True, slots=True, repr=False)
class Alternative(DisplayedText):
    """The best plan in which a value has another sharding.

    Attributes:
        name: the name of the value.
        chosen: its sharding in the plan.
        other: its sharding in the other plan.
        difference: the cost beyond that of the plan.
        objective: what the cost is: "time" or "bytes".
        reasons: the largest changes of cost.
        plan: the other plan. It may be slightly cheaper, as a plan is only proven to be within its
            gap of the optimum.
        gap: the gap of the plan that was asked.
    """

    name: str
    chosen: TensorSharding
    other: TensorSharding
    difference: float
    objective: str
    reasons: tuple[tuple[str, float], ...]
    plan: ShardingPlan
    gap: float

    def __str__(self) -> str:
        rank = "a better one" if self.difference < 0 else "the second best"
        lines = [
            f"{self.name} is sharded by {spec_text(self.chosen)}",
            f"  {rank} is {spec_text(self.other)}: {signed_text(self.difference, self.objective)}",
        ]
        if self.difference < 0:
            lines.append(f"    the plan is only proven to be within {self.gap:.2%} of the optimum:")
            lines.append(
                "    take the attribute 'plan' of this answer, or search with a smaller gap"
            )
        lines += [f"    {what}: {signed_text(by, self.objective)}" for what, by in self.reasons]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, repr=False)
class PlanDifference(Printed):
    """The differences between two plans.

    Attributes:
        shardings: the shardings in both, of values that differ.
        difference: the cost of the second beyond that of the first.
        objective: what the cost is.
        reasons: the largest changes of cost.
    """

    shardings: Mapping[str, tuple[TensorSharding, TensorSharding]]
    difference: float
    objective: str
    reasons: tuple[tuple[str, float], ...]

    def summary(self) -> str:
        """Return the number of differences, and their cost."""
        count = counted(len(self.shardings), "value")
        return f"{count} sharded otherwise: {signed_text(self.difference, self.objective)}"

    def tables(self) -> list[Table]:
        """Return the differing shardings, and the changes of cost."""
        rows = [(name, spec_text(a), spec_text(b)) for name, (a, b) in self.shardings.items()]
        costs = [(what, signed_text(by, self.objective)) for what, by in self.reasons]
        return [
            Table("Shardings", ("value", "first", "second"), rows),
            Table("Costs", ("what", "difference"), costs, num_numeric=1),
        ]


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """The shardings of a plan by the names of arguments and results.

    Attributes:
        shardings: the texts of the shardings.
        mesh: the text of the mesh.
        cost: the predicted cost.
        bound: its proven lower bound.
        bytes: the predicted bytes.
        memory: the predicted peak memory.
        untied_bound: a lower bound of plans in which equal places may differ; None if the
            certificate has none.
    """

    shardings: Mapping[str, str]
    mesh: str
    cost: float
    bound: float
    bytes: float
    memory: float
    untied_bound: float | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a JSON file."""
        entries = {name: getattr(self, name) for name in self.__slots__}
        Path(path).write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SavedPlan:
        """Read a plan from a JSON file.

        Raises:
            UsageError: the file can't be read, or isn't a plan.
        """
        try:
            entries = json.loads(Path(path).read_text(encoding="utf-8"))
            known: Any = {"untied_bound": None, **entries}  # older files have no such entry
            return cls(**{name: known[name] for name in cls.__slots__})
        except (OSError, ValueError, KeyError, TypeError) as reason:
            raise UsageError(error(f"cannot read the plan '{path}': {reason}")) from None

    def specs(self) -> dict[str, TensorSharding]:
        """Return the shardings, such as for `ShardingPlan.compare`."""
        return {name: sharding(text) for name, text in self.shardings.items()}
