# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion of command lines, as shells ask for it."""

import os
import subprocess
import sys

import pytest

import cli_reference

pytest.importorskip("argcomplete")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sdy-opt --sdy-close-s", ["--sdy-close-shardings"]),
        (
            "sdy-opt --cse --sdy-basic-propagate=keep",
            ["keep-sharding-rules=true", "keep-sharding-rules=false"],
        ),
        ("sdy-opt --mlir-print-ir-after=sdy-close-s", ["sdy-close-shardings"]),
        ("sdy-run --backend=interp", ["interpreter"]),
        ("sdy-explain --stri", ["--strict-rules"]),
        ("sdy-explain --hardware=h", ["h100", "h200"]),
        ("sdy-auto --hardware=tpu-v5", ["tpu-v5e", "tpu-v5p"]),
        ("sdy-calibrate --backend=m", ["mpi"]),
        (
            "sdy-opt --pass-pipeline 'builtin.module(sdy-close-s",
            ["builtin.module(sdy-close-shardings"],
        ),
        (
            "sdy-opt --pass-pipeline='builtin.module(sdy-close-s",
            ["builtin.module(sdy-close-shardings"],
        ),
        ("sdy-opt --pass-pipeline=cse,symbol-d", ["cse,symbol-dce"]),
    ],
)
def test_completions(line, expected, tmp_path):
    answer = tmp_path / "answer"
    environment = os.environ | {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SHELL": "bash",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "_ARGCOMPLETE_COMP_WORDBREAKS": " \t\n\"'><=;|&(:",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    tool = line.partition(" ")[0].removeprefix("sdy-")
    subprocess.run([sys.executable, "-m", f"pyshardy.cli.{tool}"], env=environment, check=True)
    assert [each.strip() for each in answer.read_text().split("\n")] == expected


def test_the_reference_is_up_to_date():
    assert cli_reference.PAGE.read_text(encoding="utf-8") == cli_reference.page()
