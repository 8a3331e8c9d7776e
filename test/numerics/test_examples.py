# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checked-in examples are what JAX prints for the models in `examples/make_programs.py`."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.host import ir

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def script(tmp_path_factory) -> Path:
    """A copy of the script, which writes beside itself."""
    folder = tmp_path_factory.mktemp("examples")
    return Path(shutil.copy(EXAMPLES / "make_programs.py", folder))


def test_examples_are_up_to_date(script: Path):
    subprocess.run([sys.executable, script], check=True)
    made = {path.name: path.read_text() for path in script.parent.glob("*.mlir")}
    assert made == {path.name: path.read_text() for path in EXAMPLES.glob("*.mlir")}


def test_the_training_step_is_large(script: Path, context):
    program = script.parent / "large" / "training.mlir"
    program.parent.mkdir()
    subprocess.run([sys.executable, script, "--large", program], check=True)
    module = parse(program.read_text(), context, str(program))
    count = 0

    def visit(_: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += 1
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    assert count >= 4_000
    assert program.read_text().count("call @_where_") == 24
