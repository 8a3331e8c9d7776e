# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stored answers of `sdy-explain` are those of a run; what decides an answer decides a hit."""

from pathlib import Path

import pytest

from pyshardy.caching.store import CACHE
from pyshardy.cli import explain
from pyshardy.explain import contract_advice
from pyshardy.pipeline.runner import VERIFY_ANALYSES

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %v: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Explain the program with flags; return the status, the output, and whether it was stored."""
    monkeypatch.delenv(CACHE, raising=False)
    monkeypatch.delenv(VERIFY_ANALYSES, raising=False)
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM)
    answers: list[int] = []
    explained = contract_advice.explain_with_contracts

    def counted(*arguments, **keywords):
        answers.append(1)
        return explained(*arguments, **keywords)

    monkeypatch.setattr(contract_advice, "explain_with_contracts", counted)

    def ask(*flags: str) -> tuple[int, str, str, bool]:
        before = len(answers)
        folder = f"--cache={tmp_path / 'cache'}"
        status = explain.main([str(program), folder, "--no-guard", *flags])
        output = capsys.readouterr()
        return status, output.out, output.err, len(answers) == before

    return ask


def test_an_answer_is_that_of_a_run(run, tmp_path: Path):
    report = tmp_path / "report.html"
    flags = ["--collectives", f"--html={report}", "--check=no all_reduce along x"]
    *first, is_stored = run(*flags)
    assert not is_stored
    assert first[0] == 1
    assert "the contract 'no all_reduce along x' is violated" in first[2]
    page = report.read_text()
    report.unlink()
    *again, is_stored = run(*flags)
    assert is_stored
    assert again[:2] == first[:2]
    assert sorted(again[2].splitlines()) == sorted(first[2].splitlines())
    assert report.read_text() == page


def test_what_decides_an_answer_decides_a_hit(run, tmp_path: Path):
    contract = tmp_path / "contract.toml"
    contract.write_text("limits = ['no all_gather']\n")
    flags = ["--json", f"--check={contract}"]
    assert run(*flags)[3] is False
    assert run(*flags)[3] is True
    assert run("--json")[3] is False
    long = "; ".join(["no all_to_all along x"] * 20)  # too long for the name of a file
    assert run(f"--check={long}")[0] == 0
    contract.write_text("limits = ['no all_to_all']\n")
    assert run(*flags)[3] is False
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM.replace("%w", "%up"))
    assert run(*flags)[3] is False
    assert "%up" in run("--value=%up")[1]
    assert "%up" in run("--value=%up")[1]
