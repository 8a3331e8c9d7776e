# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m pyshardy examples` copies the examples, and overwrites nothing."""

from pathlib import Path

from pyshardy.__main__ import main

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_copies_the_examples(tmp_path, capsys):
    folder = tmp_path / "copied"
    assert main(["examples", str(folder)]) == 0
    assert capsys.readouterr().out == f"copied the examples to {folder}\n"
    names = {path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*.mlir")}
    assert {path.relative_to(folder) for path in folder.rglob("*.mlir")} == names
    assert (folder / "mlp.mlir").read_text() == (EXAMPLES / "mlp.mlir").read_text()


def test_overwrites_nothing(tmp_path, capsys):
    assert main(["examples", str(tmp_path)]) == 1
    assert f"error: '{tmp_path}' exists already; name another folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
