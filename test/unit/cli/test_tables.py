# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of the reports at the width of a terminal, and progress."""

import re

import pytest

from mlir_sdy.stages import stage
from pyshardy.cli import explain, run
from pyshardy.cli.output import activity

PROGRAM = """sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(%a: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
    %b: tensor<128x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> tensor<64x256xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<64x128xf32>, tensor<128x256xf32>) -> tensor<64x256xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<64x256xf32>
  return %1 : tensor<64x256xf32>
}
"""


@pytest.fixture
def program(tmp_path):
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    path = folder / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


@pytest.mark.parametrize(("tool", "is_terminal"), [(run, True), (explain, True), (explain, False)])
def test_tables_fit(program, tool, is_terminal, monkeypatch, capsys):
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "80")
    assert tool.main([program]) == 0
    title, *lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).split("\n")
    assert title.startswith(program)
    assert max(map(len, lines)) <= (80 if is_terminal else 200)
    assert not [line for line in lines if line != line.rstrip()]
    # Nothing is cut.
    assert not any("…" in line for line in lines)
    assert tool is run or any(re.search(r"program\.mlir:\d:8", line) for line in lines)
    # Numbers are complete, and no word is continued in the next line.
    assert any(re.match(r"total.* (32,768|65,536)$", line) for line in lines), lines
    assert all(re.search(r"[\d?]$", line) for line in lines if line.startswith("all_reduce"))


def test_progress(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    shown = []
    monkeypatch.setattr("rich.status.Status.update", lambda _, text: shown.append(text.plain))
    with activity("partitioning"):
        for name in ("a", "b"):
            with stage(f"running pass '{name}'"):
                pass
    assert shown == [
        "partitioning ... running pass 'a' (stage 1, 0 s)",
        "partitioning ... running pass 'b' (stage 2, 0 s)",
    ]
    capsys.readouterr()


def test_only_the_first_process_of_mpi_prints(program, monkeypatch, capsys):
    monkeypatch.setenv("PMI_RANK", "1")
    monkeypatch.setattr("pyshardy.program.PartitionedProgram.run", lambda *_: [])
    assert run.main([program, "--backend=mpi", "--no-check"]) == 0
    assert capsys.readouterr().out == ""
