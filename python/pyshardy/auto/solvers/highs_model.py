# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A linear or mixed-integer program in HiGHS, in this process.

Arguments and results are plain values and arrays, so that another process can hold the program (see
`linear_program`).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints
from pyshardy.auto.solvers.flow_model import SparseRows

_DOUBLETON_EQUATIONS = 1 << 9
"""The rule of HiGHS's presolve that replaces a column by another one, by an equation of both."""


@dataclass(frozen=True, eq=False, slots=True)
class Outcome:
    """The result of a run.

    Attributes:
        status: the name of the status of the model.
        objective: the objective of the solution; infinite without one.
        bound: the lower bound of integer solutions.
        solution: the value of each column; None if there is no feasible solution.
    """

    status: str
    objective: float = np.inf
    bound: float = -np.inf
    solution: Floats | None = None


Listener: TypeAlias = Callable[[float, "Floats | None"], None]
"""Called while branch and bound runs, with the lower bound, and a better solution or None."""


class HighsModel:
    """A program of non-negative columns in HiGHS, which runs on one thread.

    Methods number the columns without the columns that were deleted before.

    Args:
        costs: the cost of each column.
        rows: the constraints.
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
        self._integer = int(highspy.HighsVarType.kInteger)
        self._feasible = int(highspy.SolutionStatus.kSolutionStatusFeasible)
        with _without_output():  # HiGHS 1.16 prints a banner, whatever its options are
            self._highs: Any = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 1, "parallel": "off"}.items():
            self._highs.setOptionValue(option, value)
        self._highs.passModel(program)
        self._listener: Listener | None = None
        self._is_heard = False

    def run(self, seconds: float, listener: Listener | None = None) -> Outcome:
        """Solve it in a limited time."""
        highs = self._highs
        self._listener = listener
        if listener is not None and not self._is_heard:
            highs.cbMipImprovingSolution.subscribe(self._on_improvement)
            highs.cbMipLogging.subscribe(self._on_log)
            self._is_heard = True
        highs.setOptionValue("time_limit", highs.getRunTime() + seconds)
        highs.run()
        info = highs.getInfo()
        status = highs.getModelStatus().name
        bound = float(info.mip_dual_bound)
        if info.primal_solution_status != self._feasible:
            return Outcome(status, bound=bound)
        solution = np.array(highs.getSolution().col_value)
        return Outcome(status, float(info.objective_function_value), bound, solution)

    def _on_improvement(self, event: Any) -> None:
        solution = np.array(event.data_out.mip_solution)
        if self._listener is not None and len(solution):
            self._listener(float(event.data_out.mip_dual_bound), solution)

    def _on_log(self, event: Any) -> None:
        if self._listener is not None:
            self._listener(float(event.data_out.mip_dual_bound), None)

    def reduced_costs(self) -> Floats:
        """Return the reduced cost of each column in the last solution."""
        return np.array(self._highs.getSolution().col_dual)

    def add_rows(self, rows: SparseRows) -> None:
        """Add constraints."""
        starts, columns = rows.starts[:-1].astype(np.int32), rows.columns.astype(np.int32)
        number, entries = len(rows.lower), len(rows.entries)
        arrays = starts, columns, rows.entries
        self._highs.addRows(number, rows.lower, rows.upper, entries, *arrays)

    def delete_columns(self, columns: Ints) -> None:
        """Delete columns. Presolve doesn't look for equations of two columns any more.

        A bound of zero would do as well, but with thousands of such columns, the presolve of
        HiGHS 1.15 may run forever. It also does for equations of two columns that are redundant,
        as they may be when columns are gone.
        """
        self._highs.deleteCols(len(columns), columns.astype(np.int32))
        self._highs.setOptionValue("presolve_rule_off", _DOUBLETON_EQUATIONS)

    def set_costs(self, costs: Floats) -> None:
        """Change the cost of each column."""
        columns = np.arange(len(costs), dtype=np.int32)
        self._highs.changeColsCost(len(columns), columns, costs)

    def make_integer(self, columns: Ints, gap: float) -> None:
        """Make columns integer.

        Args:
            columns: the columns.
            gap: the relative distance of solution and bound that suffices.
        """
        kinds = np.full(len(columns), self._integer, np.uint8)
        self._highs.changeColsIntegrality(len(columns), columns.astype(np.int32), kinds)
        self._highs.setOptionValue("presolve_rule_off", _DOUBLETON_EQUATIONS)
        self._highs.setOptionValue("mip_rel_gap", gap)
        self._highs.setOptionValue("mip_abs_gap", 0.0)

    def start_from(self, columns: Ints, values: Floats) -> None:
        """Let branch and bound start from the values of some columns."""
        self._highs.setSolution(len(columns), columns.astype(np.int32), values)


@contextlib.contextmanager
def _without_output() -> Iterator[None]:
    """Drop what C++ code prints to standard output inside the `with` block."""
    try:
        kept = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    _flush_streams()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    try:
        yield
    finally:
        _flush_streams()
        os.dup2(kept, 1)
        os.close(kept)


def _flush_streams() -> None:
    """Write what C++ code has printed so far."""
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)
