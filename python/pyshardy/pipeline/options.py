# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of passes: types, defaults and parsing.

An option is declared once: as a keyword-only parameter of a function, or as a field of a dataclass
or a `TypedDict`. The help, the checks of pipelines and the reference are derived from it.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Annotated, Any, TypeVar, cast

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.pipeline.syntax import OptionText, PassUse

Scalar = bool | int | float | str
OptionValue = Scalar | tuple[Scalar, ...]
Result = TypeVar("Result")
_Keywords = TypeVar("_Keywords", bound=Mapping[str, object])

_HEADING = re.compile(r"^(Options|Args|Attributes|Returns|Raises|Example):\n", re.MULTILINE)
"""The beginning of a section of a docstring."""

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_SCALARS: dict[str, type[Scalar]] = {"bool": bool, "int": int, "float": float, "str": str}


@dataclass(frozen=True, slots=True)
class OptionType:
    """The type of an option's value.

    Attributes:
        scalar: "bool", "int", "float" or "str".
        is_list: whether the value is a comma-separated list of such scalars.
        choices: the values allowed; any when empty.
        least: the least number allowed; any when None.
    """

    scalar: str
    is_list: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None

    def __str__(self) -> str:
        own = "|".join(self.choices) if self.choices else self.scalar
        return f"list of {own}" if self.is_list else own

    def read(self, text: str) -> OptionValue:
        """Parse a value.

        Raises:
            ValueError: `text` is not of this type; the message has the expected form.
        """
        if self.is_list:
            return tuple(self._scalar(piece.strip()) for piece in text.split(",") if piece.strip())
        return self._scalar(text)

    def _scalar(self, text: str) -> Scalar:
        if self.choices and text not in self.choices:
            raise ValueError(f"expected {_either(self.choices)}{did_you_mean(text, self.choices)}")
        if self.scalar == "bool":
            if text not in _BOOLEANS:
                raise ValueError("expected true or false")
            return _BOOLEANS[text]
        above = "" if self.least is None else f" of at least {self.least}"
        try:
            value = _SCALARS[self.scalar](text)
        except ValueError:
            value = None
        # A comparison with NaN is false.
        if value is None or (self.least is not None and not float(value) >= self.least):
            raise ValueError(f"expected {_SCALAR_NAMES[self.scalar]}{above}")
        return value


