# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that holds a program in HiGHS: `python -m` this module; see `highs_process`.

A request is `(name, arguments)`: `create` makes the program, other names are those of its methods.
Bounds and solutions that branch and bound finds are questions, which need no answer.
"""

from __future__ import annotations

from typing import Any

from pyshardy.auto.problem.arrays import Floats
from pyshardy.auto.solvers.flow_model import SparseRows
from pyshardy.auto.solvers.highs_model import HighsModel
from pyshardy.processes.worker import Parent


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
