# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of passes: types, defaults and parsing.

An option is declared once: in `td/`, as a field of a dataclass, or as a keyword parameter of a
Python function. The help, the checks of pipelines and the keyword arguments of passes are derived
from it.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.pipeline.syntax import OptionText, PassUse

if TYPE_CHECKING:
    from pyshardy.pipeline.declarations import OptionDecl

Scalar = bool | int | float | str
OptionValue = Scalar | tuple[Scalar, ...]
Result = TypeVar("Result")

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_SCALARS: dict[str, type[Scalar]] = {"bool": bool, "int": int, "float": float, "str": str}


@dataclass(frozen=True, slots=True)
class OptionType:
    """The type of an option's value.

    Attributes:
        scalar: "bool", "int", "float" or "str".
        is_list: whether the value is a comma-separated list of such scalars.
        choices: the values allowed; any when empty.
    """

    scalar: str
    is_list: bool = False
    choices: tuple[str, ...] = ()

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
        try:
            return _SCALARS[self.scalar](text)
        except ValueError:
            raise ValueError(f"expected {_SCALAR_NAMES[self.scalar]}") from None


_SCALAR_NAMES = {"int": "an integer", "float": "a number"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a pass or of a named pipeline.

    Attributes:
        name: the name in pipelines, words joined by dashes.
        type: the type of its value.
        default: the default value.
        description: one sentence for the help.
        release: its release if it differs from that of the pass, as in `PassDecl`.
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


def read_options(use: PassUse, declared: Iterable[Option]) -> dict[str, OptionValue]:
    """Convert the options written in `use` to keyword arguments.

    Options that are not written are omitted, so that their defaults apply.

    Raises:
        UsageError: an unknown option, one given twice, or a value of the wrong type.
    """
    by_name = {option.name: option for option in declared}
    keywords: dict[str, OptionValue] = {}
    for written in use.options:
        option = by_name.get(written.name)
        if option is None:
            raise _usage_error(use, written, _unknown_option(use, written, by_name))
        if option.keyword in keywords:
            raise _usage_error(use, written, f"option '{option.name}' is given twice")
        # As in LLVM's command lines, a bare name switches a boolean on.
        is_switch = written.value is None and option.type == OptionType("bool")
        try:
            keywords[option.keyword] = option.type.read(
                "true" if is_switch else written.value or ""
            )
        except ValueError as mismatch:
            given = "no value" if written.value is None else repr(written.value)
            message = f"option '{option.name}' is {given}: {mismatch}"
            raise _usage_error(use, written, message) from None
    return keywords


def _unknown_option(use: PassUse, written: OptionText, declared: dict[str, Option]) -> str:
    if not declared:
        return f"no option '{written.name}': '{use.name}' has no options"
    advice = did_you_mean(written.name, declared) or f"; the options are {_either(declared, 'and')}"
    return f"no option '{written.name}'{advice}"


def _usage_error(use: PassUse, written: OptionText, message: str) -> UsageError:
    return UsageError(error(f"pass '{use.name}': {message}", written.location or use.location))


def _either(names: Iterable[str], word: str = "or") -> str:
    *others, last = [f"'{name}'" for name in names]
    return f"{', '.join(others)} {word} {last}" if others else last


def option(default: OptionValue, *, release: str) -> Any:
    """Return a field of a dataclass of options with the release of its origin; see `PassDecl`.

    inline_meshes: bool = option(True, release="0.12")
    """
    return field(default=default, metadata={"release": release})


def options_of(function: Callable[..., object]) -> tuple[Option, ...]:
    """Return the options that a function declares.

    These are its keyword-only parameters, described in the section `Args:` of its docstring; or, if
    it has a parameter `options` whose type is a dataclass, the keyword-only fields of that class,
    described in the section `Attributes:`. An option is annotated with `bool`, `int`, `float`,
    `str`, a `Literal` of strings, or a `tuple[..., ...]` of these, and has a default.

    Raises:
        TypeError: a parameter has another type, or no default.
    """
    option_set = options_class(function)
    if option_set is not None:
        return _fields_of(option_set)
    return _declared_by(function, function.__name__, _described_arguments(function), {})


def _fields_of(option_set: type) -> tuple[Option, ...]:
    """Return the options that a dataclass and its bases declare."""
    descriptions: dict[str, str] = {}
    for base in option_set.__mro__:
        descriptions = {**_described_arguments(base), **descriptions}
    releases = {each.name: each.metadata.get("release", "") for each in fields(option_set)}
    return _declared_by(option_set, option_set.__name__, descriptions, releases)


def _declared_by(
    declaring: Callable[..., object],
    owner: str,
    descriptions: Mapping[str, str],
    releases: Mapping[str, str],
) -> tuple[Option, ...]:
    hints = typing.get_type_hints(declaring)
    declared: list[Option] = []
    for parameter in inspect.signature(declaring).parameters.values():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        name = parameter.name
        if parameter.default is inspect.Parameter.empty:
            raise TypeError(f"option '{name}' of {owner} requires a default")
        option_type = _type_of_annotation(hints.get(name))
        if option_type is None:
            raise TypeError(
                f"option '{name}' of {owner} must be annotated with bool, int, float, str, a "
                "Literal of strings, or a tuple[..., ...] of these"
            )
        description, release = descriptions.get(name, ""), releases.get(name, "")
        declared.append(
            Option(name.replace("_", "-"), option_type, parameter.default, description, release)
        )
    return tuple(declared)


@functools.lru_cache(maxsize=256)  # Each pass asks whenever it runs, and annotations are text.
def options_class(function: Callable[..., object]) -> type | None:
    """Return the dataclass of the parameter `options` of a function, if it has one."""
    annotation = typing.get_type_hints(function).get("options")
    return annotation if isinstance(annotation, type) and is_dataclass(annotation) else None


def call_with_options(
    function: Callable[..., Result], *arguments: object, keywords: Mapping[str, OptionValue]
) -> Result:
    """Call a function with options by their keywords, or with the dataclass that has them."""
    option_set = options_class(function)
    if option_set is None:
        return function(*arguments, **keywords)
    return function(*arguments, option_set(**keywords))


def _described_arguments(documented: object) -> dict[str, str]:
    """Return the descriptions in the section `Args:` or `Attributes:`, each in one line."""
    docstring = inspect.cleandoc(getattr(documented, "__doc__", None) or "")
    _, *sections = re.split(r"\n(?:Args|Attributes):\n", docstring, maxsplit=1)
    section = "".join(sections)
    described: dict[str, str] = {}
    for line in section.splitlines():
        entry = re.match(r" {4}(\w+): (.*)", line)
        if entry is not None:
            described[entry[1]] = entry[2]
        elif described and line.startswith(" " * 8):
            last = next(reversed(described))
            described[last] += f" {line.strip()}"
        else:
            break
    return described


def declared_option(declaration: OptionDecl) -> Option:
    """Return the option of a declaration in `td/`."""
    scalar = declaration.type.removeprefix("list:")
    option_type = OptionType(
        "str" if scalar == "string" else scalar,
        is_list=declaration.type != scalar,
        choices=declaration.choices,
    )
    return Option(
        declaration.name,
        option_type,
        declaration.default,
        declaration.description,
        declaration.release,
    )


def origin_text(release: str) -> str:
    """Return a note on the release of a pass or an option; none for Shardy's oldest release."""
    notes = {"": "", "0.10.2": "", "pyshardy": " [pyshardy only]"}
    return notes.get(release, f" [Shardy from jaxlib {release} on]")


def _type_of_annotation(annotation: object) -> OptionType | None:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
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
