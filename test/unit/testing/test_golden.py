# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Golden files, and the pytest plugin."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import SourceLocation
from pyshardy.testing import (
    MeasuredProgram,
    PlacedCollective,
    assert_equals_golden,
    golden_text,
)

GATHER = PlacedCollective(
    "all_gather", ("data",), 256, SourceLocation("/home/u/model.py", 12, 3), (), ""
)
REDUCE = PlacedCollective("all_reduce", None, 64, None, (), "")
MEASURED = MeasuredProgram(("data", "model"), (GATHER, REDUCE, GATHER), 0)


def test_collectives_are_summed_by_line():
    written = json.loads(golden_text(MEASURED))
    assert written["axes"] == ["data", "model"]
    assert [tuple(row.values()) for row in written["collectives"]] == [
        ("", "all_reduce", "other groups", 1, 64),
        ("model.py:12", "all_gather", "data", 2, 512),
    ]


def test_a_written_file_is_equal(tmp_path):
    path = tmp_path / "golden" / "step.json"
    assert_equals_golden(MEASURED, path, update=True)
    assert_equals_golden(MEASURED, path)
    assert_equals_golden(replace(MEASURED, collectives=(GATHER, GATHER, REDUCE)), path)


def test_the_difference_is_a_table(tmp_path):
    path = tmp_path / "step.json"
    assert_equals_golden(MEASURED, path, update=True)
    moved = replace(GATHER, place=SourceLocation("model.py", 13, 1))
    found = replace(MEASURED, collectives=(GATHER, REDUCE, moved))
    with pytest.raises(AssertionError) as failure:
        assert_equals_golden(found, path)
    head, *rows, advice = str(failure.value).splitlines()
    assert head == f"the collectives differ from those of '{path}':"
    assert [re.split(r"\s{2,}", row.strip()) for row in rows] == [
        ["line", "collective", "axes", "count", "bytes sent"],
        ["model.py:12", "all_gather", "data", "2 -> 1", "512 -> 256"],
        ["model.py:13", "all_gather", "data", "0 -> 1", "0 -> 256"],
    ]
    assert advice.endswith("update the file by 'pytest --sdy-update'")


@pytest.mark.parametrize("text", ["", "[]", '{"collectives": [{"line": "a"}]}'])
def test_other_files(tmp_path, text):
    path = tmp_path / "step.json"
    path.write_text(text)
    with pytest.raises(sdy.UsageError, match="is not a golden file"):
        assert_equals_golden(MEASURED, path)
    with pytest.raises(sdy.UsageError, match="write it by 'pytest --sdy-update'"):
        assert_equals_golden(MEASURED, tmp_path / "missing.json")
    path.write_bytes(b"\xff")
    with pytest.raises(
        sdy.UsageError, match=r"cannot use the golden file .*: it is not UTF-8 text"
    ):
        assert_equals_golden(MEASURED, path)


TESTS = '''
PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""

def test_golden(sdy_contract):
    sdy_contract(PROGRAM, golden="golden/program.json")

def test_limits(sdy_contract):
    measured = sdy_contract(PROGRAM, at_most={"all_gather": 1}, max_memory="1kB")
    assert [each.kind for each in measured.collectives] == ["all_gather"]

def test_violated(sdy_contract):
    sdy_contract(PROGRAM, contract="no all_gather", golden="golden/program.json")

def test_mistyped(sdy_contract):
    sdy_contract(PROGRAM, at_mots={"all_gather": 1})

def test_always(sdy_contract):
    sdy_contract(PROGRAM, contract="no all_gather in nowhere")
'''


def run_pytest(folder: Path, *flags: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pyshardy.pytest_plugin", *flags]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    made = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return made.stdout + made.stderr


def test_the_plugin(tmp_path):
    (tmp_path / "test_program.py").write_text(TESTS)
    written = run_pytest(tmp_path, "--sdy-update", "-k", "golden")
    assert "1 passed" in written
    assert "all_gather" in (tmp_path / "golden" / "program.json").read_text()
    said = run_pytest(tmp_path)
    assert "3 passed, 1 warning" in said
    assert "UserWarning: warning: 'no all_gather in nowhere' always holds" in said
    assert "UsageError: there are no limits; did you mean 'at_most'?" in said
    assert "FAILED test_program.py::test_violated" in said
    assert "no all_gather: found 1 collective, 16 bytes sent" in said
    assert "golden.py" not in said, "the frames of the plugin are hidden"
