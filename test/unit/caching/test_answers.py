# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stored answers of `sdy-explain` and texts of `sdy.explain` are those of a run."""

from pathlib import Path

import pytest

from mlir_sdy.diagnostics import collect, emit, warning
from pyshardy.caching.store import CACHE
from pyshardy.cli import explain
from pyshardy.explain import contract_advice, entry
from pyshardy.pipeline import PipelineError
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


def test_an_explanation_keeps_its_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(VERIFY_ANALYSES, raising=False)
    runs: list[int] = []
    explained = entry.explain_with_contracts

    def counted(*arguments, **keywords):
        runs.append(1)
        emit(warning("told once"))
        return explained(*arguments, **keywords)

    monkeypatch.setattr(entry, "explain_with_contracts", counted)
    plain = entry.explain(PROGRAM, cache=False)
    plain.to_html(tmp_path / "plain.html")
    for num_runs in (2, 2):  # one run without the cache, and the first with it
        with collect() as told:
            kept = entry.explain(PROGRAM, cache=tmp_path / "cache")
            assert repr(kept) == repr(plain)
            assert list(map(str, kept.tables())) == list(map(str, plain.tables()))
            kept.to_html(tmp_path / "kept.html")
        assert (tmp_path / "kept.html").read_text() == (tmp_path / "plain.html").read_text()
        assert [each.message for each in told] == ["told once"]
        assert len(runs) == num_runs
    with collect() as told:
        assert str(kept.value("%w")) == str(plain.value("%w"))
        assert kept.collectives == plain.collectives
    assert not told
    assert len(runs) == 3
    entry.explain(PROGRAM, cache=tmp_path / "cache", hardware="a100")
    assert len(runs) == 4


def test_an_explanation_that_fails_is_not_kept(tmp_path: Path):
    contract = PROGRAM.replace(
        "-> tensor<8x8xf32> {",
        """-> tensor<8x8xf32>
        attributes {sdy.contract = {at_most = {all_reduce = 0}}} {""",
        1,
    )
    for _ in range(2):
        with pytest.raises(PipelineError, match="violated"):
            entry.explain(contract, cache=tmp_path / "cache")
