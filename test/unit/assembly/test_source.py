# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokens, places and rewritten texts."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_sdy.assembly import asm, parse
from mlir_sdy.assembly.rewritten_text import RewrittenText
from mlir_sdy.assembly.source import (
    Cursor,
    SourceText,
    end_of_braces,
    end_of_brackets,
    on_one_line,
    unescape,
)
from mlir_sdy.diagnostics import ParseError, VerificationError
from mlir_sdy.dialect import Context
from mlir_sdy.model.text import quoted


def cursor(text):
    return Cursor(SourceText(text, "file"))


# --- Cursor -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "step", "value", "rest"),
    [
        ("  word.rest", lambda c: c.try_word(), "word", ".rest"),
        ("// comment\n a.b$c <", lambda c: c.try_identifier(), "a.b$c", " <"),
        ('"a\\22\\n\\\\" x', lambda c: c.string("text"), 'a"\n\\', " x"),
        ('"\\C3\\BC"', lambda c: c.string("text"), "ü", ""),
        (" -17p", lambda c: c.integer("a number"), -17, "p"),
        ("@name.of$it ,", lambda c: c.symbol("a name"), "name.of$it", " ,"),
        ('@"any \\22name"', lambda c: c.symbol("a name"), 'any "name', ""),
        ("%arg1#2,", lambda c: c.value(), "%arg1#2", ","),
        ("<(]>)> x", lambda c: c.try_token("<"), True, "(]>)> x"),
        ('{a = "}", b = [(1)]} x', lambda c: c.balanced(), '{a = "}", b = [(1)]}', " x"),
        ("(a) -> (b // )\n) x", lambda c: c.balanced(), "(a)", " -> (b // )\n) x"),
        ("tensor<4x!x.y<1>> x", lambda c: c.type(), "tensor<4x!x.y<1>>", " x"),
        ("!stablehlo.token x", lambda c: c.type(), "!stablehlo.token", " x"),
        ("(i32) -> (f32, f32) x", lambda c: c.type(), "(i32) -> (f32, f32)", " x"),
        ("() -> i32 x", lambda c: c.type(), "() -> i32", " x"),
        ("tuple<(i32) -> i32> x", lambda c: c.type(), "tuple<(i32) -> i32>", " x"),
        ("keyword2", lambda c: c.try_keyword("keyword"), False, "keyword2"),
        ("replicated=", lambda c: c.try_keyword("replicated"), True, "="),
    ],
)
def test_steps(text, step, value, rest):
    at = cursor(text)
    assert step(at) == value
    assert at.text[at.position :] == rest


@pytest.mark.parametrize(
    ("text", "step", "message"),
    [
        ("a", lambda c: c.token("{"), "file:1:1: error: expected '{', found 'a'"),
        (
            "\n  ]",
            lambda c: c.integer("a size"),
            "file:2:3: error: expected integer value: a size, found ']'",
        ),
        (
            "",
            lambda c: c.string("a name"),
            "file:1:1: error: expected string: a name in double quotes",
        ),
        ("@a::@b", lambda c: c.symbol("a mesh"), "a mesh must be a flat symbol"),
        ("9223372036854775808", lambda c: c.integer("a size"), "does not fit in 64 bits"),
        ("x (a", lambda c: (c.try_word(), c.balanced()), "file:1:3: error: '(' is not closed"),
        ("(a]", lambda c: c.balanced(), "file:1:1: error: '(' is not closed"),
        ("ü x", lambda c: (setattr(c, "position", 2), c.token("{")), "file:1:4: error"),
    ],
)
def test_errors(text, step, message):
    with pytest.raises(ParseError) as failure:
        step(cursor(text))
    assert message in str(failure.value)


def test_ends_of_brackets():
    text = 'a({"}"} // )\n [->]) b'
    assert text[: end_of_brackets(text, 1)] == text[:-2]
    assert end_of_brackets("(]", 0) == end_of_brackets("(", 0) == -1
    text = '{ "}" { // }\n } } }'
    assert end_of_braces(text, 0, len(text)) == len(text) - 2
    assert end_of_braces("{ {}", 0, 4) == -1


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoted_text_is_read_back(text):
    assert unescape(quoted(text)) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1,\n  b = 2 ", "a = 1, b = 2"),
        ("a = 1 // one\n // two\n, b", "a = 1 , b"),
        ('a = "// no comment" // a comment', 'a = "// no comment"'),
        ("a // one", "a"),
    ],
)
def test_on_one_line(text, line):
    assert on_one_line(text) == line


# --- Places -------------------------------------------------------------------------------------


@given(st.text(st.sampled_from("aü€\n"), min_size=1), st.data())
def test_offsets_and_places_are_inverse(text, data):
    source = SourceText(text, "file", first_line=data.draw(st.integers(1, 9)))
    offset = data.draw(st.integers(0, len(text)))
    assert source.offset(*source.line_and_column(offset)) == offset


# --- Rewritten texts ----------------------------------------------------------------------------

