# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding of programs: the optimum, the plan after propagation, and its collectives."""

import os

import pytest
from auto_programs import HARDWARE, assert_correct, assert_kept, least_cost, random_program

import pyshardy as sdy

NUM_PROGRAMS = int(os.environ.get("PYSHARDY_AUTO_PROGRAMS", "20"))
"""The number of random programs; 200 for a thorough run."""


def plan_of(text, **options):
    return sdy.auto_shard(sdy.parse(text), hardware=HARDWARE, gap=0.0, **options)


PRESOLVED = 183
"""A program in whose problem HiGHS's search for equations of two columns didn't end."""


@pytest.mark.parametrize("seed", sorted({*range(NUM_PROGRAMS), PRESOLVED}))
def test_a_random_program_has_its_best_plan(seed):
    """The plan is optimal, propagation keeps it, and it sends the bytes that were predicted."""
    plan = plan_of(random_program(seed))
    assert plan.cost == pytest.approx(least_cost(plan.search.built.problem), rel=1e-6)
    assert plan.bound == pytest.approx(plan.cost, rel=1e-6)
    assert_kept(plan)
    check = plan.check()
    assert sum(check.counted.values()) <= sum(check.predicted.values()) + 1e-6, check
    if seed % 4 == 0:  # runs take most of the time
        assert_correct(plan)
