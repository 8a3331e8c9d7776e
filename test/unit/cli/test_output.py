# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Standard streams that can't be written, and interrupts while modules are loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
"""
TOOLS = [
    "opt -",
    "translate -",
    "explain -",
    "run -",
    "auto -",
    "opt --help",
    "run --help",
    "--help",
]


def tool(arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "pyshardy", *arguments.split()],
        input=PROGRAM,
        text=True,
        check=False,
        **options,
    )


def test_reports_on_standard_output():
    ended = tool("explain - --trace=-", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith('{"traceEvents"')


@pytest.mark.parametrize("arguments", TOOLS)
def test_a_full_disk(arguments):
    with Path("/dev/full").open("w") as full:
        ended = tool(arguments, stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 1
    assert ended.stderr.endswith(": error: cannot write standard output: No space left on device\n")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "status"),
    [*((each, 0) for each in TOOLS), ("opt nowhere.mlir", 1), ("run - --seed=x", 1)],
)
def test_the_status_is_that_of_the_work_if_the_reader_goes(arguments, status):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        assert tool(arguments, stdout=gone, stderr=gone).returncode == status


@pytest.mark.parametrize(
    ("program", "status", "error"), [("sdy-opt", 130, ""), ("user.py", 3, "KeyboardInterrupt\n")]
)
def test_interrupts_while_modules_are_loaded(program, status, error):
    """The process of a tool ends without a traceback; that of a user is left alone."""
    code = (
        f"import os, signal, sys; sys.argv = [{program!r}]\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import pyshardy.cli.tool\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "except KeyboardInterrupt as raised:\n"
        "    print(type(raised).__name__, file=sys.stderr)\n"
        "    sys.exit(3)\n"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (status, error)
