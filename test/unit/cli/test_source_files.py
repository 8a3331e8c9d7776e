# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diagnostics with the source line and a caret."""

from pathlib import Path

from mlir_sdy.diagnostics import SourceLocation, error, note
from pyshardy.cli.source_files import SourceFiles


def test_the_line_and_a_caret():
    sources = SourceFiles()
    sources.add("f.mlir", "first\n  second line\r\n")
    shown = sources.render(error("bad", SourceLocation("f.mlir", 2, 3)))
    assert shown == "f.mlir:2:3: error: bad\n  second line\n  ^"


def test_tabs_are_expanded():
    sources = SourceFiles()
    sources.add("f.mlir", "\tx\ty")
    shown = sources.render(error("bad", SourceLocation("f.mlir", 1, 4)))
    assert shown == f"f.mlir:1:4: error: bad\n{' ' * 8}x{' ' * 7}y\n{' ' * 16}^"


def test_notes_show_their_line_unless_it_was_just_shown():
    sources = SourceFiles()
    sources.add("f.mlir", "one\ntwo")
    here, there = SourceLocation("f.mlir", 1, 1), SourceLocation("f.mlir", 2, 2)
    shown = sources.render(error("bad", here, [note("same place", here), note("other", there)]))
    assert shown.splitlines() == [
        *["f.mlir:1:1: error: bad", "one", "^"],
        "f.mlir:1:1: note: same place",
        *["f.mlir:2:2: note: other", "two", " ^"],
    ]


def test_places_that_cannot_be_shown():
    sources = SourceFiles()
    sources.add("f.mlir", "one")
    for location in (SourceLocation("f.mlir", 7, 1), SourceLocation("nowhere.mlir", 1, 1)):
        assert sources.render(error("bad", location)) == f"{location}: error: bad"
    assert sources.render(error("bad")) == "error: bad"
    assert sources.render(error("bad"), "sdy-opt") == "sdy-opt: error: bad"


def test_other_files_are_read(tmp_path: Path):
    path = tmp_path / "other.mlir"
    path.write_text("content\n")
    shown = SourceFiles().render(error("bad", SourceLocation(str(path), 1, 2)))
    assert shown.splitlines()[1:] == ["content", " ^"]


def test_long_lines_are_cut_around_the_caret():
    sources = SourceFiles()
    sources.add("f.mlir", f"{'a' * 500}X{'b' * 500}\n{'a' * 500}X")
    for line, around in ((1, ("...", "...")), (2, ("...", "X"))):
        _, source, caret = sources.render(error("bad", SourceLocation("f.mlir", line, 501))).split(
            "\n"
        )
        assert len(source) == 120
        assert source[caret.index("^")] == "X"
        assert (source.startswith(around[0]), source.endswith(around[1])) == (True, True)


def test_control_characters_are_escaped_and_columns_count_bytes():
    sources = SourceFiles()
    sources.add("f.mlir", "\x1b[31m \u00e9 X")
    shown = sources.render(error("a \x1b[2J b", SourceLocation("f.mlir", 1, 10)))
    assert shown == "f.mlir:1:10: error: a \\x1b[2J b\n\\x1b[31m \u00e9 X\n" + " " * 11 + "^"


def test_color(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert SourceFiles().render(error("bad")) == "\x1b[1;31merror: \x1b[0m\x1b[1mbad\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert SourceFiles().render(error("bad")) == "error: bad"
