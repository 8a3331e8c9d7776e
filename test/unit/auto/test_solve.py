# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Solvers are found by name."""

import sys
from types import SimpleNamespace

import pytest
from brute_force import brute_force

from mlir_sdy.diagnostics import UsageError
from pyshardy.auto.problem.arrays import Node, Problem
from pyshardy.auto.solvers.solver import register_solver, solve, unregister_solver


class BruteForce:
    def solve(self, problem, **_options):
        return brute_force(problem)


def test_solvers_can_be_registered(monkeypatch):
    monkeypatch.setitem(sys.modules, "user_solver", SimpleNamespace(BruteForce=BruteForce))
    register_solver("brute_force", "user_solver:BruteForce")
    assert solve(Problem([Node("a", [2, 1])]), by="brute_force").choice.tolist() == [1]
    unregister_solver("brute_force")
    with pytest.raises(UsageError):
        solve(Problem([]), by="brute_force")


def test_unknown_solvers():
    with pytest.raises(UsageError, match=r"unknown solver 'higs': expected .*did you mean 'highs'"):
        solve(Problem([]), by="higs")
