# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The flow form of a problem: a mixed-integer linear program in few variables.

Alpa (Zheng et al., OSDI 2022) and XLA's automatic sharding choose strategies by one binary variable
per node and strategy, and have a variable for each pair of strategies of a producer and a user. In
the flow form, a value has a variable for each pair of *classes*: its distinct shardings at the
producer, and those that its users need.

    minimize    sum costs[n][a] x[n,a]  +  sum costs[v][s,t] f[v,s,t]
    subject to  sum over a of x[n,a] = 1                          for each node n
                sum over t of g[v,u,s,t] = X[v,s]                 for each user u of a value v
                sum over s of g[v,u,s,t] = Z[v,u,t]
                f[v,s,t] >= g[v,u,s,t]
                sum of live bytes <= limit                        for each point of time
                x binary, f >= 0, g >= 0

where X[v,s] is the sum of x over the producer's strategies of source class s, and Z[v,u,t] that of
the user's strategies of target class t. f is shared: users of one class pay for one reshard. For
values with one user, g is f, and the relaxation is the local polytope of the pairwise form. f and g
take the values 0 and 1 where x does, since costs are non-negative.

Without g, with f <= X and sum over s of f >= Z as in the weak form of facility location, there are
half as many columns. But then the bound of a decoder's training step is 1 to 3 percent below the
optimum instead of 0.1, and branch and bound takes longer than the larger program.

