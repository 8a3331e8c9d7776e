# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cutting an input at the separator lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyshardy.cli.split_input import Piece, near_misses, split_input


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", [Piece("")]),
        ("a\nb\n", [Piece("a\nb\n")]),
        ("a\n// -----\nb\n", [Piece("a\n"), Piece("b\n", 3)]),
        ("a\n\n// -----  \r\nb", [Piece("a\n\n"), Piece("b", 4)]),
        ("// -----\n// -----", [Piece(""), Piece("", 2), Piece("", 3)]),
        ("a // -----\n // -----\n// ------\n", [Piece("a // -----\n // -----\n// ------\n")]),
    ],
)
def test_pieces(text: str, pieces: list[Piece]):
    assert split_input(text) == pieces


@given(st.lists(st.sampled_from(["a", "", "// -----", "//-----"])).map("\n".join))
def test_pieces_know_their_lines(text: str):
    lines = text.split("\n")
    for piece in split_input(text):
        own = piece.text.split("\n")
        if own[-1] == "":
            own.pop()
        assert lines[piece.first_line - 1 :][: len(own)] == own


def test_near_misses_are_warned_of():
    text = "// -----\n// ------\n//-----\n// --- a heading ---\n// ----"
    assert [str(warning).partition(" near")[0] for warning in near_misses(text, "f")] == [
        "f:2:1: warning:",
        "f:3:1: warning:",
        "f:5:1: warning:",
    ]
