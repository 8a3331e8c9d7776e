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
    assert sources.render(error("bad")) == "<unknown>:0: error: bad"


def test_other_files_are_read(tmp_path: Path):
    path = tmp_path / "other.mlir"
    path.write_text("content\n")
    shown = SourceFiles().render(error("bad", SourceLocation(str(path), 1, 2)))
    assert shown.splitlines()[1:] == ["content", " ^"]