_SCALAR_NAMES = {"int": "an integer", "float": "a number"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a pass or of a named pipeline.

    Attributes:
        name: the name in pipelines, words joined by dashes.
        type: the type of its value.
        default: the default value.
        description: one sentence for the help.
        release: its release if it differs from that of the pass; see `PassInfo`.
    """

    name: str
    type: OptionType
    default: OptionValue
    description: str = ""
    release: str = ""

    @property
    def keyword(self) -> str:
        """The name of the keyword argument."""
        return self.name.replace("-", "_")


def option_text(value: OptionValue) -> str:
    """Return the text of `value` in a pipeline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(map(option_text, value))
    return str(value)


def read_options(
    use: PassUse, declared: Iterable[Option], what: str = "pass"
) -> dict[str, OptionValue]:
    """Convert the options written in `use` to keyword arguments.

    Options that are not written are omitted, so that their defaults apply. Errors name what has the
    options.

    Raises:
        UsageError: an unknown option, one given twice, or a value of the wrong type.
    """
    by_name = {option.name: option for option in declared}
    keywords: dict[str, OptionValue] = {}
    for written in use.options:
        option = by_name.get(written.name)
        if option is None:
            raise _usage_error(use, what, written, _unknown_option(use, written, by_name))
        if option.keyword in keywords:
            raise _usage_error(use, what, written, f"option '{option.name}' is given twice")
        # As in LLVM's command lines, a bare name switches a boolean on.
        is_switch = written.value is None and option.type == OptionType("bool")
        try:
            keywords[option.keyword] = option.type.read(
                "true" if is_switch else written.value or ""
            )
        except ValueError as mismatch:
            given = "no value" if written.value is None else repr(written.value)
            message = f"option '{option.name}' is {given}: {mismatch}"
            raise _usage_error(use, what, written, message) from None
    return keywords


def _unknown_option(use: PassUse, written: OptionText, declared: dict[str, Option]) -> str:
    if not declared:
        return f"no option '{written.name}': '{use.name}' has no options"
    advice = did_you_mean(written.name, declared) or f"; the options are {_either(declared, 'and')}"
    return f"no option '{written.name}'{advice}"


def _usage_error(use: PassUse, what: str, written: OptionText, message: str) -> UsageError:
    return UsageError(error(f"{what} '{use.name}': {message}", written.location or use.location))


def _either(names: Iterable[str], word: str = "or") -> str:
    *others, last = [f"'{name}'" for name in names]
    return f"{', '.join(others)} {word} {last}" if others else last


@dataclass(frozen=True, slots=True)
class Help:
    """The help on an option beside its type, so that several passes can share it.

        Hardware = Annotated[str, Help("devices and links whose cost counts", release="pyshardy")]

    Attributes:
        description: one sentence; empty if the docstring of the pass describes the option.
        release: the release of the option if it differs from that of the pass; see `PassInfo`.
        default: the default of a key of a `TypedDict`, which has no other place for it.
        least: the least number that the option may be; any if None.
    """

    description: str = ""
    release: str = ""
    default: OptionValue | None = None
    least: float | None = None

    def updated(self, other: Help) -> Help:
        """Return the help with what another one says in addition, or instead."""
        return Help(
            other.description or self.description,
            other.release or self.release,
            self.default if other.default is None else other.default,
            self.least if other.least is None else other.least,
        )


Natural = Annotated[int, Help(least=0)]
Positive = Annotated[int, Help(least=1)]


def options_of(function: Callable[..., object]) -> tuple[Option, ...]:
    """Return the options that a function declares.

    These are its keyword-only parameters; or, if it has a parameter `options` whose type is
    a dataclass or a `TypedDict`, the fields of that. An option is annotated with `bool`, `int`,
    `float`, `str`, a `Literal` of strings, or a `tuple[..., ...]` of these, and has a default. The
    section `Options:`, `Args:` or `Attributes:` of the docstring describes it, or a `Help` in its
    annotation, which also bounds numbers.

    Raises:
        TypeError: a parameter has another type, or no default.
    """
    option_set = options_class(function)
    if option_set is not None:
        return options_in(option_set)
    function = inspect.unwrap(function)
    parameters = inspect.signature(function).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
    annotations = {name: _annotation_of(function, name) for name in defaults}
    return _declared(function.__name__, annotations, defaults, _described_options(function))


@functools.cache
def options_in(option_set: type) -> tuple[Option, ...]:
    """Return the options that a dataclass or a `TypedDict` declares, with those of its bases."""
    annotations = typing.get_type_hints(option_set, include_extras=True)
    described: dict[str, str] = {}
    for base in reversed(inspect.getmro(option_set)):
        described |= _described_options(base)
    if typing.is_typeddict(option_set):
        defaults = {name: _help_of(each).default for name, each in annotations.items()}
    else:
        defaults = {each.name: each.default for each in fields(option_set)}
    return _declared(option_set.__name__, annotations, defaults, described)


def with_defaults(option_set: type[_Keywords], given: _Keywords) -> _Keywords:
    """Return options of a `TypedDict` together with the defaults of all others."""
    defaults = {each.keyword: each.default for each in options_in(option_set)}
    return cast("_Keywords", {**defaults, **given})


def _declared(
    owner: str,
    annotations: Mapping[str, Any],
    defaults: Mapping[str, Any],
    described: Mapping[str, str],
) -> tuple[Option, ...]:
    declared: list[Option] = []
    for name, default in defaults.items():
        if default in (inspect.Parameter.empty, MISSING, None):
            raise TypeError(f"option '{name}' of {owner} requires a default")
        option_type = _type_of_annotation(annotations[name])
        beside = _help_of(annotations[name])
        if option_type is None:
            raise TypeError(
                f"option '{name}' of {owner} must be annotated with bool, int, float, str, a "
                "Literal of strings, or a tuple[..., ...] of these"
            )
        option_type = replace(option_type, least=beside.least)
        description = (beside.description or described.get(name, "")).removesuffix(".")
        declared.append(
            Option(name.replace("_", "-"), option_type, default, description, beside.release)
        )
    return tuple(declared)


def _annotation_of(function: Callable[..., object], parameter: str) -> Any:
    """Return the type of a parameter; types of others may be imported for type checkers only."""
    annotation = function.__annotations__.get(parameter)
    return eval(annotation, function.__globals__) if isinstance(annotation, str) else annotation


@functools.lru_cache(maxsize=256)  # Each pass asks whenever it runs, and annotations are text.
def options_class(function: Callable[..., object]) -> type | None:
    """Return the type of the parameter `options` of a function, if that is a set of options."""
    function = inspect.unwrap(function)
    annotation = _annotation_of(function, "options")
    is_set = is_dataclass(annotation) or typing.is_typeddict(annotation)
    return annotation if isinstance(annotation, type) and is_set else None


def call_with_options(
    function: Callable[..., Result], *arguments: object, keywords: Mapping[str, OptionValue]
) -> Result:
    """Call a function with options by their keywords, or with the set that has them."""
    option_set = options_class(function)
    if option_set is None:
        return function(*arguments, **keywords)
    return function(*arguments, option_set(**keywords))


def sections_of(documented: object) -> dict[str, str]:
    """Return the sections of a docstring by their headings; the text before them has none."""
    docstring = inspect.cleandoc(getattr(documented, "__doc__", None) or "")
    text, *rest = _HEADING.split(docstring)
    return {"": text.rstrip(), **dict(zip(rest[::2], rest[1::2], strict=True))}


def _described_options(documented: object) -> dict[str, str]:
    """Return the descriptions of options and arguments in a docstring, without line breaks."""
    described: dict[str, str] = {}
    for heading, section in sections_of(documented).items():
        for line in section.splitlines() if heading in ("Options", "Args", "Attributes") else ():
            entry = re.match(r" {4}(\w+): (.*)", line)
            if entry is not None:
                described[entry[1]] = entry[2]
            elif described and line.startswith(" " * 8):
                last = next(reversed(described))
                described[last] += f" {line.strip()}"
    return described


def origin_text(release: str) -> str:
    """Return a note on the release of a pass or an option; none for Shardy's oldest release."""
    notes = {"": "", "0.10.2": "", "pyshardy": " [pyshardy only]"}
    return notes.get(release, f" [Shardy from jaxlib {release} on]")


def _type_of_annotation(annotation: object) -> OptionType | None:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _type_of_annotation(arguments[0])
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        element = _type_of_annotation(arguments[0])
        if element is None or element.is_list:
            return None
        return OptionType(element.scalar, is_list=True, choices=element.choices)
    if origin is typing.Literal and all(isinstance(choice, str) for choice in arguments):
        return OptionType("str", choices=arguments)
    for name, scalar in _SCALARS.items():
        if annotation is scalar:
            return OptionType(name)
    return None


def _help_of(annotation: object) -> Help:
    """Return the help in an annotation; what an outer one says replaces what is inside."""
    found = [each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, Help)]
    return functools.reduce(Help.updated, found, Help())
