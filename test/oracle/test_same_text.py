# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on the programs of `programs/`, one file for each area: the text of C++ Shardy.

The lines `// PASSES:` at the beginning of a file give the pipelines that each of its programs goes
through.
"""

import re
from pathlib import Path

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import collect
from pyshardy.pipeline import run_pipeline

PROGRAMS = Path(__file__).parent / "programs"


def programs_of(path: Path):
    text = path.read_text()
    pipelines = re.findall(r"^// PASSES: (.*)$", text, re.MULTILINE)
    for program in text.split("// -----\n"):
        name = re.findall(r"@(\w+)\(", program)[0]
        for index, pipeline in enumerate(pipelines):
            yield pytest.param(pipeline, program, id=f"{path.stem}-{name}-{index}")


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize(
    ("pipeline", "program"),
    [case for path in sorted(PROGRAMS.glob("*.mlir")) for case in programs_of(path)],
)
def test_same_text(shardy, context, pipeline, program):
    module = parse(program, context)
    expected = asm(parse(shardy.run(program, f"builtin.module({pipeline})"), context))
    with collect():
        run_pipeline(module, pipeline)
    assert asm(module) == expected
