# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HiGHS in a process of its own: the same solutions, and none lost if the process fails."""

import subprocess
import sys
import time

import numpy as np
import pytest

from pyshardy.auto.problem.arrays import Buffer, Node, Problem, User, Value, evaluate
from pyshardy.auto.solvers import linear_program
from pyshardy.auto.solvers.solver import solve


@pytest.fixture
def problem():
    """A problem that neither reductions nor messages solve."""
    draw, own = np.random.default_rng(0), np.arange(3)
    nodes = [Node(f"n{number}", draw.random(3)) for number in range(9)]
    values = [
        Value(producer, own, [User(user, own)], draw.random((3, 3)))
        for producer in range(9)
        for user in range(producer + 1, 9)
    ]
    buffers = [Buffer(0, 1, number, draw.random(3)) for number in range(9)]
    return Problem(nodes, values, buffers, limit=3.5)


def test_the_solution_is_the_same(problem, monkeypatch):
    here = solve(problem, by="highs", gap=0)
    monkeypatch.setattr(linear_program, "LARGE", 0)
    there = solve(problem, by="highs", gap=0)
    assert there.status == here.status == "optimal"
    assert there.choice.tolist() == here.choice.tolist()
    assert there.bound == here.bound


@pytest.mark.parametrize("failure", ["os.abort()", "time.sleep(1000)"])
def test_a_failure_loses_no_choice(problem, monkeypatch, failure):
    monkeypatch.setattr(linear_program, "LARGE", 0)
    monkeypatch.setattr(linear_program, "PATIENCE", 0.3)
    monkeypatch.setattr(linear_program, "COMMAND", ("-c", f"import os, time; {failure}"))
    begun = time.perf_counter()
    found = solve(problem, by="highs", gap=0)
    assert time.perf_counter() - begun < 500
    assert evaluate(problem, found.choice).fits(problem.limit)
    assert "HiGHS crashed or hung (linear relaxation)" in found.notes


def test_a_run_ends_though_highs_does_not(problem, monkeypatch):
    monkeypatch.setattr(linear_program, "LARGE", 0)
    monkeypatch.setattr(linear_program, "GRACE", -1e3)  # the time is always up
    found = solve(problem, by="highs", gap=0)
    assert evaluate(problem, found.choice).fits(problem.limit)
    assert "HiGHS crashed or hung (linear relaxation)" in found.notes


def test_nothing_is_printed():
    """HiGHS 1.16 prints a banner, among the output of a tool."""
    code = (
        "import numpy as np\n"
        "from pyshardy.auto.solvers.flow_model import SparseRows\n"
        "from pyshardy.auto.solvers.highs_model import HighsModel\n"
        "none = np.zeros(0)\n"
        "rows = SparseRows(none, none, np.zeros(1, int), np.zeros(0, int), none)\n"
        "print(HighsModel(np.ones(1), rows).run(1.0).status)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("kOptimal\n", "")
