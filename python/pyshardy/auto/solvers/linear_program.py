# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear and mixed-integer programs in HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyshardy.auto.problem.arrays import Bools, Floats, Ints
from pyshardy.auto.solvers.flow_model import SparseRows

_DOUBLETON_EQUATIONS = 1 << 9
"""The rule of HiGHS's presolve that replaces a column by another one, by an equation of both."""


class LinearProgram:
    """A linear program of non-negative columns in HiGHS, on one thread.

    Columns that are known to be zero can be removed. The methods take and return the numbers of the
    original columns.

    Args:
        costs: the cost of each column.
        rows: the constraints.

    Attributes:
        highs: the solver.
    """

    def __init__(self, costs: Floats, rows: SparseRows) -> None:
        import highspy  # noqa: PLC0415 (an optional package)

        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(costs), len(rows.lower)
        program.col_cost_ = costs
        program.col_lower_ = np.zeros(len(costs))
        program.col_upper_ = np.full(len(costs), np.inf)
        program.row_lower_, program.row_upper_ = rows.lower, rows.upper
        matrix = program.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_, matrix.index_ = rows.starts, rows.columns
        matrix.value_ = rows.entries
        self.highs: Any = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 1, "parallel": "off"}.items():
            self.highs.setOptionValue(option, value)
        self.highs.passModel(program)
        self._number = len(costs)
        self._left: Ints = np.arange(len(costs))

    def run(self, seconds: float) -> str:
        """Solve it in a limited time; return the name of the status."""
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + seconds)
        self.highs.run()
        return self.highs.getModelStatus().name

    def solution(self) -> Floats:
        """Return the value of each column."""
        return self.all_values(np.array(self.highs.getSolution().col_value))

    def reduced_costs(self) -> Floats:
        """Return the reduced cost of each column; 0 for removed ones."""
        return self.all_values(np.array(self.highs.getSolution().col_dual))

    def add_rows(self, rows: SparseRows) -> None:
        """Add constraints."""
        position: Ints = np.full(self._number, -1)
        position[self._left] = np.arange(len(self._left))
        columns = position[rows.columns]
        is_left: Bools = columns >= 0
        before: Ints = np.concatenate([[0], np.cumsum(is_left)])
        starts, columns = before[rows.starts[:-1]].astype(np.int32), columns[is_left]
        entries, number = rows.entries[is_left], len(rows.lower)
        arrays = starts, columns.astype(np.int32), entries
        self.highs.addRows(number, rows.lower, rows.upper, len(entries), *arrays)

    def remove(self, is_zero: Bools) -> None:
        """Remove columns that are zero in the solutions that are searched for.

        A bound of zero would do as well, but with thousands of such columns, the presolve of
        HiGHS 1.15 may run forever. It also does for equations of two columns that are redundant,
        as they may be when columns are gone, so it doesn't look for these.
        """
        gone: Bools = is_zero[self._left]
        self.highs.deleteCols(int(gone.sum()), np.flatnonzero(gone).astype(np.int32))
        self._left = self._left[~gone]
        self.highs.setOptionValue("presolve_rule_off", _DOUBLETON_EQUATIONS)

    def set_costs(self, costs: Floats) -> None:
        """Change the cost of each column."""
        columns = np.arange(len(self._left), dtype=np.int32)
        self.highs.changeColsCost(len(columns), columns, costs[self._left])

    def make_integer(self, number: int) -> None:
        """Make the first columns integer."""
        import highspy  # noqa: PLC0415 (an optional package)

        columns = np.flatnonzero(self._left < number).astype(np.int32)
        kinds = np.full(len(columns), int(highspy.HighsVarType.kInteger), np.uint8)
        self.highs.changeColsIntegrality(len(columns), columns, kinds)
        self.highs.setOptionValue("presolve_rule_off", _DOUBLETON_EQUATIONS)

    def start_from(self, values: Floats) -> None:
        """Let branch and bound start from the values of the first columns."""
        columns = np.flatnonzero(self._left < len(values)).astype(np.int32)
        self.highs.setSolution(len(columns), columns, values[self._left[columns]])

    def all_values(self, values: Floats) -> Floats:
        """Return the value of each column, with zeros for removed ones."""
        found = np.zeros(self._number)
        found[self._left] = values
        return found
