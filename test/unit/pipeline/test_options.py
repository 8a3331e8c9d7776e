# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Typed options: reading their text, and declaring them by a function's parameters."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

import pytest

from mlir_sdy.diagnostics import UsageError
from pyshardy.pipeline import Option, OptionType, parse_pipeline
from pyshardy.pipeline.options import (
    Help,
    option_text,
    options_of,
    read_options,
    with_defaults,
)

OPTIONS = (
    Option("enable-it", OptionType("bool"), False),
    Option("count", OptionType("int"), 1),
    Option("share", OptionType("float"), 0.5),
    Option("directory", OptionType("str"), ""),
    Option("strategy", OptionType("str", choices=("basic", "aggressive")), "basic"),
    Option("sizes", OptionType("int", is_list=True), ()),
    Option("gain", OptionType("float", least=0), 0.0),
)


def read(text: str) -> dict[str, object]:
    (use,) = parse_pipeline(f"p{{{text}}}").passes()
    return dict(read_options(use, OPTIONS))


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("", {}),
        ("enable-it", {"enable_it": True}),
        ("enable-it=true", {"enable_it": True}),
        ("enable-it=0", {"enable_it": False}),
        ("count=-3", {"count": -3}),
        ("share=1e-3 count=2", {"share": 0.001, "count": 2}),
        ("directory='a b'", {"directory": "a b"}),
        ("directory=", {"directory": ""}),
        ("strategy=aggressive", {"strategy": "aggressive"}),
        ("sizes=1,2,3", {"sizes": (1, 2, 3)}),
        ("sizes=", {"sizes": ()}),
    ],
)
def test_values(text: str, keywords: dict[str, object]):
    assert read(text) == keywords


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("enable-it=yes", 3, "option 'enable-it' is 'yes': expected true or false"),
        ("count=x", 3, "option 'count' is 'x': expected an integer"),
        ("count", 3, "option 'count' is no value: expected an integer"),
        ("share=a", 3, "option 'share' is 'a': expected a number"),
        ("gain=-1e-9", 3, "option 'gain' is '-1e-9': expected a number of at least 0"),
        ("gain=nan", 3, "expected a number of at least 0"),
        ("sizes=1,b", 3, "option 'sizes' is '1,b': expected an integer"),
        ("count=1 count=2", 11, "option 'count' is given twice"),
        ("strategy=basics", 3, "expected 'basic' or 'aggressive'; did you mean 'basic'?"),
        ("counts=1", 3, "no option 'counts'; did you mean 'count'?"),
        ("zzz", 3, "no option 'zzz'; the options are 'enable-it', "),
    ],
)
def test_errors(text: str, column: int, message: str):
    with pytest.raises(UsageError) as raised:
        read(text)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.location is not None
    assert diagnostic.location.column == column
    assert diagnostic.message.startswith("pass 'p': ")
    assert message in diagnostic.message


def test_an_option_of_a_pass_without_any():
    (use,) = parse_pipeline("p{x=1}").passes()
    with pytest.raises(UsageError, match="'p' has no options"):
        read_options(use, ())


def test_options_are_declared_by_keyword_parameters():
    def function(
        module: object,
        *,
        enable_it: bool = False,
        sizes: tuple[int, ...] = (),
        strategy: Literal["basic", "aggressive"] = "basic",
    ) -> None: ...

    assert options_of(function) == (OPTIONS[0], OPTIONS[5], OPTIONS[4])


def test_parameters_that_cannot_be_options():
    def without_default(module: object, *, count: int) -> None: ...
    def of_other_type(module: object, *, table: dict[str, int] = {}) -> None: ...  # noqa: B006

    with pytest.raises(TypeError, match="'count' of without_default requires a default"):
        options_of(without_default)
    with pytest.raises(TypeError, match="'table' of of_other_type must be annotated"):
        options_of(of_other_type)


Count = Annotated[Annotated[int, Help(least=1)], Help("how many", release="0.12")]
COUNT = OptionType("int", least=1)


@dataclass(frozen=True, kw_only=True)
class Fields:
    """A set of options.

    Attributes:
        name: what it is called.
    """

    name: str = ""
    count: Count = 1


class Keys(TypedDict, total=False):
    count: Annotated[Count, Help(default=3)]


class MoreKeys(Keys, total=False):
    enable: Annotated[bool, Help("whether to do it", "pyshardy", default=False)]


def test_options_with_their_help_beside_the_type():
    def function(module: "NotImported", *, count: Count = 2) -> None: ...  # noqa: F821

    count = Option("count", COUNT, 2, "how many", "0.12")
    assert options_of(function) == (count,)


def test_options_in_a_dataclass():
    def function(module: object, options: Fields = Fields()) -> None: ...

    assert options_of(function) == (
        Option("name", OptionType("str"), "", "what it is called"),
        Option("count", COUNT, 1, "how many", "0.12"),
    )


def test_options_in_a_typed_dict():
    def function(options: MoreKeys) -> None: ...

    assert options_of(function) == (
        Option("count", COUNT, 3, "how many", "0.12"),
        Option("enable", OptionType("bool"), False, "whether to do it", "pyshardy"),
    )
    assert with_defaults(MoreKeys, MoreKeys(enable=True)) == {"count": 3, "enable": True}


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (3, "3"), ((1, 2), "1,2"), ("a", "a")]
)
def test_text_of_values(value, text: str):
    assert option_text(value) == text
