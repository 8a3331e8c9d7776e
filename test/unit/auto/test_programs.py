# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding of programs: the optimum, the plan after propagation, and its collectives."""

import os

import numpy as np
import pytest
from auto_programs import HARDWARE, least_cost, random_program

import pyshardy as sdy
from pyshardy.irtools.named_values import NamedValues
from pyshardy.program import run_unpartitioned

NUM_PROGRAMS = int(os.environ.get("PYSHARDY_AUTO_PROGRAMS", "20"))
"""The number of random programs; 200 for a thorough run."""


def plan_of(text, **options):
    return sdy.auto_shard(sdy.parse(text), hardware=HARDWARE, gap=0.0, **options)


def assert_kept(plan):
    """Check that propagation keeps the sharding of each value, and the text of the module."""
    module = sdy.parse(sdy.asm(plan.module))
    values = NamedValues.marked(module)
    planned = {name: sdy.get_sharding(value) for name, value in values.items()}
    assert any(planned.values())
    sdy.propagate(module)
    for name, sharding in planned.items():
        assert sharding is None or sdy.get_sharding(values[name]) == sharding, name


def assert_correct(plan):
    """Check that the partitioned program computes what the unpartitioned one does."""
    generator = np.random.default_rng(0)
    inputs = [
        generator.standard_normal(port.spec.shape, np.float32) for port in plan.program.inputs
    ]
    expected = run_unpartitioned(plan.module, inputs)
    for found, wanted in zip(plan.program.run(inputs), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(NUM_PROGRAMS))
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