The memory constraints of most points never bind: the solver adds those that a solution violates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Problem, User, Value


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of a sparse matrix with bounds.

    Attributes:
        lower: the lower bound of each row.
        upper: the upper bound.
        starts: the position of the first entry of each row, and the number of all entries.
        columns: the column of each entry.
        entries: their numbers.
    """

    lower: Floats
    upper: Floats
    starts: Ints
    columns: Ints
    entries: Floats


class FlowModel:
    """The flow form of a problem.

    The columns are x, node after node, and then f and g, value after value.

    Attributes:
        problem: the problem.
        first: the first column of each node, and the number of all x.
        costs: the cost of each column.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.first: Ints = np.concatenate([[0], np.cumsum(problem.sizes)])
        self._parts: list[tuple[Ints, Ints, Floats]] = []
        self._lower: list[Floats] = []
        self._upper: list[Floats] = []
        self._rows = 0
        self._columns = int(self.first[-1])
        self._costs = [np.concatenate([np.zeros(0), *(node.costs for node in problem.nodes)])]
        self._copy_columns: dict[tuple[int, int], tuple[Ints, Ints]] = {}
        copied_targets: dict[int, set[int]] = {}
        for each in problem.copies:
            copied_targets.setdefault(each.value, set()).add(each.target)
        self._add_choices()
        for index, value in enumerate(problem.values):
            copied = copied_targets.get(index, set[int]())
            if len(value.users) == 1:
                self._add_pair(index, value, copied)
            else:
                self._add_shared(index, value, copied)
        self.costs: Floats = np.concatenate(self._costs)
        self.rows = _sparse_rows(self._rows, self._lower, self._upper, self._parts)

    def choice_of(self, x: Floats) -> Ints:
        """Return the largest strategy of each node in a solution; the first of equal ones."""
        pairs = zip(self.first[:-1], self.first[1:], strict=True)
        return np.array([int(np.argmax(x[begin:end])) for begin, end in pairs], np.int64)

    def is_integral(self, x: Floats) -> bool:
        """Whether each x of a solution is 0 or 1."""
        chosen = x[: self.first[-1]]
        return bool(np.abs(chosen - np.round(chosen)).max(initial=0.0) < INTEGRALITY)

    def solution_of(self, choice: Ints) -> Floats:
        """Return the x of a choice."""
        x = np.zeros(int(self.first[-1]))
        x[self.first[:-1] + choice] = 1.0
        return x

    def memory_rows(self, points: Sequence[int], limit: float) -> SparseRows:
        """Return the constraints that the live bytes at some points are within the limit."""
        order = {point: row for row, point in enumerate(points)}
        sorted_points = np.array(sorted(points), np.int64)
        rows: list[Ints] = []
        columns: list[Ints] = []
        entries: list[Floats] = []
        for start, end, part_columns, nbytes in self._memory:
            low, high = np.searchsorted(sorted_points, [start, end])
            for point in sorted_points[low:high].tolist():
                rows.append(np.full(len(nbytes), order[point]))
                columns.append(part_columns)
                entries.append(nbytes / limit)
        number = len(points)
        parts = [tuple(map(np.concatenate, (rows, columns, entries)))] if rows else []
        return _sparse_rows(number, [np.full(number, -np.inf)], [np.ones(number)], parts)  # type: ignore[arg-type]

    def live_bytes(self, solution: Floats) -> Floats:
        """Return the live bytes at each point of time in a solution, fractional or not."""
        changes = np.zeros(self.problem.points + 1)
        for start, end, columns, nbytes in self._memory:
            used = float(nbytes @ solution[columns])
            changes[start] += used
            changes[end] -= used
        return np.cumsum(changes)[:-1]

    @cached_property
    def _memory(self) -> list[tuple[int, int, Ints, Floats]]:
        """The interval, the columns and their bytes of each buffer and copy."""
        result: list[tuple[int, int, Ints, Floats]] = []
        for buffer in self.problem.buffers:
            used = np.flatnonzero(buffer.nbytes)
            columns = self.first[buffer.node] + used
            result.append((buffer.start, buffer.end, columns, buffer.nbytes[used]))
        for copy in self.problem.copies:
            if (copy.value, copy.target) in self._copy_columns:  # otherwise no user needs it
                rows, columns = self._copy_columns[copy.value, copy.target]
                result.append((copy.start, copy.end, columns, copy.nbytes[rows]))
        return result

    # --- Constraints -----------------------------------------------------------------------------

    def _add_choices(self) -> None:
        node_of = np.repeat(np.arange(len(self.problem.nodes)), self.problem.sizes)
        columns = np.arange(self._columns)
        number = len(self.problem.nodes)
        self._add_rows(number, 1.0, 1.0, [(node_of, columns, np.ones(len(columns)))])

    def _add_pair(self, index: int, value: Value, copied: Set[int]) -> None:
        """Add the flows of a value with one user: a transport from source to target classes."""
        (user,) = value.users
        sources, targets = np.nonzero(np.isfinite(value.costs))
        flows = self._add_columns(value.costs[sources, targets])
        for target in copied:
            (to_target,) = np.nonzero(targets == target)
            self._copy_columns[index, target] = sources[to_target], flows[to_target]
        self._add_transport(value, user, sources, targets, flows)

    def _add_shared(self, index: int, value: Value, copied: Set[int]) -> None:
        """Add the flows of a value with several users: one transport each, below a shared flow."""
        shared = np.full(value.costs.shape, -1)
        needed = np.unique(np.concatenate([user.target for user in value.users]))
        for target in needed.tolist():
            costs = value.costs[:, target]
            has_copy = target in copied
            sources = np.flatnonzero(np.isfinite(costs) & ((costs != 0) | has_copy))
            shared[sources, target] = flows = self._add_columns(costs[sources])
            if has_copy:
                self._copy_columns[index, target] = sources, flows
        for user in value.users:
            targets = np.unique(user.target)
            sources, at = np.nonzero(np.isfinite(value.costs[:, targets]))
            flows = self._add_columns(np.zeros(len(sources)))
            self._add_transport(value, user, sources, targets[at], flows)
            above = shared[sources, targets[at]]
            (paid,) = np.nonzero(above >= 0)
            rows = np.arange(len(paid))
            parts = [
                (rows, above[paid], np.ones(len(paid))),
                (rows, flows[paid], np.full(len(paid), -1.0)),
            ]
            self._add_rows(len(paid), 0.0, np.inf, parts)

    def _add_transport(
        self, value: Value, user: User, sources: Ints, targets: Ints, flows: Ints
    ) -> None:
        """Add the constraints that flows lead from the producer's classes to those of a user."""
        rows, columns = value.costs.shape
        for number, classes, node, ends in (
            (rows, value.source, value.producer, sources),
            (columns, user.target, user.node, targets),
        ):
            chosen = self.first[node] + np.arange(len(classes))
            parts = [
                (ends, flows, np.ones(len(flows))),
                (classes, chosen, np.full(len(classes), -1.0)),
            ]
            self._add_rows(number, 0.0, 0.0, parts)

    def _add_columns(self, costs: Floats) -> Ints:
        columns = np.arange(self._columns, self._columns + len(costs))
        self._columns += len(costs)
        self._costs.append(costs)
        return columns

    def _add_rows(
        self, number: int, lower: float, upper: float, parts: Iterable[tuple[Ints, Ints, Floats]]
    ) -> None:
        self._parts.extend(
            (rows + self._rows, columns, numbers) for rows, columns, numbers in parts
        )
        self._lower.append(np.full(number, lower))
        self._upper.append(np.full(number, upper))
        self._rows += number


INTEGRALITY = 1e-6
"""The distance from an integer that is taken for rounding."""


def _sparse_rows(
    number: int,
    lower: Sequence[Floats],
    upper: Sequence[Floats],
    parts: Sequence[tuple[Ints, Ints, Floats]],
) -> SparseRows:
    rows = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in parts)])
    columns = np.concatenate([np.zeros(0, np.int64), *(part[1] for part in parts)])
    entries = np.concatenate([np.zeros(0), *(part[2] for part in parts)])
    width = int(columns.max(initial=0)) + 1
    keys, position = np.unique(rows * width + columns, return_inverse=True)
    rows, columns = keys // width, keys % width
    return SparseRows(
        np.concatenate([np.zeros(0), *lower]),
        np.concatenate([np.zeros(0), *upper]),
        np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=number))]),
        columns,
        np.bincount(position, weights=entries, minlength=len(keys)),
    )
