# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cutting an input at the separator lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyshardy.cli.source_files import Chunk, near_misses, split_input


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("", [Chunk("")]),
        ("a\nb\n", [Chunk("a\nb\n")]),
        ("a\n// -----\nb\n", [Chunk("a\n"), Chunk("b\n", 3)]),
        ("a\n\n// -----  \r\nb", [Chunk("a\n\n"), Chunk("b", 4)]),
        ("// -----\n// -----", [Chunk(""), Chunk("", 2), Chunk("", 3)]),
        ("a // -----\n // -----\n// ------\n", [Chunk("a // -----\n // -----\n// ------\n")]),
    ],
)
def test_pieces(text: str, chunks: list[Chunk]):
    assert split_input(text) == chunks


@given(st.lists(st.sampled_from(["a", "", "// -----", "//-----"])).map("\n".join))
def test_pieces_know_their_lines(text: str):
    lines = text.split("\n")
    for chunk in split_input(text):
        own = chunk.text.split("\n")
        if own[-1] == "":
            own.pop()
        assert lines[chunk.first_line - 1 :][: len(own)] == own


def test_near_misses_are_warned_of():
    text = "// -----\n// ------\n//-----\n// --- a heading ---\n// ----"
    assert [str(warning).partition(" near")[0] for warning in near_misses(text, "f")] == [
        "f:2:1: warning:",
        "f:3:1: warning:",
        "f:5:1: warning:",
    ]
