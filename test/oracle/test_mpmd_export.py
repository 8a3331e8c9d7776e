# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Propagation and export of MPMD programs, compared with C++ Shardy."""

from dataclasses import replace

import pytest
from case_counts import cases, spread
from mpmd_programs import LOOP, PLACED, SPLIT, TENSOR, UNEVEN, random_program, sharded, training
from shardy import ShardyRefused

from mlir_sdy.assembly import asm, parse
from pyshardy.pipeline import run_pipeline

COUNT = 6
"""The number of random programs; the weekly run has 200."""

MOST_DIFFERENT = 0.05
"""The share of programs that may differ."""

PIPELINE = (
    "mpmd-sharding-propagation-pipeline,mpmd-export-pipeline{fail-on-inferred-fragments=false}"
)


def are_equal(program, shardy, context, **options) -> bool:
    """Whether the exported program is that of C++ Shardy, or C++ Shardy refuses to import it."""

    def after(until):
        return shardy.on_meshes(
            program.text,
            until,
            topology=program.topology,
            assignment=program.assignment,
            inputs=program.inputs,
            outputs=program.outputs,
            donated=program.donated,
            options=program.options | options,
        )

    try:
        module = parse(after("IMPORT|OPTIMIZE"), context)
    except ShardyRefused:
        return True
    run_pipeline(module, PIPELINE)
    try:
        return asm(module) == asm(parse(after("ALL"), context))
    except ShardyRefused:
        return False


@pytest.mark.shardy_since(0, 12)
def test_random_programs(shardy, context):
    """Almost all programs have equal fragment functions, shardings, donations and bytes."""
    programs = {seed: sharded(random_program(seed), seed) for seed in range(cases(COUNT))}
    different = [seed for seed, each in programs.items() if not are_equal(each, shardy, context)]
    assert len(different) <= MOST_DIFFERENT * len(programs), different


@pytest.mark.shardy_since(0, 12)
def test_a_value_with_several_shardings(shardy, context):
    """C++ Shardy refuses what it makes of a value that is returned with several shardings."""
    assert not are_equal(sharded(random_program(92), 92), shardy, context)


@pytest.mark.parametrize("program", [LOOP, PLACED, SPLIT, UNEVEN], ids=lambda each: each.name)
@pytest.mark.shardy_since(0, 12)
def test_programs(program, shardy, context):
    """Loops, values on a host, split fragments, and shardings that do not divide are equal."""
    assert are_equal(program, shardy, context)


SCHEDULES = {"GPipe": False, "1F1B": False, "ZeroBubbleH1": True, "Circular": False}
CASES = [(name, *each) for name in SCHEDULES for each in ((2, 4), (3, 4), (4, 8), (2, 3))]


@pytest.mark.parametrize(("name", "meshes", "microbatches"), spread(CASES, 3))
@pytest.mark.shardy_since(0, 12)
def test_training_steps(name, meshes, microbatches, shardy, context):
    """Training steps with sharded weights are exported as by Shardy."""
    is_circular = name == "Circular"
    program = training(
        2 * meshes if is_circular else meshes,
        microbatches,
        meshes=meshes if is_circular else None,
        split=SCHEDULES[name],
    )
    weight = '{sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}'
    # The zero is an argument, as the addition of a constant zero would be folded.
    text = program.text.replace(f"%z = stablehlo.constant dense<0.0> : {TENSOR}\n", "")
    text = text.replace("@main(%w0:", f"@main(%z: {TENSOR}, %w0:", 1)
    text = text.replace(f"%w0: {TENSOR}", f"%w0: {TENSOR} {weight}", 1)
    program = replace(program, text=f'sdy.mesh @mesh = <["x"=2]>\n{text}', donated=[1])
    assert are_equal(program, shardy, context, mpmd_pipeline_schedule=name)
