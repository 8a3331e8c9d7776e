# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The import of MPMD programs, compared with C++ Shardy."""

import pytest
from case_counts import cases
from mpmd_programs import (
    CALLS,
    LOOP,
    PLACED,
    SLICES,
    SPLIT,
    TRAINING,
    NamedProgram,
    backward_chain,
    random_program,
)
from shardy import ShardyRefused

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from pyshardy.pipeline import run_pipeline

COUNT = 10
"""The number of random programs; the weekly run has 200."""

MOST_DIFFERENT = 0.02
"""The share of programs that may differ, in the order of operands."""


def theirs(program: NamedProgram, shardy, context) -> str:
    """The imported program by C++ Shardy, or the beginning of its error."""
    try:
        text = shardy.on_meshes(
            program.text,
            "IMPORT",
            topology=program.topology,
            assignment=program.assignment,
            inputs=program.inputs,
            outputs=program.outputs,
            options=program.options,
        )
    except ShardyRefused as refused:
        return fact(str(refused))
    return asm(parse(text, context))


def ours(program: NamedProgram, context) -> str:
    """The imported program, or the beginning of the error."""
    module = parse(program.with_topology, context)
    try:
        run_pipeline(module, program.pipeline)
    except SdyError as failure:
        return fact(failure.diagnostics[0].message)
    return asm(module)


def fact(message: str) -> str:
    """The fact that an error begins with."""
    return message.partition("error: ")[2][:70] or message[:70]


@pytest.mark.shardy_since(0, 12)
def test_random_programs(shardy, context):
    """Almost all programs are imported to equal modules, or refused for the same reason."""
    programs = {seed: random_program(seed) for seed in range(cases(COUNT))}
    different = {
        seed: program.text
        for seed, program in programs.items()
        if theirs(program, shardy, context) != ours(program, context)
    }
    assert len(different) <= MOST_DIFFERENT * len(programs), different


@pytest.mark.parametrize(
    "program", [CALLS, LOOP, PLACED, SLICES, SPLIT, TRAINING], ids=lambda each: each.name
)
@pytest.mark.shardy_since(0, 12)
def test_programs(program, shardy, context):
    """Calls, loops, placed values, sums of slices and training steps are imported as by Shardy."""
    assert ours(program, context) == theirs(program, shardy, context)


@pytest.mark.parametrize("operations", [1, 2, 3, 4, 5])
@pytest.mark.shardy_since(0, 12)
def test_split_chains(operations, shardy, context):
    """C++ Shardy doesn't split a backward fragment that keeps exactly three operations."""
    program = backward_chain(operations)
    split, expected = ours(program, context), theirs(program, shardy, context)
    assert (split == expected) == (operations != 3)
    assert ("split_keep_transferred" in expected) == (operations != 3)
    assert split.count("split_") == 2
