# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Look-up of values of a program by names and source lines.

| word                      | values                                                          |
|---------------------------|-----------------------------------------------------------------|
| `%5`, `%scores`, `scores` | the value with that name in the text of the program; `%3#1`     |
| `%5@24`, `%3@24#1`        | of several values with that name, that of a line of the text    |
| `params['w']`, `*.weight` | arguments of `@main` by the names that JAX or PyTorch gave them |
| `arg2`                    | an argument of `@main` by its number                            |
| `result[0]`, `result 0`   | a result of `@main`                                             |
| `result['w']`             | a result of `@main` by the name that JAX gave it                |
| `12`, `model.py:40`       | all values that are defined on a source line                    |
"""

from __future__ import annotations

import bisect
import fnmatch
import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.assembly import asm
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.discardable import as_text
from mlir_sdy.host import inner_locations, ir, location_of
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.functions import (
    entry_block,
    functions_of,
    main_function,
    returned_values,
)
from pyshardy.irtools.locations import tag_of, tagged, tags_of, untagged, without_tags
from pyshardy.irtools.modules import text_of
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of, symbol_name

DEFINITION = re.compile(
    r"^\s*(?P<names>%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*)\s*=\s*|\)\s*applies\s", re.M
)
"""The names of results in a line, or a `stablehlo.reduce` in its short form without a body."""

FUNCTION = re.compile(r"\bfunc\.func\b[^@{]*@(?:\"[^\"]*\"|[\w$.-]+)\s*\(")
"""The beginning of a function, up to its arguments."""

_ARGUMENT = re.compile(r"(%[\w$.-]+)\s*:")
_PLACE = re.compile(r"(?:(?P<file>.+):)?(?P<line>\d+)")
_AT_LINE = re.compile(r"(?P<name>%[\w$.-]+)@(?P<line>\d+)(?:#(?P<index>\d+))?")
_RESULT = re.compile(r"result (\d+)|result\[(\d+)\]")
_LOCATION = re.compile(r"\bloc\(")
_NUMBERED = re.compile(r"%(?:arg)?\d+")
_MARK = "value"
_RESULT_INFO = "jax.result_info"
"""The attribute with JAX's name of a result of a function."""


class UnknownValueError(UsageError, KeyError):
    """A program has no value of a name."""

    __str__ = UsageError.__str__  # that of a KeyError quotes the message


@dataclass(frozen=True, slots=True)
class _Definition:
    """The definition of a value in the text of a program.

    Attributes:
        maker: the number of its operation among those with results.
        index: the number of the result.
        line: the line of the operation's name.
        column: its column.
    """

    maker: int
    index: int
    line: int
    column: int


