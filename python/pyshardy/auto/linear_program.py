# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear programs in HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyshardy.auto.flow_model import SparseRows
from pyshardy.auto.problem import Floats


def linear_program(costs: Floats, rows: SparseRows) -> Any:
    """Return HiGHS with a linear program of non-negative columns, on one thread.

    Args:
        costs: the cost of each column.
        rows: the constraints.
    """
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
    highs = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1, "parallel": "off"}.items():
        highs.setOptionValue(option, value)
    highs.passModel(program)
    return highs


def add_rows(highs: Any, rows: SparseRows) -> None:
    """Add constraints to a linear program."""
    starts, columns = rows.starts[:-1].astype(np.int32), rows.columns.astype(np.int32)
    number, entries = len(rows.lower), len(rows.entries)
    highs.addRows(number, rows.lower, rows.upper, entries, starts, columns, rows.entries)


def make_integer(highs: Any, number: int) -> None:
    """Make the first columns of a linear program integer."""
    import highspy  # noqa: PLC0415 (an optional package)

    columns = np.arange(number, dtype=np.int32)
    kinds = np.full(number, int(highspy.HighsVarType.kInteger), np.uint8)
    highs.changeColsIntegrality(number, columns, kinds)
