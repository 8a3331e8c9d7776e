# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sdy-run, end to end."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pyshardy.cli import run
from pyshardy.program import PartitionedProgram

EXAMPLES = Path(__file__).parents[3] / "examples"

PROGRAM = """\
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""

UNSHARDED = PROGRAM.replace(' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}', "")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def sdy_run(capfd, monkeypatch) -> Run:
    def call(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        status = run.main(arguments)
        return status, *capfd.readouterr()

    return call


@pytest.mark.parametrize("name", ["mlp", "transformer_block"])
def test_examples(sdy_run, name):
    status, out, err = sdy_run(str(EXAMPLES / f"{name}.mlir"))
    assert (status, err) == (0, "")
    assert f'{name}.mlir: 8 devices, mesh <["data"=4, "model"=2]>' in out
    assert "all_reduce" in out
    assert "OK: the results match those of the unpartitioned program" in out
    assert "FAILED" not in out


def test_standard_input_and_the_report(sdy_run):
    status, out, err = sdy_run("-", stdin=PROGRAM)
    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert '<stdin>: 4 devices, mesh <["x"=4]>' in lines
    assert '%a tensor<8xf32> <@mesh, [{"x"}]> tensor<2xf32>' in lines
    assert "all_reduce sum x 4 1 1 4 6" in lines


def test_the_module_is_printed_on_demand(sdy_run):
    status, out, _ = sdy_run("-", "--print-module", "--no-check", stdin=PROGRAM)
    assert status == 0
    assert '"stablehlo.all_reduce"' in out
    assert "sdy." not in out
    assert "OK" not in out


def test_wrong_results_fail(sdy_run, monkeypatch):
    right = PartitionedProgram.run
    monkeypatch.setattr(
        PartitionedProgram,
        "run",
        lambda self, *arguments: [np.asarray(out * 1.01) for out in right(self, *arguments)],
    )
    status, out, _ = sdy_run("-", stdin=PROGRAM)
    assert status == 1
    assert "FAILED: 1 of 1 results differ" in out
    assert sdy_run("-", "--tolerance=0.1", stdin=PROGRAM)[0] == 0


def test_the_seed_decides_the_inputs(sdy_run):
    outputs = {sdy_run("-", f"--seed={seed}", stdin=PROGRAM)[0] for seed in (1, 2)}
    assert outputs == {0}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere.mlir"], "sdy-run: error: cannot open input file 'nowhere.mlir': No such file"),
        ([], "sdy-run: error: the following arguments are required: file"),
        (["-", "--seed=x"], "error: '--seed' is 'x': expected an integer of at least 0"),
        (["-", "--backend=gpu"], "invalid choice: 'gpu'"),
        (["-", "--no-check", "--tolerance=0"], "'--tolerance' and '--no-check' cannot be combined"),
        (["-", "--emit=stablehlo", "--tolerance=0"], "'--tolerance' is for programs that run"),
    ],
)
def test_a_wrong_command_line(sdy_run, arguments, complaint):
    status, out, err = sdy_run(*arguments)
    assert (status, out) == (1, "")
    assert complaint in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("program", "place", "complaint"),
    [
        (PROGRAM.replace("stablehlo.reduce", "stablehlo.nothing"), "4:8", "nothing"),
        (PROGRAM.replace('[{"x"}]', '[{"y"}]'), "2:74", "unknown axis"),
    ],
)
def test_a_wrong_program(sdy_run, program, place, complaint):
    status, out, err = sdy_run("-", stdin=program)
    assert (status, out) == (1, "")
    first, source, caret, *_ = err.splitlines()
    assert first.startswith(f"<stdin>:{place}: error: ")
    assert complaint in first
    assert source in program.splitlines()
    assert caret.strip() == "^"


def test_a_program_without_a_mesh(sdy_run):
    status, out, err = sdy_run("-", stdin=UNSHARDED.partition("\n")[2])
    assert (status, out) == (1, "")
    assert err.startswith("<stdin>:1:1: error: the program has no mesh")


def test_a_program_without_shardings(sdy_run):
    status, _, err = sdy_run("-", stdin=UNSHARDED)
    assert status == 0
    assert "sdy-run: warning: no argument or result is sharded" in err


def test_what_the_interpreter_cannot_run(sdy_run):
    text = """\
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @mine(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
    status, _, err = sdy_run("-", stdin=text)
    assert status == 1
    assert "<stdin>:3:8: error: the reference interpreter can't run 'stablehlo.custom_call'" in err
    assert "<stdin>:3:8: note: implement it by a Python function of NumPy arrays" in err


def test_help_does_without_the_host():
    script = (
        "import sys, contextlib\n"
        "from pyshardy.cli.run import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        "heavy = {'torch_mlir', 'numpy', 'rich', 'mlir_sdy.host'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
