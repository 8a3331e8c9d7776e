# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of automatic sharding: shardings with a certificate, and answers about them."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.files import write_file
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.suggest import did_you_mean
from pyshardy.api import propagate
from pyshardy.auto.plans.certificate import (
    Alternative,
    Certificate,
    PlanCheck,
    PlanDifference,
    Prediction,
    predict,
)
from pyshardy.auto.plans.jax_code import jax_code
from pyshardy.auto.plans.page import PlanPage, argument_rows
from pyshardy.auto.plans.pareto import Pareto, ParetoPoint
from pyshardy.auto.plans.restrictions import Restrictions, SavedPlan, Spec
from pyshardy.auto.problem.arrays import Ints
from pyshardy.auto.problem.solution import Solution
from pyshardy.auto.search.build import Permitted
from pyshardy.auto.search.forced import DEFAULT_SECONDS, ForcedSharding, forced_shardings
from pyshardy.auto.search.program_search import Search
from pyshardy.auto.search.texts import bytes_text
from pyshardy.auto.search.ties import is_quick, untied_bound
from pyshardy.auto.solvers.solver import ProgressCallback
from pyshardy.caching.programs import stored_data
from pyshardy.caching.store import Store
from pyshardy.cost.hardware import Hardware
from pyshardy.display import Printed, Table, counted, seconds_text
from pyshardy.dynamic.plan import remove_numbers, take_plan
from pyshardy.dynamic.program import DynamicProgram
from pyshardy.explain.estimate import Estimate, estimate
from pyshardy.explain.program import explain_program
from pyshardy.explain.sizes import Sizes, SizesComparison
from pyshardy.forms import spec_text
from pyshardy.irtools.modules import copy_of
from pyshardy.pipelines.partition import Overlap
from pyshardy.program import PartitionedProgram, partition
from pyshardy.sizes.static_program import static_at
from pyshardy.sizes.symbols import hint_values, read_symbols