PIECES = st.lists(
    st.tuples(
        st.sampled_from(["copy", "replace"]),
        st.text(st.sampled_from("ab \n"), min_size=1, max_size=6),
        st.text(st.sampled_from("xyz"), max_size=6),
    )
)


@given(PIECES)
def test_rewritten_text_keeps_lines_and_knows_origins(pieces):
    source = SourceText("".join(text for _, text, _ in pieces), "file")
    out = RewrittenText(source)
    offset = 0
    copied = []
    for kind, text, replacement in pieces:
        end = offset + len(text)
        if kind == "copy":
            out.copy(offset, end)
            copied += range(offset, end)
        else:
            out.replace(offset, end, replacement)
        offset = end
    rewritten = SourceText(out.text(), "file")
    assert rewritten.text.count("\n") == source.text.count("\n")
    origins = {out.source_offset(at): at for at in range(len(rewritten.text))}
    for at in copied:
        assert rewritten.text[origins[at]] == source.text[at]
        line, column = source.line_and_column(at)
        place = rewritten.line_and_column(origins[at])
        assert place[0] == line
        if source.text[at].strip() and line not in out.moved_lines:
            assert place[1] == column


# --- Comments -----------------------------------------------------------------------------------


def test_comments_end_where_their_lines_end(context):
    text = """
        #axes = #sdy.sharding<@m, [ // } ]> "
          {"x"}]> // {
        sdy.mesh @m = <["x"=4]> { // "
          a = 1 : i32 // }
        } // }
        "sdy.mesh"() <{ // ({
          mesh = #sdy.mesh<[]>, sym_name = "n" // )
        }> : () -> () // }
        func.func @f(%a: tensor<8xf32> {sdy.sharding = #axes}) { // "sdy.mesh"(
          sdy.manual_computation( // (
            %a) in_shardings=[#axes] // sdy.return
            out_shardings=[] manual_axes={"x"} (%b: tensor<2xf32> // )
            ) { // {
            sdy.return // }
          } : (tensor<8xf32>) -> ()
          return
        } // the end"""
    printed = asm(parse(text, context))
    assert printed.splitlines() == [
        "module {",
        '  sdy.mesh @m = <["x"=4]> {a = 1 : i32}',
        "  sdy.mesh @n = <[]>",
        '  func.func @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {',
        '    sdy.manual_computation(%arg0) in_shardings=[<@m, [{"x"}]>] out_shardings=[] '
        'manual_axes={"x"} (%arg1: tensor<2xf32>) {',
        "      sdy.return",
        "    } : (tensor<8xf32>) -> ()",
        "    return",
        "  }",
        "}",
    ]


@pytest.mark.parametrize(
    ("literal", "complaint"),
    [(r'"a\0"', r"unknown escape '\\0'"), (r'"\FF"', "not UTF-8")],
)
def test_wrong_strings(literal, complaint):
    with pytest.raises(ParseError, match=complaint) as failure:
        Cursor(SourceText(f"  {literal}", "f.mlir")).string("a name")
    assert str(failure.value.diagnostics[0].location) == "f.mlir:1:3"


# --- Which failure comes first --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # What the host can't read stands in front of what the reader can't.
        ("func.func @f() { %0 = stablehlo.constant }\nsdy.mesh @m = 3", "f:1:41: error: "),
        ('module {\n  func.func @f() {\n    call f\n  }\n  sdy.mesh @m = <["a"]>\n}', "f:3:9: "),
        # It stands behind, or is there only because the text ends early.
        ("sdy.mesh @m = 3\nfunc.func @f() { %0 = stablehlo.constant }", "f:1:15: error: expected"),
        ("func.func @f() {\n  sdy.mesh @m = 3", "f:2:17: error: expected"),
        (
            "#a = [#sdy.sharding<3>]\nsdy.mesh @m = <[]>",
            "f:1:21: error: invalid kind of attribute specified: expected",
        ),
        ("func.func @f(%a: i32) attributes {sdy.x = #sdy.mesh<3>", "f:1:53: error: expected"),
        ("// nothing\n\n  // but comments\n\n#sdy.mesh<3>", "f:5:11: error: expected"),
    ],
)
def test_failures_are_told_in_the_order_of_the_text(text, message):
    with pytest.raises(ParseError) as failure:
        parse(text, Context(), "f")
    assert str(failure.value).startswith(message), failure.value


ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["mlp", "transformer_block"])
def test_the_text_of_the_host_is_read(name):
    """`str(module)` has attributes by their parameters."""
    context = Context()
    module = parse((ROOT / "examples" / f"{name}.mlir").read_text(), context)
    text = str(module)
    assert "#sdy.dimension_sharding<" in text
    assert asm(parse(text, context)) == asm(module)
    with pytest.raises(
        VerificationError, match='axis size must be at least 1, got: -4 for axis "data"'
    ):
        parse(re.sub('"data", [0-9]+', '"data", -4', text, count=1), context)
    with pytest.raises(VerificationError, match='unknown axis name: "model"'):
        parse(text.replace('"model", ', '"modl", ', 1), context)
