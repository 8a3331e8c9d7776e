# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search for shardings: from a program to an annotated one.

1. Functions that are called several times are copied, so that each call has its own shardings.
   Axes that don't divide given arguments and results are dropped, as by the partitioner.
2. The program becomes a graph of choices (`graph`), equal parts are folded (`fold`), and arrays of
   costs are computed (`build`).
3. A solver finds a choice and a bound (`solve`). The memory limit counts only if the best choice
   without it exceeds it.
4. The choice is written into a copy of the program (`apply`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisTuple, Mesh, TensorSharding
from mlir_sdy.symbols import meshes_of
from pyshardy.auto.graph.program_graph import graph_of
from pyshardy.auto.problem.arrays import Ints, Problem, evaluate
from pyshardy.auto.problem.hiding import Hiding
from pyshardy.auto.problem.solution import Solution, solution_of
from pyshardy.auto.search.apply import (
    OperationAxes,
    annotate,
    closed,
    propagate_to_manual_computations,
    values_of,
)
from pyshardy.auto.search.build import Built, Permitted, build
from pyshardy.auto.search.hiding import hiding_of
from pyshardy.auto.search.memory import with_memory
from pyshardy.auto.search.options import (
    SearchOptions,
    check_axes,
    check_complete,
    check_meshes,
    check_static_shapes,
)
from pyshardy.auto.search.ties import break_ties, precedence
from pyshardy.auto.solvers.kept_messages import KeptMessages
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.overlapped import solve_with_overlap
from pyshardy.auto.solvers.solver import ProgressCallback, solve
from pyshardy.auto.strategies.alternatives import AlternativesOf
from pyshardy.auto.strategies.costs import CostModel, HardwareCosts, SentBytes
from pyshardy.irtools.functions import entry_block, main_function
from pyshardy.irtools.modules import copy_of, text_of
from pyshardy.irtools.named_values import argument_names, result_names
from pyshardy.irtools.shardings import any_sharding
from pyshardy.partition.choice.enumerate import AxisChoices
from pyshardy.partition.types.one_mesh import device_mesh_of
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.pipeline import run_pipeline

_ROUNDING = 1e-12
"""The part of a cost that is taken for rounding."""

_SHARE_OF_PRICES = 0.2
"""The fraction of the time that is left for each problem of a search with overlap."""

_NEARBY_SHARE = 0.05
"""The fraction of the time for local search from a plan that is known."""


class ShardingsByName(dict[str, TensorSharding]):
    """Shardings by the names of values, which look-up finds by other names as well.

    Args:
        other_names: the names of values by other names.
    """

    def __init__(self, other_names: Mapping[str, str]):
        super().__init__()
        self._other_names = other_names

    def __missing__(self, name: str) -> TensorSharding:
        known = self._other_names.get(name.removeprefix("%"), "")
        if known not in self:
            raise KeyError(name)
        return self[known]


class Search:
    """A program with its choices, which can be solved several times.

    Args:
        module: the program, which isn't changed.
        model: the cost of operations and collectives.
        options: the options.

    Raises:
        UsageError: the program has no entry, no mesh or no static shapes; the mesh has no such
            axis.
        PipelineError: a function calls itself.
    """

    def __init__(self, module: ir.Module, model: CostModel, options: SearchOptions):
        started = time.perf_counter()
        self.options = options
        self.module = copy_of(module)
        check_static_shapes(self.module)
        passes = ["sdy-remove-size-one-axes", "sdy-flatten-tuples", "sdy-sharding-group-import"]
        passes += ["sdy-flatten-call-graph", "symbol-dce"]
        passes += ["sdy-update-non-divisible-input-output-shardings"] * options.fixed
        run_pipeline(self.module, ", ".join(passes))
        propagate_to_manual_computations(self.module)
        main = main_function(self.module)
        block = None if main is None else entry_block(main)
        name = None if main is None else device_mesh_of(main)
        if main is None or block is None or name is None:
            missing = "an entry '@main'" if main is None or block is None else "a mesh: pass 'mesh'"
            message = f"automatic sharding needs a program with {missing}"
            raise UsageError(error(message, location_of(self.module.operation.location)))
        self.mesh_name = name
        self.mesh: Mesh = meshes_of(self.module)[name]
        self.main = main
        self.arguments = list(block.arguments)
        if options.fixed:
            check_meshes(self.module, self.mesh)
            check_complete(main, block)
        orders = _orders_in(self.module) if options.fixed else frozenset[AxisTuple]()
        choices = AxisChoices(
            self.mesh,
            _axes(options.axes, self.mesh),
            orders,
            uneven=options.uneven,
            sub_axes=options.sub_axes,
        )
        self.alternatives = AlternativesOf(self.module.context, choices, model)
        graph = graph_of(
            self.module, self.alternatives, keep_given=options.fixed, once=options.once
        )
        self.built: Built = build(graph, self.alternatives.reshards)
        self.hiding: Hiding | None = None
        if options.overlap != "none" and not isinstance(model, SentBytes):
            self.hiding = hiding_of(
                self.built, prefetches=options.overlap == "all", hide=options.hide
            )
        self.seconds = time.perf_counter() - started

    def solve(
        self,
        permitted: Permitted | None = None,
        *,
        start: Ints | None = None,
        progress: ProgressCallback | None = None,
        memory: float | None = None,
        bound: float = -math.inf,
    ) -> Solution:
        """Return the best choice that is found in time.

        Args:
            permitted: the strategies that sites may choose.
            start: a choice to start from.
            progress: called with the state of the search now and then.
            memory: the bytes of a device; by default those of the options.
            bound: a lower bound of the cost that is known. Local search from the start comes first,
                and suffices if the bound proves the gap of what it finds.
        """
        limit = self.options.limit if memory is None else memory
        if start is not None and math.isfinite(bound) and self.hiding is None:
            again = self._solve_from(permitted or {}, start, limit, bound, progress)
            if again is not None:
                return again
        begun = time.perf_counter()

        def run(problem: Problem, start: Ints | None, seconds: float = math.inf) -> Solution:
            gap, left = self.options.gap, self.options.timeout - (time.perf_counter() - begun)
            if self.hiding is not None:
                gap, left = gap / 2, min(seconds, _SHARE_OF_PRICES * left)
            return solve(
                self.built.restricted(problem, permitted or {}),
                by=self.options.solver,
                gap=gap,
                timeout=max(0.0, left),
                start=start,
                progress=progress,
            )

        def best(problem: Problem, start: Ints | None) -> Solution:
            if self.hiding is None:
                return run(problem, start)
            return solve_with_overlap(problem, self.hiding, run, gap=self.options.gap, start=start)

        problem = self.built.problem
        found = best(problem, start)
        if limit is not None and found.choice is not None:
            problem = self._within(limit)
            evaluation = evaluate(problem, found.choice)
            if evaluation.fits(limit):
                found = replace(found, peak=evaluation.peak)
            else:
                self._binding.add(limit)
                found = best(problem, found.choice)
        if found.choice is None:
            return found
        restricted = self.built.restricted(problem, permitted or {})
        chosen = break_ties(restricted, self._precedence, found.choice)
        cost = evaluate(problem, chosen).cost - self.hidden(chosen)
        if cost > found.cost * (1 + _ROUNDING):
            return found
        return replace(found, choice=chosen, cost=cost)

    def hidden(self, choice: Ints) -> float:
        """Return the seconds of communication that are hidden behind computation in a choice."""
        return 0.0 if self.hiding is None else self.hiding.seconds(self.built.problem, choice)

    def without_overlap(self) -> Search:
        """Return the search in which no communication is hidden."""
        other = copy(self)
        other.hiding = None
        for name in ("_binding", "_problems", "_messages", "memory_problem"):
            vars(other).pop(name, None)
        return other

    @property
    def prefetches(self) -> bool:
        """Whether collectives of loops run beside another iteration."""
        return self.options.overlap == "all" and self.hiding is not None

    def _solve_from(
        self,
        permitted: Permitted,
        start: Ints,
        limit: float | None,
        bound: float,
        progress: ProgressCallback | None,
    ) -> Solution | None:
        """Return the best choice by what is known of the problem; None if that doesn't suffice.

        1. Local search from the start, if the bound proves the gap of what it finds.
        2. The messages that are kept.

        The memory limit counts only if the choice that is found without it exceeds it.

        Args:
            permitted: the strategies that sites may choose.
            start: the choice to start from.
            limit: the bytes of a device; None for any number.
            bound: a lower bound of the cost.
            progress: called with the state of the search now and then.
        """
        for counted in (limit,) if limit in self._binding else dict.fromkeys((None, limit)):
            found = self._nearby(permitted, start, counted, bound)
            if found is not None and found.choice is not None and found.gap > self.options.gap:
                found = self._solved_again(permitted, found.choice, counted, bound, progress)
            if found is not None and found.choice is not None:
                evaluation = evaluate(self._within(limit), found.choice)
                if evaluation.fits(limit):
                    return replace(found, peak=evaluation.peak)
        return None

    def _nearby(
        self, permitted: Permitted, start: Ints, limit: float | None, bound: float
    ) -> Solution | None:
        """Return the best choice that local search finds near a start; None if none fits.

        Args:
            permitted: the strategies that sites may choose.
            start: the choice to start from; sites move to permitted strategies.
            limit: the bytes of a device; None for any number.
            bound: a lower bound of the cost.
        """
        begun = time.perf_counter()
        end = begun + _NEARBY_SHARE * self.options.timeout
        restricted = self.built.restricted(self._within(limit), permitted)
        search = LocalSearch(restricted, start)
        moved = [
            node
            for node, one in enumerate(search.choice)
            if not math.isfinite(restricted.nodes[node].costs[one])
        ]
        for node in moved:
            search.move(node, int(np.argmin(search.marginals[node])))
        if not search.fits and not search.repair(end):
            return None
        search.improve(end, [*moved, *(near for node in moved for near in search.neighbors(node))])
        choice = break_ties(restricted, self._precedence, np.array(search.choice, np.int64))
        found = evaluate(restricted, choice)
        if not math.isfinite(found.cost) or not found.fits(limit):
            return None
        return solution_of(restricted, choice, bound, self.options.gap, begun)

    def _solved_again(
        self,
        permitted: Permitted,
        start: Ints,
        limit: float | None,
        bound: float,
        progress: ProgressCallback | None,
    ) -> Solution | None:
        """Return the best choice that is found from the messages that are kept.

        The result is None if the solver doesn't keep them, or can't start from the choice.

        Args:
            permitted: the strategies that sites may choose.
            start: a permitted choice to start from.
            limit: the bytes of a device; None for any number.
            bound: a lower bound of the cost.
            progress: called with the state of the search now and then.
        """
        if self.options.solver not in ("combined", "highs"):
            return None
        begun = time.perf_counter()
        problem = self._within(limit)
        timeout, gap = self.options.timeout, self.options.gap
        if limit not in self._messages:
            keep = {self.built.colors[site] for site, _ in self.named_values.values()}
            self._messages[limit] = KeptMessages(problem, keep, gap=gap, timeout=timeout / 4)
        by_node: dict[int, frozenset[int]] = {}
        for site, kept in permitted.items():
            node = self.built.colors[site]
            by_node[node] = by_node.get(node, kept) & kept
        left = max(0.0, timeout - (time.perf_counter() - begun))
        found = self._messages[limit].solve(
            by_node, timeout=left, cost=bound, start=start, progress=progress
        )
        if found is None or found.choice is None:
            return None
        restricted = self.built.restricted(problem, permitted)
        choice = break_ties(restricted, self._precedence, found.choice)
        cost, seconds = evaluate(problem, choice).cost, time.perf_counter() - begun
        return replace(found, choice=choice, cost=cost, seconds=seconds)

    def _within(self, limit: float | None) -> Problem:
        """Return the problem with a memory limit; None for any memory."""
        if limit not in self._problems:
            self._problems[limit] = with_memory(
                self.built, limit, len(self.arguments), prefetches=self.prefetches
            )
        return self._problems[limit]

    @cached_property
    def _binding(self) -> set[float | None]:
        """The memory limits that the best choice without them exceeds."""
        return set()

    @cached_property
    def _problems(self) -> dict[float | None, Problem]:
        """The problems by the memory limit."""
        return {None: self.built.problem}

    @cached_property
    def _messages(self) -> dict[float | None, KeptMessages]:
        """The messages that are kept, by the memory limit."""
        return {}

    @cached_property
    def _precedence(self) -> Problem:
        """The order of choices of equal cost."""
        return precedence(self.built)

    @cached_property
    def memory_problem(self) -> Problem:
        """The problem with the memory of all values and reshards, however small."""
        return with_memory(self.built, 0.0, len(self.arguments), prefetches=self.prefetches)

    def peak(self, choice: Ints) -> float:
        """Return the peak memory of a choice."""
        return evaluate(self.memory_problem, choice).peak

    def axes_of(self, choice: Ints, value: ir.Value) -> AxesPerDim | None:
        """Return the axes of a value in a choice; None for values that each device computes."""
        return self.built.axes_of_value(choice, value)

    def result_axes(self, choice: Ints) -> dict[int, AxesPerDim]:
        """Return the axes of the results of `@main` in a choice, by their numbers."""
        graph = self.built.graph
        found: dict[int, AxesPerDim] = {}
        for number, value in enumerate(self._returned):
            site = graph.results.get(number)
            if site is not None:
                alternatives = graph.sites[site].alternatives
                found[number] = alternatives.results[0][int(choice[self.built.colors[site]])]
            else:
                axes = self.axes_of(choice, value)
                if axes is not None:
                    found[number] = axes
        return found

    @property
    def _returned(self) -> Sequence[ir.Value]:
        """The values that `@main` returns."""
        block = entry_block(self.main)
        assert block is not None, "checked by the constructor"
        return list(block.operations[len(block.operations) - 1].operation.operands)

    def annotated(self, choice: Ints) -> ir.Module:
        """Return a copy of the program with the shardings of a choice."""
        module = copy_of(self.module)
        self.annotate(module, choice)
        return module

    def annotate(self, module: ir.Module, choice: Ints) -> None:
        """Write the shardings of a choice into a copy of the program.

        Args:
            module: the copy, in which each function is called once.
            choice: the strategy of each node.
        """
        values: dict[ir.Value, AxesPerDim] = {}
        for original, value in zip(values_of(self.module), values_of(module), strict=True):
            axes = self.axes_of(choice, original)
            if axes is not None:
                values[value] = axes
        annotate(module, values, self.result_axes(choice), self.mesh_name)
        operations = OperationAxes(
            self.alternatives,
            self.built,
            choice,
            self.mesh_name,
            keeps_all=not isinstance(self.alternatives.model, HardwareCosts),
        )
        operations.annotate(self.module, module)

    def shardings(self, choice: Ints) -> dict[str, TensorSharding]:
        """Return the shardings of arguments and results by their names."""
        found = ShardingsByName(self.other_names)
        for name, argument in zip(self.argument_names, self.arguments, strict=True):
            axes = self.axes_of(choice, argument)
            if axes is not None:
                found[name] = closed(axes, self.mesh_name)
        names = result_names(self.main)
        for number, axes in self.result_axes(choice).items():
            name = names[number] or f"result[{number}]"
            found.setdefault(name, closed(axes, self.mesh_name))
        return found

    @property
    def argument_sites(self) -> list[int]:
        """The sites of the arguments, in order."""
        return [self.built.graph.placed[argument][0] for argument in self.arguments]

    @cached_property
    def argument_names(self) -> dict[str, int]:
        """The sites of the arguments by their names, in order."""
        names = argument_names(self.main, text_of(self.module))
        return {
            names[number] or f"arg{number}": self.built.graph.placed[argument][0]
            for number, argument in enumerate(self.arguments)
        }

    @property
    def other_names(self) -> dict[str, str]:
        """The names by which users may give arguments: `arg2`, and `x` for `%x`."""
        names = list(self.argument_names)
        short = {name.removeprefix("%"): name for name in names}
        return {f"arg{number}": name for number, name in enumerate(names)} | short

    @cached_property
    def named_values(self) -> dict[str, tuple[int, int]]:
        """The sites of arguments and results by their names, and the number of the site's result.

        That of a result without an annotation is the site of the operation that computes it.
        """
        found = {name: (site, 0) for name, site in self.argument_names.items()}
        names = result_names(self.main)
        for number, value in enumerate(self._returned):
            site = self.built.graph.results.get(number)
            made = self.built.graph.placed.get(value) if site is None else (site, 0)
            if made is not None:
                found.setdefault(names[number] or f"result[{number}]", made)
        return found

    def as_sharding(self, axes: AxesPerDim) -> TensorSharding:
        """Return the sharding with the axes of each dimension."""
        return closed(axes, self.mesh_name)

    def check_found(self, solution: Solution, memory: float | None = None) -> Ints:
        """Return the choice of a solution.

        Args:
            solution: the solution.
            memory: the bytes of a device; by default those of the options.

        Raises:
            UsageError: there is none: no plan fits into the memory, or was found in time.
        """
        if solution.choice is not None:
            return solution.choice
        shortage = solution.shortage
        if shortage is None:
            if solution.status == "unknown":
                raise UsageError(error("no plan was found in time: raise the time limit"))
            raise UsageError(error("no plan satisfies the shardings that are fixed or forbidden"))
        nodes = self.built.problem.nodes
        needs = "; ".join(f"{nodes[at].name}: {size:,.0f}" for at, size in shortage.needs[:8])
        limit = (self.options.limit if memory is None else memory) or 0.0
        found = limit + shortage.nbytes
        if solution.status == "unknown":
            problem = f"no plan was found in time that fits into {limit:,.0f} bytes of memory"
        else:
            problem = f"no plan fits into {limit:,.0f} bytes of memory"
        message = (
            f"{problem} on each device: all plans need {shortage.least:,.0f} or more, and the "
            f"smallest one that was found needs {found:,.0f}; its largest values: {needs}"
        )
        raise UsageError(error(message))


def _axes(names: Sequence[str] | None, mesh: Mesh) -> tuple[str, ...]:
    """Return the given axes of several devices in the order of the mesh.

    Raises:
        UsageError: the mesh has no such axis.
    """
    check_axes(names or (), mesh)
    used = mesh.axis_names if names is None else names
    return tuple(axis.name for axis in mesh.axes if axis.size > 1 and axis.name in used)


def _orders_in(module: ir.Module) -> frozenset[AxisTuple]:
    """Return the lists of several axes along one dimension in the shardings of a program."""
    found: set[AxisTuple] = set()
    any_sharding(module, lambda one: bool(found.update(a for a in one.dim_axes if len(a) > 1)))
    return frozenset(found)
