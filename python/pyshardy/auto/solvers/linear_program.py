# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear and mixed-integer programs whose columns keep their numbers when others are removed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyshardy.auto.problem.arrays import Bools, Floats, Ints
from pyshardy.auto.solvers.flow_model import SparseRows
from pyshardy.auto.solvers.highs_model import HighsModel, Listener, Model, Outcome
from pyshardy.auto.solvers.highs_process import HighsProcess

LARGE = 50_000
"""The columns from which HiGHS runs in a process of its own. Its start takes a small part of the
time of such a program."""


class LinearProgram:
    """A linear program of non-negative columns.

    Columns that are known to be zero can be removed. The methods take and return the numbers of the
    original columns.

    Args:
        costs: the cost of each column.
        rows: the constraints.
    """

    def __init__(self, costs: Floats, rows: SparseRows) -> None:
        self._number = len(costs)
        self._left: Ints = np.arange(len(costs))
        is_large = self._number >= LARGE
        self._model: Model = HighsProcess(costs, rows) if is_large else HighsModel(costs, rows)

    def run(self, seconds: float, listener: Listener | None = None) -> Outcome:
        """Solve it in a limited time.

        Args:
            seconds: the time.
            listener: called while branch and bound runs.
        """

        def listen(bound: float, solution: Floats | None) -> None:
            if listener is not None:
                listener(bound, None if solution is None else self._all_values(solution))

        found = self._model.run(seconds, None if listener is None else listen)
        if found.solution is None:
            return found
        return replace(found, solution=self._all_values(found.solution))

    def reduced_costs(self) -> Floats:
        """Return the reduced cost of each column; 0 for removed ones."""
        return self._all_values(self._model.reduced_costs())

    def add_rows(self, rows: SparseRows) -> None:
        """Add constraints."""
        position: Ints = np.full(self._number, -1)
        position[self._left] = np.arange(len(self._left))
        columns = position[rows.columns]
        is_left: Bools = columns >= 0
        before: Ints = np.concatenate([[0], np.cumsum(is_left)])
        entries = before[rows.starts], columns[is_left], rows.entries[is_left]
        self._model.add_rows(SparseRows(rows.lower, rows.upper, *entries))

    def remove(self, is_zero: Bools) -> None:
        """Remove columns that are zero in the solutions that are searched for."""
        gone: Bools = is_zero[self._left]
        self._model.delete_columns(np.flatnonzero(gone))
        self._left = self._left[~gone]

    def set_costs(self, costs: Floats) -> None:
        """Change the cost of each column."""
        self._model.set_costs(costs[self._left])

    def make_integer(self, number: int, gap: float) -> None:
        """Make the first columns integer.

        Args:
            number: the number of columns.
            gap: the relative distance of solution and bound that suffices.
        """
        self._model.make_integer(np.flatnonzero(self._left < number), gap)

    def start_from(self, values: Floats) -> None:
        """Let branch and bound start from the values of the first columns."""
        columns = np.flatnonzero(self._left < len(values))
        self._model.start_from(columns, values[self._left[columns]])

    def _all_values(self, values: Floats) -> Floats:
        """Return the value of each column, with zeros for removed ones."""
        found = np.zeros(self._number)
        found[self._left] = values
        return found
