# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The guides are true: their code gives what they say, and their pictures are up to date.

The code runs in an empty folder with a copy of the examples.
"""

import ast
import re
import runpy
from pathlib import Path

import jax_devices  # noqa: F401 (before JAX looks for devices; guides need eight)
import pytest

import pyshardy as sdy
from pyshardy.cli.examples import copy_examples
from pyshardy.rules import temporary_rules

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_RESULT = re.compile(r"\s# -> (.*)\Z")
_TABLE = re.compile(r"^\| tactic \|( sharded \|.*)\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)
"""A table of a schedule's plan, without the columns that the guide leaves out."""
_LINK = re.compile(r"\]\(([^)#]+)\)")


def statements(text):
    """The statements of all blocks of code, each with the result that it is said to have."""
    for block in _BLOCK.finditer(text):
        first_line = text.count("\n", 0, block.start(1))
        lines = block[1].split("\n")
        for statement in ast.parse(block[1]).body:
            said = _RESULT.search(lines[statement.end_lineno - 1])
            ast.increment_lineno(statement, first_line)
            yield statement, said and said[1].strip()


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table_of(plan, headings):
    """The rows of the table of a schedule's plan with some of its columns."""
    table, *_ = plan.tables()
    columns = [table.headings.index(each) for each in headings]
    return [[str(row[column]) for column in columns] for row in table.rows]


@pytest.mark.parametrize("path", sorted(GUIDE.glob("*.md")), ids=lambda path: path.stem)
def test_code_does_what_the_guide_says(path, tmp_path, monkeypatch):
    copy_examples(tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names = {}
    results = 0
    plans = []
    with temporary_rules():  # What a guide registers is its own.
        for statement, said in statements(path.read_text(encoding="utf-8")):
            if isinstance(statement, ast.Expr):
                code = compile(ast.Expression(statement.value), str(path), "eval")
                assert repr(eval(code, names)) == said, f"{path.name}:{statement.lineno}"
                results += 1
            else:
                assert said is None, (
                    f"{path.name}:{statement.lineno}: only expressions have results"
                )
                exec(compile(ast.Module([statement], []), str(path), "exec"), names)
                if isinstance(names.get("plan"), sdy.Plan) and names["plan"] not in plans:
                    plans.append(names["plan"])
    tables = _TABLE.findall(path.read_text(encoding="utf-8"))
    for plan, (headings, rows) in zip(plans if tables else (), tables, strict=True):
        given = [cells(row) for row in rows.splitlines()]
        assert given == table_of(plan, ["tactic", *cells(headings)])
    assert results or "```python\n" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(GUIDE.glob("*.md")), ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    links = _LINK.findall(path.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (GUIDE / link).exists()] == []


def test_pictures_are_what_the_script_draws():
    drawn = runpy.run_path(str(GUIDE / "make_pictures.py"))["pictures"]()
    assert {path.stem for path in GUIDE.glob("*.svg")} == set(drawn)
    for name, picture in drawn.items():
        checked_in = (GUIDE / f"{name}.svg").read_text(encoding="utf-8")
        assert checked_in == picture.svg, f"run docs/guide/make_pictures.py: {name}.svg is old"


def test_every_picture_is_shown():
    shown = {link for path in GUIDE.glob("*.md") for link in _LINK.findall(path.read_text())}
    assert {path.name for path in GUIDE.glob("*.svg")} <= shown
