# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Docstrings are in plain technical English: imperative or a noun phrase, in the field's terms."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for folder in ("dialect", "python", "tools", "bench")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "ods" not in path.parts
]

CLAUSES = re.compile(r"(What|Who|Whose|How|Where|Those|That|As|Which|When|Why)\b")
"""Openings of a clause that stands for a noun. `Whether` opens the docstring of a predicate."""

WORDS = {
    r"\bnobody\b|\bsomebody\b|\bwhoever\b": "name the device, the pass or the user",
    r"\bmends?\b|\bmended\b": "fix, repair",
    r"\bpays\b": "is profitable",
    r"\bmade whole\b|\bis whole\b|\bare whole\b|\bcomputed? whole\b|\bgathered whole\b": (
        "replicated, or unsharded along the dimension"
    ),
    r"\bin the way\b": "conflicts with",
    r"\bgoes without saying\b": "is implied",
}
"""Words that have an established term, and the term."""


PRONOUNS = re.compile(r"\b(those|one|some|others?|each)\b", re.IGNORECASE)
"""Words for a noun that the reader has to find; a first sentence has at most one of them."""


def first_sentences(path):
    """Yield the first sentences of modules, classes and functions, with their lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            summary = (ast.get_docstring(node) or "").partition("\n\n")[0].replace("\n", " ")
            yield getattr(node, "lineno", 1), re.split(r"(?<=[.:])\s", summary)[0]


def docstrings(path):
    """Yield the docstrings of a file, those of variables as well, with their lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            if (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, str)
            ):
                yield statement.lineno, statement.value.value


def offences(path):
    for line, sentence in first_sentences(path):
        if len(PRONOUNS.findall(sentence)) > 1:
            place = f"{path.relative_to(ROOT)}:{line}"
            yield f"{place}: say the noun instead of a second pronoun: {sentence}"
    for line, text in docstrings(path):
        place = f"{path.relative_to(ROOT)}:{line}"
        if CLAUSES.match(text):
            yield f"{place}: a clause instead of a summary: {text.splitlines()[0]}"
        for word, term in WORDS.items():
            found = re.search(word, text, re.IGNORECASE)
            if found:
                yield f"{place}: '{found[0]}': {term}"


def test_docstrings():
    assert SOURCES
    assert [each for path in SOURCES for each in offences(path)] == []


def test_offences_are_found(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_text('"""What devices send."""\n\nX = 1\n"""Nobody asks."""\n')
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert len([*offences(path)]) == 2
