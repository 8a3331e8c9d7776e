# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real programs through the propagation pipeline, pass by pass, against C++ Shardy."""

from pathlib import Path

import pytest

from mlir_sdy.assembly import asm, parse
from pyshardy.pipeline import run_pipeline
from pyshardy.pipeline.plan import plan_pipeline

PROGRAMS = sorted((Path(__file__).parents[1] / "corpus" / "mlir").glob("*.mlir"))

PIPELINE = "sdy-propagation-pipeline"

NOT_IN_SHARDY = {"sdy-flatten-tuples"}
"""The passes that Shardy doesn't have. They change nothing here."""


def test_corpus_is_there():
    assert len(PROGRAMS) >= 60


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.shardy_since(0, 12)
def test_same_program_after_each_pass(shardy, context, path):
    module = parse(path.read_text(), context)
    text = asm(module)
    steps = plan_pipeline(f"{PIPELINE}{{compatible=true}}")
    theirs = [
        str(step.pipeline).replace("{compatible=true}", "")  # Shardy does as Shardy does
        for step in steps
        if step.argument not in NOT_IN_SHARDY
    ]
    outputs = iter(shardy.run_steps(text, theirs))
    whole = shardy.run(text, f"builtin.module({PIPELINE})")
    for step in steps:
        run_pipeline(module, step.pipeline, verify_each=False, restore_on_failure=False)
        expected = None if step.argument in NOT_IN_SHARDY else next(outputs)
        if expected is not None:
            text = asm(parse(expected, context))
        # Where both agree, the module is also what the next pass of Shardy's begins with.
        assert asm(module) == text, f"after {step.argument}"
    assert text == asm(parse(whole, context))
