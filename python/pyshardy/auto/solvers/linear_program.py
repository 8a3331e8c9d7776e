# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear and mixed-integer programs in HiGHS, in this process or one of its own.

HiGHS 1.15 crashed on large programs, and its presolve hung. In a process of its own, such a run has
no result, and the solver goes on with what it knows. The process ends with the program, or when a
run takes longer than its time. Its start takes about 0.2 s.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np

from pyshardy.auto.problem.arrays import Bools, Floats, Ints
from pyshardy.auto.solvers.flow_model import SparseRows
from pyshardy.auto.solvers.highs_model import HighsModel, Listener, Outcome
from pyshardy.processes.child_process import ChildDiedError, ChildProcess
from pyshardy.processes.worker import Parent

COMMAND = ("-m", "pyshardy.auto.solvers.linear_program")
"""The arguments of the Python interpreter; see `HighsWorker`."""

GRACE = 2.0
"""The seconds that a run may take beyond its time, in which HiGHS should have ended by itself."""

PATIENCE = 30.0
"""The seconds for the start of the process and for changes of the program."""

FAILED = "failed"
"""The status of a run in which the process crashed or hung."""


class HighsProcess:
    """A `HighsModel` in a process of its own, with the same methods.

    Args:
        costs: the cost of each column.
        rows: the constraints.
    """

    def __init__(self, costs: Floats, rows: SparseRows) -> None:
        self._number = len(costs)
        self._child: ChildProcess | None = ChildProcess(COMMAND)
        self._ask("create", costs, *_parts(rows))

    def run(self, seconds: float, listener: Listener | None = None) -> Outcome:
        """Solve it in a limited time; the process is ended if it takes longer."""
        is_heard = listener is not None
        found = self._ask("run", seconds, is_heard, patience=seconds + GRACE, listener=listener)
        return Outcome(FAILED) if found is None else Outcome(*found)

    def reduced_costs(self) -> Floats:
        """Return the reduced cost of each column in the last solution; 0 after a failure."""
        found = self._ask("reduced_costs")
        return np.zeros(self._number) if found is None else found

    def add_rows(self, rows: SparseRows) -> None:
        """Add constraints."""
        self._ask("add_rows", *_parts(rows))

    def delete_columns(self, columns: Ints) -> None:
        """Delete columns."""
        self._ask("delete_columns", columns)
        self._number -= len(columns)

    def set_costs(self, costs: Floats) -> None:
        """Change the cost of each column."""
        self._ask("set_costs", costs)

    def make_integer(self, columns: Ints, gap: float) -> None:
        """Make columns integer; a relative gap suffices."""
        self._ask("make_integer", columns, gap)

    def start_from(self, columns: Ints, values: Floats) -> None:
        """Let branch and bound start from the values of some columns."""
        self._ask("start_from", columns, values)

    def _ask(
        self,
        name: str,
        *arguments: Any,
        patience: float | None = None,
        listener: Listener | None = None,
    ) -> Any:
        """Return the answer to a request; None if the process has failed.

        Args:
            name: what is asked for.
            arguments: its arguments.
            patience: the seconds after which the process is ended; `PATIENCE` by default.
            listener: called with bounds and solutions that the process finds before it answers.
        """
        child = self._child
        if child is None:
            return None

        def respond(event: tuple[float, Floats | None]) -> None:
            if listener is not None:
                listener(*event)

        alarm = threading.Timer(PATIENCE if patience is None else patience, child.process.kill)
        alarm.start()
        try:
            is_answered, answer = child.ask((name, arguments), respond)
        except ChildDiedError:
            is_answered, answer = False, None
        finally:
            alarm.cancel()
        if is_answered:
            return answer
        child.close()
        self._child = None
        return None


def _parts(rows: SparseRows) -> tuple[Floats | Ints, ...]:
    return rows.lower, rows.upper, rows.starts, rows.columns, rows.entries


# --- The process ----------------------------------------------------------------------------------

# A request is `(name, arguments)`: `create` makes the program, other names are those of its
# methods. Bounds and solutions that branch and bound finds are questions, which need no answer.


class HighsWorker:
    """Answers requests about one program.

    Args:
        parent: the process that asks.
    """

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._model: HighsModel

    def answer(self, request: tuple[str, tuple[Any, ...]]) -> Any:
        """Return the answer to a request."""
        name, arguments = request
        if name == "create":
            costs, *rows = arguments
            self._model = HighsModel(costs, SparseRows(*rows))
            return None
        if name == "run":
            seconds, is_heard = arguments
            found = self._model.run(seconds, self._tell if is_heard else None)
            return found.status, found.objective, found.bound, found.solution
        if name == "add_rows":
            return self._model.add_rows(SparseRows(*arguments))
        return getattr(self._model, name)(*arguments)

    def _tell(self, bound: float, solution: Floats | None) -> None:
        self._parent.ask((bound, solution))


if __name__ == "__main__":
    process = Parent()
    process.serve(HighsWorker(process).answer)


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
        self._model = HighsProcess(costs, rows) if is_large else HighsModel(costs, rows)

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