@dataclass(frozen=True)
class Constraints:
    """Shardings that a plan must or must not have.

        plan = plan.fix("*.embed", ("model", None)).forbid("*.norm", ("data",)).solve()

    Attributes:
        search: the program with its choices.
        hardware: the devices and links.
        objective: what is minimized: "time" or "bytes".
        restrictions: the shardings that values must or must not have.
        start: the choice of the plan that they began with.
        bound: a lower bound of the cost of all plans: that of the plan they began with, if they
            only add to its constraints.
        memory: the limit of the predicted peak in bytes; None for that of the options.
        store: the solutions of former searches; None to search always.
        dynamic: the program with dynamic sizes, of which that of the search is the one at its
            hints; None for static sizes.
    """

    search: Search
    hardware: Hardware
    objective: str
    restrictions: Restrictions = field(default_factory=Restrictions)
    start: Ints | None = field(default=None, repr=False)
    bound: float = field(default=-math.inf, repr=False)
    memory: float | None = None
    store: Store | None = field(default=None, repr=False, compare=False)
    dynamic: ir.Module | None = field(default=None, repr=False, compare=False)

    @property
    def limit(self) -> float | None:
        """The limit of the predicted peak in bytes; None for any memory."""
        return self.search.options.limit if self.memory is None else self.memory

    def fix(self, pattern: str, spec: Spec) -> Constraints:
        """Return constraints by which values also have a sharding.

        Args:
            pattern: a pattern of names of arguments and results: `*['w']`.
            spec: the sharding; open dimensions may be sharded further.
        """
        return replace(self, restrictions=self.restrictions.fix(pattern, spec))

    def forbid(self, pattern: str, spec: Spec) -> Constraints:
        """Return constraints by which values also don't have a sharding.

        Args:
            pattern: a pattern of names of arguments and results.
            spec: the sharding.
        """
        return replace(self, restrictions=self.restrictions.forbid(pattern, spec))

    def solve(self, *, progress: ProgressCallback | None = None) -> ShardingPlan:
        """Return the best plan that is found in time.

        Args:
            progress: called with the state of the search now and then.

        Raises:
            UsageError: a pattern matches nothing; no plan satisfies the constraints, or fits.
        """
        solution: Solution | None = None

        def solve() -> dict[str, Any] | None:
            nonlocal solution
            solution = self.search.solve(
                self.permitted(),
                start=self.start,
                progress=progress,
                memory=self.limit,
                bound=self.bound,
            )
            if self.search.hiding is not None and solution.choice is not None:
                solution = self._fastest_by_timeline(solution, progress)
            return solution.to_json()

        stored = stored_data(self.store, self.search.module, self._request(), solve)
        if solution is None:
            assert stored is not None, "a solution without a choice isn't stored"
            solution = Solution.from_json(stored)
        self.search.check_found(solution, self.limit)
        return ShardingPlan(self, solution)

    def _fastest_by_timeline(
        self, solution: Solution, progress: ProgressCallback | None
    ) -> Solution:
        """Return the solution whose partitioned program takes the least time by the timeline.

        The others are those that were nearly as good, and the best one without overlap, so that
        no plan without overlap is faster.
        """
        plain = self.search.without_overlap().solve(
            self.permitted(), start=solution.choice, progress=progress, memory=self.limit
        )
        choices = [solution.choice, *solution.others, plain.choice]
        known = {tuple(each.tolist()): each for each in choices if each is not None}
        plans = [ShardingPlan(self, replace(solution, choice=each)) for each in known.values()]
        best = min(plans, key=lambda each: each.overlapped_seconds)
        built = self.search.built
        cost = built.cost(best.choice) - self.search.hidden(best.choice)
        seconds = best.overlapped_seconds
        difference = f" ({seconds / cost - 1:+.1%})" if cost else ""
        note = (
            f"the cost is that with overlap={self.search.options.overlap!r}: communication beside "
            f"computation is free; by the timeline, the partitioned program takes "
            f"{seconds_text(seconds)}{difference}"
        )
        notes = [note]
        if best is not plans[0]:
            notes.append(f"{counted(len(plans), 'plan')} of least cost were compared by timelines")
        return replace(
            solution,
            status=solution.status if best is plans[0] else "feasible",
            choice=best.choice,
            cost=cost,
            seconds=solution.seconds + plain.seconds,
            notes=(*solution.notes, *notes),
            others=(),
        )

    def _request(self) -> str:
        """Return what is solved beside the program, as a text."""
        rules = [
            [(pattern, str(spec)) for pattern, spec in given]
            for given in (self.restrictions.fixed, self.restrictions.forbidden)
        ]
        asked = (self.search.options, self.objective, self.hardware.text, rules)
        start = None if self.start is None else self.start.tolist()
        return f"auto_shard {asked} {self.limit} {self.bound} {start}"

    def permitted(self) -> Permitted:
        """Return the strategies that sites may choose.

        Raises:
            UsageError: a pattern matches nothing, or no sharding is left for a value.
        """
        return self.restrictions.permitted(self.search)


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
        hidden = self.search.hidden(self.choice)
        self.prediction: Prediction = predict(self.search.built, self.choice, hidden)

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
        programs of more than 20,000 places, and with overlap; that of all plans if nothing is
        folded.
        """
        if not self.search.built.is_folded:
            return self.bound
        if self.search.hiding is not None:
            return None
        options = self.search.options
        found = untied_bound(
            self.search.built,
            self.constraints.permitted(),
            gap=options.gap,
            timeout=options.timeout,
        )
        return None if found is None else min(found, self.bound)

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

    @cached_property
    def certificate(self) -> Certificate:
        """The proven bounds; that without folding is a part of them if it is quick."""
        built, dynamic = self.search.built, self.constraints.dynamic
        return Certificate(
            self.solution,
            self.constraints.objective,
            self.search.options.solver,
            len(built.graph.sites),
            len(built.problem.nodes),
            self.untied_bound if is_quick(built) else None,
            self.constraints.limit,
            tuple(built.graph.replicated),
            {} if dynamic is None else hint_values(read_symbols(dynamic)),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the certificate: what was folded, what isn't proven."""
        return self.certificate.notes

    # --- The result -------------------------------------------------------------------------

    @cached_property
    def shardings(self) -> Mapping[str, TensorSharding]:
        """The shardings of arguments and results by their names."""
        return self.search.shardings(self.choice)

    @cached_property
    def module(self) -> ir.Module:
        """The annotated program, with its dynamic sizes."""
        if self.constraints.dynamic is None:
            return self.search.annotated(self.choice)
        module = copy_of(self.constraints.dynamic)
        take_plan(self.search.annotated(self.choice), module)
        return module

    @cached_property
    def program(self) -> PartitionedProgram:
        """The partitioned program; for dynamic sizes, at their hints."""
        module = self._annotated
        propagate(module)
        return self._partition(module)

    @property
    def _annotated(self) -> ir.Module:
        module = self.search.annotated(self.choice)
        if self.constraints.dynamic is not None:
            remove_numbers(module)
        return module

    @property
    def _partition(self) -> partial[PartitionedProgram]:
        overlap, limit = cast("Overlap", self.search.options.overlap), self.constraints.limit
        memory = "" if limit is None or overlap == "none" else f"{limit:.0f}B"
        hardware = self.constraints.hardware
        return partial(partition, hardware=hardware, overlap=overlap, overlap_memory=memory)

    @cached_property
    def overlapped_seconds(self) -> float:
        """The seconds of the partitioned program by its timeline, in the order that it has."""
        return self.program.timeline(self.constraints.hardware, order="written").seconds

    @cached_property
    def estimate(self) -> Estimate:
        """The cost of the partitioned program."""
        return estimate(self.program, self.constraints.hardware)

    def check(self) -> PlanCheck:
        """Partition the program, and compare its collectives with the predicted ones."""
        counted_bytes: Counter[tuple[str, str]] = Counter()
        for each in self.program.collectives:
            counted_bytes[each.kind, ", ".join(each.axis_names)] += each.nbytes_total
        return PlanCheck(
            dict(self.prediction.bytes_by_kind),
            dict(counted_bytes),
            self.memory,
            self.estimate.peak_bytes,
            self.cost if self.constraints.objective == "time" else math.nan,
            self.overlapped_seconds,
        )

    def check_sizes(self, sizes: Sizes) -> SizesComparison:
        """Return the cost of the plan at several sizes, beside those of the best plans for these.

            print(plan.check_sizes({"b": [1, 64, 4096]}))

        Args:
            sizes: values of symbols; others have their hints.

        Raises:
            UsageError: the program has static sizes, or can't have a size.
        """
        dynamic = self.constraints.dynamic
        if dynamic is None:
            raise UsageError(error("the program has no dynamic sizes, so it takes no 'sizes'"))
        module = self.module
        propagate(module)

        def best(values: Mapping[str, int]) -> Estimate:
            static = static_at(dynamic, values)
            search = Search(static, self.search.alternatives.model, self.search.options)
            fresh = replace(self.constraints, search=search, start=None, bound=-math.inf)
            return fresh.solve().estimate

        program = DynamicProgram(module, self._partition)
        return SizesComparison(
            program, sizes, self.constraints.hardware, best, "sdy.auto_shard(module, hints={hints})"
        )

    def fitted(self, attempts: int = 5) -> ShardingPlan:
        """Return a plan whose partitioned program fits into the memory that was asked for.

        The model may predict a smaller peak than that of the partitioned program. Then the problem
        is solved again with less memory, by the difference. The bound of the result is for that.

        Args:
            attempts: the most plans that are tried, with this one.

        Raises:
            UsageError: no plan fits, or none of the attempts does.
        """
        asked, plan = self.search.options.limit, self
        if asked is None:
            return plan
        for _ in range(attempts - 1):
            excess = plan.estimate.peak_bytes - asked
            if excess <= 0:
                return plan
            less = min(plan.memory, plan.constraints.limit or asked) - excess
            plan = replace(plan._continued, memory=less).solve()
        peak = plan.estimate.peak_bytes
        if peak > asked:
            message = (
                f"the partitioned program takes {peak:,} bytes of memory on each device, above"
            )
            raise UsageError(error(f"{message} the limit of {asked:,.0f}: give a smaller limit"))
        return plan

    # --- Questions --------------------------------------------------------------------------

    def explain(self, name: str) -> Alternative[ShardingPlan]:
        """Return the best plan in which an argument or a result has another sharding.

        Args:
            name: the name of the argument or the result, or another one: `x` or `arg0` for `%x`.

        Raises:
            UsageError: there is none, or it has no other sharding.
        """
        sites = self.search.named_values
        name = re.sub(r"^result (\d+)$", r"result[\1]", name)
        if name not in sites:
            name = self.search.other_names.get(name.removeprefix("%"), name)
        if name not in sites:
            hint = did_you_mean(name, sites)
            raise UsageError(error(f"there is no argument or result '{name}'{hint}"))
        site, number = sites[name]
        chosen = self.search.built.axes_of(self.choice, site, number)
        results = self.search.built.graph.sites[site].alternatives.results[number]
        others = frozenset(at for at, axes in enumerate(results) if axes != chosen)
        permitted = {**self.constraints.permitted()}
        permitted[site] = permitted.get(site, others) & others
        if not permitted[site]:
            raise UsageError(error(f"'{name}' can have no other sharding than it has"))
        found = self.search.solve(
            permitted, start=self.choice, memory=self.constraints.limit, bound=self.bound
        )
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
        """Return the differences to the best plan with given shardings, such as an expert's.

        Args:
            shardings: the shardings by patterns of names of arguments and results.
        """
        given = self.constraints
        bound = -math.inf if given.restrictions.fixed else self.bound  # of plans with others
        restrictions = replace(given.restrictions, fixed=tuple(shardings.items()))
        constraints = replace(given, restrictions=restrictions, start=self.choice, bound=bound)
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
        """Return the costs of the alternatives of each argument's sharding, the cheapest first.

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
        module = self._annotated
        program = explain_program(module, hardware=hardware, report_hardware=hardware, title=title)
        objective = self.constraints.objective
        return PlanPage(
            title,
            objective,
            (
                *self.certificate.rows,
                ("found in", seconds_text(self.seconds)),
                ("bytes sent by a device", bytes_text(self.bytes)),
                ("peak memory of a device", bytes_text(self.memory)),
                ("hardware", hardware.title),
                ("mesh", str(self.search.mesh)),
            ),
            self.notes,
            argument_rows(
                self.search, self.choice, self.cost, objective, self.alternatives(seconds)
            ),
            self.prediction.table(objective),
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
        write_file(path, self.html(title=title, pareto=pareto, seconds=seconds))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the shardings and the certificate to a JSON file, which `load` reads.

        Raises:
            UsageError: the file can't be written.
        """
        saved = SavedPlan(
            {name: str(each) for name, each in self.shardings.items()},
            str(self.search.mesh),
            self.cost,
            self.bound,
            self.bytes,
            self.memory,
            self.certificate.untied_bound,
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
        return (
            f"{self.certificate.summary}, "
            f"{counted(round(self.bytes), 'byte')} sent, peak memory "
            f"{counted(round(self.memory), 'byte')}, found in {seconds_text(self.seconds)}"
        )

    def table(self) -> Table:
        """Return the shardings of arguments and results."""
        rows = [(name, spec_text(own)) for name, own in self.shardings.items()]
        return Table("Shardings", ("value", "sharding"), rows)

    def tables(self) -> list[Table]:
        """Return the shardings, the largest costs, and the remarks on the certificate."""
        tables = [self.table()]
        if (costs := self.prediction.table(self.constraints.objective)).rows:
            tables.append(costs)
        if self.notes:
            tables.append(self.certificate.table())
        return tables
