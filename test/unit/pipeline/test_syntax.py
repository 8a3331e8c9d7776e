# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of pipelines: what it means, how it is printed, which errors it can have."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlir_sdy.diagnostics import UsageError
from pyshardy.pipeline import OptionText, PassPipeline, PassUse, parse_pipeline
from pyshardy.pipeline.syntax import parse_options


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", "builtin.module()"),
        ("a", "builtin.module(a)"),
        (" a , b ", "builtin.module(a,b)"),
        ("builtin.module(a,b)", "builtin.module(a,b)"),
        ("any(a)", "any(a)"),
        ("func.func(a)", "builtin.module(func.func(a))"),
        ("a,builtin.module(b)", "builtin.module(a,builtin.module(b))"),
        ("func.func( a{x=1   y=2} ,scf.for(b) ),c", None),
        ("a{}", "builtin.module(a)"),
        ("a{x}", "builtin.module(a{x})"),
        ("a{x=1,2,3}", "builtin.module(a{x=1,2,3})"),
        ("a{x='1'}", "builtin.module(a{x=1})"),
        ('a{x="b c"}', "builtin.module(a{x={b c}})"),
        ("a{x={b c} y}", "builtin.module(a{x={b c} y})"),
        ("a{p=b.c(d{e=1 f}),e}", "builtin.module(a{p=b.c(d{e=1 f}),e})"),
        ("a\n{x=1\n y=2},\n b", "builtin.module(a{x=1 y=2},b)"),
    ],
)
def test_canonical_text(text: str, canonical: str | None):
    pipeline = parse_pipeline(text)
    if canonical is not None:
        assert str(pipeline) == canonical
    assert parse_pipeline(str(pipeline)) == pipeline


def test_structure():
    assert parse_pipeline("a{x=1 y},func.func(b)") == PassPipeline(
        "builtin.module",
        (
            PassUse("a", (OptionText("x", "1"), OptionText("y"))),
            PassPipeline("func.func", (PassUse("b"),)),
        ),
    )
    assert [use.name for use in parse_pipeline("a,func.func(b,c),d").passes()] == list("abcd")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a,", "1:3", "expected the name of a pass"),
        ("a,,b", "1:3", "expected the name of a pass"),
        ("a(b", "1:2", "'(' without a matching ')'"),
        ("a)", "1:2", "')' without a matching '('"),
        ("a,\n b{x=1", "2:3", "'{' without a matching '}'"),
        ("a{x=1}}", "1:7", "expected ',' before '}'"),
        ("a{x='1}", "1:5", "unterminated quote"),
        ("a{=1}", "1:3", "expected the name of an option before '='"),
        ("a{x,y}", "1:4", "expected '=' or a space after option 'x'"),
        ("a b", "1:3", "expected ',' before 'b'"),
        ("a(" * 100, "1:130", "nested more than 64 deep"),
        ("a(b c)", "1:5", "expected ',' before 'c'"),
    ],
)
def test_errors_are_located(text: str, place: str, message: str):
    with pytest.raises(UsageError) as raised:
        parse_pipeline(text)
    (diagnostic,) = raised.value.diagnostics
    assert str(diagnostic).startswith(f"<pass-pipeline>:{place}: error: {message}")


def test_options_alone():
    assert parse_options("a=1 b") == (OptionText("a", "1"), OptionText("b"))
    with pytest.raises(UsageError, match="unbalanced"):
        parse_options("a=1} b")


NAMES = st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True)
VALUES = st.one_of(
    st.from_regex(r"[a-z0-9,.=@-]{0,6}", fullmatch=True),
    st.text(alphabet="ab ,\t{}\"'()=", max_size=8),
)


def _writable(value: str) -> bool:
    try:
        str(OptionText("x", value))
    except ValueError:
        return False
    return True


OPTIONS = st.builds(OptionText, NAMES, st.none() | VALUES.filter(_writable))
USES = st.builds(PassUse, NAMES, st.lists(OPTIONS, max_size=3).map(tuple))
PIPELINES = st.builds(
    PassPipeline,
    st.just("builtin.module"),
    st.lists(
        st.recursive(
            USES,
            lambda inner: st.builds(PassPipeline, NAMES, st.lists(inner, max_size=3).map(tuple)),
            max_leaves=5,
        ),
        max_size=3,
    ).map(tuple),
)


@given(PIPELINES)
@settings(suppress_health_check=[HealthCheck.too_slow])  # machines are shared
def test_printing_and_parsing_are_inverse(pipeline: PassPipeline):
    text = str(pipeline)
    assert parse_pipeline(text) == pipeline
    assert str(parse_pipeline(text)) == text


@given(st.text(alphabet="ab.,(){}= '\"", max_size=12))
def test_any_text_is_read_or_refused(text: str):
    try:
        pipeline = parse_pipeline(text)
    except UsageError:
        return
    assert parse_pipeline(str(pipeline)) == pipeline