class NamedValues(Mapping[str, ir.Value]):
    """The values of a module by their names.

    The keys are the names of arguments, of results of operations in the text, and of results of
    `@main`. Look-up takes all words that the table of this module lists.

    An operation is found by its mark (see `marked`), else by its line and column in the text, else
    by its place in the module, as long as no pass has added or removed operations.

    Args:
        module: the module.
        text: the text that it was parsed from, or a text with the same names. The default is the
            text that `pyshardy.parse` has read, and else the one that `asm` prints.
    """

    def __init__(self, module: ir.Module, text: str | None = None):
        self._module = module
        self._given_text = text if text is not None else text_of(module)
        self._num_marks: int | None = None
        self._moved: Mapping[int, int] | None = None  # the makers in the text, by mark

    @classmethod
    def marked(cls, module: ir.Module, text: str | None = None) -> NamedValues:
        """Mark the operations of a module, and return its values, found by the marks.

        So they are found after passes, also if several operations have the same location. If passes
        have added or removed operations before, names are those at the places in the text.
        """
        values = cls(module, text)
        makers = operations_with_results(module)
        if values._given_text is not None and values._num_definitions != len(makers):
            numbers = {each: number for number, each in enumerate(makers)}
            values._moved = {numbers[each]: maker for each, maker in values._placed(makers)}
        for number, operation in enumerate(makers):
            operation.location = tagged(operation.location, _MARK, number)
        values._num_marks = len(makers)
        return values

    def remove_marks(self) -> None:
        """Remove the marks of operations; they aren't found by them any more."""
        for view in operations_in(self._module.operation):
            view.operation.location = without_tags(view.operation.location, _MARK)
        self._num_marks = None

    def in_copy(self, module: ir.Module) -> NamedValues:
        """Return the values of a copy of the module by the same names."""
        values = NamedValues(module, self._text)
        values._num_marks, values._moved = self._num_marks, self._moved
        return values

    def __getitem__(self, name: str) -> ir.Value:
        """Return the value of a name.

        Raises:
            UnknownValueError: there is none.
            UsageError: there are several.
        """
        found = self.find(name)
        if len(found) > 1:
            message = f"'{name}' stands for {len(found)} values; 'find' returns all of them"
            raise UsageError(error(message))
        return found[0]

    def __iter__(self) -> Iterator[str]:
        own_names = {index: name for name, index in self._argument_names.items()}
        for index, argument in enumerate(self._arguments):
            yield name_of(argument) or own_names.get(index, f"arg{index}")
        makers = self._makers()
        for name, definition in self._definitions.items():
            if definition.maker in makers:
                yield name
        for index, name in enumerate(self._result_names):
            yield name or f"result[{index}]"

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        names = [*itertools.islice(self, _MOST_SHOWN + 1)]
        more = ", ..." if len(names) > _MOST_SHOWN else ""
        return f"NamedValues({', '.join(names[:_MOST_SHOWN])}{more})"

    def _ipython_key_completions_(self) -> list[str]:
        return [*self]

    def result_names_of(self, operation: ir.Operation) -> list[str]:
        """Return the names of the results of a marked operation; empty ones if it has no mark.

        Copies of an operation, as in functions that are called several times, have equal names.
        """
        maker = self._maker_of(operation)
        names = [] if maker is None else self._names_of_makers.get(maker, [])
        count = len(operation.results)
        return [*names, *[""] * count][:count]

    def name_of_result(self, operation: ir.Operation, index: int) -> str | None:
        """Return the name of a result of a marked operation, by which it is found; None without.

        If several values have the name, in other functions or regions, it has the line: `%5@24`.
        """
        maker = self._maker_of(operation)
        known = () if maker is None else self._definitions_of_makers.get(maker, ())
        named = sorted(known, key=lambda each: each[1].index)
        starts = [definition.index for _, definition in named]
        ranges = itertools.pairwise([*starts, len(operation.results)])
        for (name, definition), (start, end) in zip(named, ranges, strict=True):
            if start <= index < end:
                place = f"@{definition.line}" if len(self._all_definitions[name]) > 1 else ""
                return f"{name}{place}{'' if end - start == 1 else f'#{index - start}'}"
        return None

    def find(self, word: str) -> list[ir.Value]:
        """Return the values that a word identifies; a `%` in front is optional.

        Raises:
            UnknownValueError: there are none, or the word is no text.
        """
        if not isinstance(word, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            message = "expected a value by its name or its line, such as '%5' or '12'"
            raise UnknownValueError(error(f"{message}, got {word!r}"))
        word = word.strip()
        values = list(self._found(word)) if word else []
        if not values and word[:1].isalpha():
            values = list(self._found(f"%{word}"))
        if not values and word.partition("#")[0] in self._definitions:
            gone = (
                "is in the text, but a pass removed it: it is unused, or an equal one stands for it"
            )
            raise UnknownValueError(error(f"the value '{word}' {gone}"))
        if not values:
            message = (
                f"no value '{word}': expected a name in the text ('%5', '%scores'), 'arg2', "
                "'result 0', the name of an argument, or a source line ('12', 'model.py:40')"
            )
            line = re.fullmatch(r"line ?(\d+)", word)
            advice = f"; write '{line[1]}' for the line" if line else did_you_mean(word, self)
            known = ", ".join(f"'{name}'" for name in itertools.islice(self, _MOST_SHOWN))
            advice = advice or f"; there are {known}{', ...' if len(self) > _MOST_SHOWN else ''}"
            raise UnknownValueError(error(message + advice))
        return values

    def _found(self, word: str) -> Iterator[ir.Value]:
        arguments = self._arguments
        named = [each for each in arguments if name_of(each) == word]
        numbered = re.fullmatch(r"%?arg(?:ument )?(\d+)", word)
        name, _, index = word.partition("#")
        if named:
            yield from named
        elif word in self._result_names:
            yield self._results[self._result_names.index(word)]
        elif name in self._definitions:
            yield from self._made(self._definitions[name], int(index or 0))
        elif (at_line := _AT_LINE.fullmatch(word)) is not None:
            for definition in self._all_definitions.get(at_line["name"], ()):
                if definition.line == int(at_line["line"]):
                    yield from self._made(definition, int(at_line["index"] or 0))
        elif self._argument_names.get(name, len(arguments)) < len(arguments):
            yield arguments[self._argument_names[name]]
        elif numbered is not None and int(numbered[1]) < len(arguments):
            yield arguments[int(numbered[1])]
        elif (result := _RESULT.fullmatch(word)) is not None:
            yield from self._results[int(result[1] or result[2]) :][:1]
        elif (place := _PLACE.fullmatch(word)) is not None:
            yield from self._on_line(place["file"], int(place["line"]))
        else:
            for argument in arguments:
                if matches(name_of(argument) or "", word):
                    yield argument

    # --- The entry ----------------------------------------------------------------------------

    @property
    def _arguments(self) -> list[ir.Value]:
        main = main_function(self._module)
        blocks = () if main is None else main.regions[0].blocks
        return [argument for block in list(blocks)[:1] for argument in block.arguments]

    @property
    def _results(self) -> list[ir.Value]:
        main = main_function(self._module)
        return (main and returned_values(main)) or []

    @property
    def _result_names(self) -> list[str | None]:
        main = main_function(self._module)
        return [] if main is None else result_names(main)[: len(self._results)]

    # --- Names in the text --------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The text that has the names."""
        return self._text

    @functools.cached_property
    def _text(self) -> str:
        return asm(self._module) if self._given_text is None else self._given_text

    @functools.cached_property
    def _definitions(self) -> dict[str, _Definition]:
        """The definitions of values by name; the first one of names in several functions."""
        return {name: definitions[0] for name, definitions in self._all_definitions.items()}

    @functools.cached_property
    def _definitions_of_makers(self) -> Mapping[int, Sequence[tuple[str, _Definition]]]:
        """The names and definitions of the results of each operation."""
        found: defaultdict[int, list[tuple[str, _Definition]]] = defaultdict(list)
        for name, definitions in self._all_definitions.items():
            for each in definitions:
                found[each.maker].append((name, each))
        return found

    @functools.cached_property
    def _all_definitions(self) -> dict[str, list[_Definition]]:
        """All definitions of values by name, in the order of the text."""
        text = self._text
        lines = [0, *(found.end() for found in re.finditer("\n", text))]
        definitions: dict[str, list[_Definition]] = {}
        for maker, found in enumerate(DEFINITION.finditer(text)):
            index = 0
            line = bisect.bisect(lines, found.end())
            column = found.end() - lines[line - 1] + 1
            names = found["names"] or ""
            for name in re.split(r"\s*,\s*", names) if "," in names else (names,):
                plain, _, count = name.partition(":")
                definitions.setdefault(plain, []).append(_Definition(maker, index, line, column))
                index += int(count or 1)
        definitions.pop("", None)
        return definitions

    @functools.cached_property
    def _names_of_makers(self) -> dict[int, list[str]]:
        """The names of the results of operations, by their numbers among those with results.

        Names of another function than the first one that has them end in the function:
        `%5 of @layer`.
        """
        text = self._text
        functions = [
            (found.start(), _signature(text, found.end())[0]) for found in FUNCTION.finditer(text)
        ]
        starts = [start for start, _ in functions]
        used: dict[str, int] = {}
        names: dict[int, list[str]] = {}
        for maker, found in enumerate(DEFINITION.finditer(text)):
            number = bisect.bisect(starts, found.start()) - 1
            of_results: list[str] = []
            for name in filter(None, re.split(r"\s*,\s*", found["names"] or "")):
                plain, _, count = name.partition(":")
                is_first = used.setdefault(plain, number) == number
                shown = plain if is_first else f"{plain} of @{functions[number][1]}"
                of_results += (
                    [f"{shown}#{index}" for index in range(int(count))] if count else [shown]
                )
            names[maker] = of_results
        return names

    @functools.cached_property
    def _argument_names(self) -> dict[str, int]:
        """The positions of the arguments of the entry by their names in the text."""
        functions = _signatures(self._text)
        only = next(iter(functions.values())) if len(functions) == 1 else ()
        return {name: index for index, name in enumerate(functions.get("main", only))}

    def _made(self, definition: _Definition, index: int) -> Iterator[ir.Value]:
        operation = self._makers().get(definition.maker)
        number = definition.index + index
        if operation is not None and number < len(operation.results):
            yield operation.results[number]

    def _makers(self) -> Mapping[int, ir.Operation]:
        """The operations that now stand for those with results in the text, by their numbers."""
        makers = operations_with_results(self._module)
        if self._num_marks == self._num_definitions:
            marked: dict[int, ir.Operation] = {}
            for operation in makers:
                for number in tags_of(operation.location, _MARK):
                    marked.setdefault(number, operation)
            return marked
        if self._given_text is None or _LOCATION.search(self._text):
            return dict(enumerate(makers)) if len(makers) == self._num_definitions else {}
        found: dict[int, ir.Operation] = {}
        for operation, maker in self._placed(makers):
            found.setdefault(maker, operation)
        return found

    @property
    def _num_definitions(self) -> int:
        return sum(1 for _ in DEFINITION.finditer(self._text))

    def _maker_of(self, operation: ir.Operation) -> int | None:
        """The number in the text of the operation that a marked one stands for."""
        mark = mark_of(operation.location)
        return mark if mark is None or self._moved is None else self._moved.get(mark)

    def _placed(self, makers: Sequence[ir.Operation]) -> Iterator[tuple[ir.Operation, int]]:
        """Yield operations with the numbers of those at their places in the text."""
        if _LOCATION.search(self._text):
            return
        known = (each for alike in self._all_definitions.values() for each in alike)
        definitions = sorted(known, key=lambda each: (each.line, each.column))
        places = [(each.line, each.column) for each in definitions]
        for operation in makers:
            place = location_of(operation.location)
            if place is not None:
                # A `stablehlo.reduce` is located at its operands.
                before = bisect.bisect(places, (place.line, place.column)) - 1
                if before >= 0 and definitions[before].line == place.line:
                    yield operation, definitions[before].maker

    # --- Source lines -------------------------------------------------------------------------

    def _on_line(self, file: str | None, line: int) -> Iterator[ir.Value]:
        for view in operations_in(self._module.operation):
            operation = view.operation
            values = [*operation.results]
            if operation.name == "func.func":
                values += [
                    each for block in operation.regions[0].blocks for each in block.arguments
                ]
            for value in values:
                made = value if isinstance(value, ir.BlockArgument) else operation
                place = location_of(made.location)
                if place is None or place.line != line:
                    continue
                if file is None or place.filename == file or place.filename.endswith(f"/{file}"):
                    yield value


_MOST_SHOWN = 8


def mark_of(location: ir.Location) -> int | None:
    """Return the number of a marked operation among those with results when they were marked."""
    return tag_of(location, _MARK)


def operations_with_results(module: ir.Module) -> list[ir.Operation]:
    """Return the operations that `NamedValues.marked` marks, in the order of their numbers."""
    operations = (view.operation for view in operations_in(module.operation))
    return [operation for operation in operations if len(operation.results)]


def name_of(argument: ir.Value) -> str | None:
    """Return the name of an argument in the source, or None."""
    return name_at(argument.location)


def name_at(location: ir.Location) -> str | None:
    """Return the name in the location of an argument, or None."""
    name, _ = inner_locations(untagged(location))
    return name


def result_names(function: ir.Operation) -> list[str | None]:
    """Return the names that JAX gives to the results of a function; None for one without."""
    names: list[str | None] = [None] * len(function_type_of(function).results)
    for index, attributes in enumerate(FunctionView(function).res_attrs or ()):
        if _RESULT_INFO in attributes:
            names[index] = as_text(attributes[_RESULT_INFO])
    return names


def has_named_arguments(operation: ir.Module | ir.Operation | ir.OpView) -> bool:
    """Whether the operation is a module whose entry has arguments with names in the source."""
    if not isinstance(operation, ir.Module):
        return False
    functions = functions_of(operation)
    entry = next((each for each in functions if symbol_name(each) == "main"), None)
    block = None if entry is None else entry_block(entry)
    return block is not None and any(name_of(argument) for argument in block.arguments)


def matches(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern of `fnmatch`, in which brackets also stand for themselves.

    `params[*]['w']` and `layers.[0-3].w` are both patterns.
    """
    literal = pattern.replace("[", "[[]")
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, literal)


def argument_names(function: ir.Operation, text: str | None) -> list[str | None]:
    """Return the names that users gave to the arguments of a function; None for one without.

    They are those of front ends, such as `params['w']`, else those in the text: `%x`, and `%x of
    @layer` for another function than `@main`. `%arg1` and `%1` say no more than the number.

    Args:
        function: the function, whose locations have the names of front ends.
        text: the text that it was parsed from; None if it is unknown.
    """
    block = entry_block(function)
    arguments = [] if block is None else [*block.arguments]
    names = [name_of(argument) for argument in arguments]
    if text is None or all(names):
        return names
    symbol, functions = symbol_name(function), _signatures(text)
    if len(functions) == 1:  # the entry, whose name may be another one in the text
        functions, symbol = {"main": next(iter(functions.values()))}, "main"
    written = functions.get(symbol, ())
    if len(written) != len(arguments):
        return names
    place = "" if symbol == "main" else f" of @{symbol}"
    return [
        own or (None if _NUMBERED.fullmatch(name) else f"{name}{place}")
        for own, name in zip(names, written, strict=True)
    ]


@functools.lru_cache(maxsize=4)
def _signatures(text: str) -> Mapping[str, Sequence[str]]:
    """Return the names of the arguments in a text, `%x` or `%arg1`, by function."""
    return dict(_signature(text, found.end()) for found in FUNCTION.finditer(text))


def _signature(text: str, start: int) -> tuple[str, list[str]]:
    """Return the name of the function whose argument list begins at a position, and their names."""
    function = text[:start].rpartition("@")[2].rstrip("( \t\n").strip('"')
    depth, end = 1, start
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return function, _ARGUMENT.findall(text[start:end])
