# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expected diagnostics in comments: each form, matched and not matched."""

import pytest

from mlir_sdy.diagnostics import Diagnostic, SourceLocation, error, note, remark, warning
from pyshardy.cli.verify_diagnostics import DiagnosticVerifier


def at(line: int, filename: str = "f.mlir") -> SourceLocation:
    return SourceLocation(filename, line, 3)


def failures(text: str, *diagnostics: Diagnostic, **how) -> list[str]:
    verifier = DiagnosticVerifier(text, "f.mlir", **how)
    for diagnostic in diagnostics:
        verifier(diagnostic)
    return [str(failure) for failure in verifier.failures()]


@pytest.mark.parametrize(
    ("text", "diagnostics"),
    [
        ("", []),
        ("op // expected-error {{bad}}", [error("a bad op", at(1))]),
        ("op // expected-error{{bad}}", [error("bad", at(1))]),
        ("op // expected-warning {{bad}}", [warning("bad", at(1))]),
        ("op // expected-remark {{bad}}", [remark("bad", at(1))]),
        ("// expected-error@+1 {{bad}}\nop", [error("bad", at(2))]),
        ("// expected-error @+2 {{bad}}\n\nop", [error("bad", at(3))]),
        ("op\n// expected-error@-1 {{bad}}", [error("bad", at(1))]),
        ("op\n// expected-error@above {{bad}}", [error("bad", at(1))]),
        ("// expected-error@below {{bad}}\nop", [error("bad", at(2))]),
        ("// expected-error@unknown {{bad}}", [error("bad")]),
        (
            "// expected-error@below {{a}}\n// expected-note@below {{b}}\nop",
            [error("a", at(3), [note("b", at(3))])],
        ),
        (
            "op\n// expected-error@above {{a}}\n// expected-note@above {{b}}",
            [error("a", at(1), [note("b", at(1))])],
        ),
        ("// expected-error@+1 2 {{bad}}\nop", [error("bad", at(2)), error("bad!", at(2))]),
        ("op // expected-error {{a {b}} c}}", [error("a {b}} c", at(1))]),
        ("op // expected-error {{a.c}}", [error("a.c", at(1))]),
        ("op // expected-error-re {{is {{[0-9]+}}, not 2.}}", [error("is 17, not 2.", at(1))]),
        ("op // expected-error-re {{{{x|y}} is}}", [error("y is", at(1))]),
        ("op // expected-error {{bad}}", [error("bad", at(1), [note("see current operation: x")])]),
    ],
)
def test_as_expected(text: str, diagnostics: list[Diagnostic]):
    assert failures(text, *diagnostics) == []


@pytest.mark.parametrize(
    ("text", "diagnostics", "reported"),
    [
        ("op", [error("bad", at(1))], ["f.mlir:1:3: error: unexpected error: bad"]),
        ("op", [warning("bad")], ["error: unexpected warning: bad"]),
        (
            "op // expected-error {{bad}}",
            [],
            ['f.mlir:1:7: error: expected error "bad" was not produced'],
        ),
        (
            "op // expected-error 3 {{bad}}",
            [error("bad", at(1))],
            ['f.mlir:1:7: error: expected error "bad" was not produced (2 more)'],
        ),
        (
            "op // expected-warning {{bad}}",
            [error("bad", at(1))],
            [
                "f.mlir:1:7: error: 'error' diagnostic emitted when expecting a 'warning'",
                'f.mlir:1:7: error: expected warning "bad" was not produced',
            ],
        ),
        (
            "op // expected-error {{bad}}",
            [error("bad", at(1)), error("bad", at(1))],
            ["f.mlir:1:3: error: unexpected error: bad"],
        ),
        (
            "op // expected-error {{a.c}}",
            [error("abc", at(1))],
            [
                "f.mlir:1:3: error: unexpected error: abc",
                'f.mlir:1:7: error: expected error "a.c" was not produced',
            ],
        ),
        (
            "op // expected-error {{bad}}",
            [error("bad", at(1, "other.mlir"))],
            [
                "other.mlir:1:3: error: unexpected error: bad",
                'f.mlir:1:7: error: expected error "bad" was not produced',
            ],
        ),
        (
            "op // expected-error {{bad}}",
            [error("worse", at(1), [note("bad", at(1))])],
            [
                "f.mlir:1:3: error: unexpected error: worse",
                'f.mlir:1:7: error: expected error "bad" was not produced',
            ],
        ),
        (
            "// expected-error@above {{bad}}",
            [],
            ["f.mlir:1:4: error: expected diagnostic above, but there is no line above"],
        ),
        (
            "// expected-error@below {{bad}}",
            [error("bad", at(1))],
            [
                "f.mlir:1:3: error: unexpected error: bad",
                'f.mlir:1:4: error: expected error "bad" was not produced',
            ],
        ),
    ],
)
def test_not_as_expected(text: str, diagnostics: list[Diagnostic], reported: list[str]):
    assert failures(text, *diagnostics) == reported


def test_a_broken_regular_expression_is_reported():
    (failure,) = failures("// expected-error-re {{a {{(}} b}}")
    assert failure.startswith("f.mlir:1:4: error: invalid regular expression")


def test_notes_need_not_be_expected():
    told = error("bad", at(1), [note("why", at(1))])
    assert failures("op // expected-error {{bad}}", told) == []
    assert len(failures("op // expected-note {{because}}", told)) == 2


def test_only_expected_ignores_the_rest():
    text = "op // expected-error {{bad}}"
    assert failures(text, error("bad", at(1)), warning("other", at(1)), only_expected=True) == []
    assert len(failures(text, warning("other", at(1)), only_expected=True)) == 1


def test_lines_count_from_the_start_of_the_file():
    assert failures("// expected-error@+1 {{bad}}\nop", error("bad", at(12)), first_line=11) == []
