# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Look-up of values of a program by names and source lines.

| word                      | values                                                          |
|---------------------------|-----------------------------------------------------------------|
| `%5`, `%scores`, `%3#1`   | the value with that name in the text of the program             |
| `arg2`                    | an argument of `@main` by its number                            |
| `result 0`                | a result of `@main`                                             |
| `params['w']`, `*.weight` | arguments of `@main` by the names that JAX or PyTorch gave them |
| `12`, `model.py:40`       | all values that are defined on a source line                    |
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import inner_locations, ir, location_of
from mlir_sdy.traversal import operations_in
from pyshardy.explain.tags import tagged, tags_of, untagged
from pyshardy.irtools.functions import main_function

_DEFINITION = re.compile(
    r"^\s*(%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*)\s*=\s|\)\s*applies\s", re.M
)
"""The names of results in a line, or a `stablehlo.reduce` in its short form without a body."""
_FUNCTION = re.compile(r"\bfunc\.func\b[^@{]*@(?:\"[^\"]*\"|[\w$.-]+)\s*\(")
_ARGUMENT = re.compile(r"(%[\w$.-]+)\s*:")
_PLACE = re.compile(r"(?:(?P<file>.+):)?(?P<line>\d+)")


@dataclass
class ValueFinder:
    """Finds values of a module after passes have changed it.

    Make it before the first pass: it marks operations, which keep their marks (see `tags`).

    Args:
        module: the module as it was read.
        text: the text that it was parsed from; None without a text.
    """

    module: ir.Module
    text: str | None = None
    _names: dict[str, tuple[int, int]] = field(
        default_factory=dict[str, tuple[int, int]], init=False
    )
    _arguments: dict[str, int] = field(default_factory=dict[str, int], init=False)

    def __post_init__(self) -> None:
        self._names, self._arguments = {}, {}
        makers = 0
        for view in operations_in(self.module.operation):
            operation = view.operation
            if len(operation.results):
                operation.location = tagged(operation.location, "value", makers)
                makers += 1
        if self.text is not None:
            self._read_names(self.text, makers)

    def find(self, word: str) -> list[ir.Value]:
        """Return the values that a word identifies.

        Raises:
            UsageError: there are none.
        """
        word = word.strip()
        values = list(self._found(word)) if word else []
        if not values:
            message = (
                f"no value '{word}': expected a name in the text ('%5', '%scores'), 'arg2', "
                "'result 0', the name of an argument, or a source line ('12', 'model.py:40')"
            )
            raise UsageError(error(message))
        return values

    def _found(self, word: str) -> Iterator[ir.Value]:
        main = main_function(self.module)
        arguments = [] if main is None else list(main.regions[0].blocks[0].arguments)
        name, _, index = word.partition("#")
        numbered = re.fullmatch(r"%?arg(?:ument )?(\d+)", word)
        returned = re.fullmatch(r"result (\d+)", word)
        if name in self._names:
            maker, first = self._names[name]
            yield from self._made(maker, first + int(index or 0))
        elif name in self._arguments and self._arguments[name] < len(arguments):
            yield arguments[self._arguments[name]]
        elif numbered is not None and int(numbered[1]) < len(arguments):
            yield arguments[int(numbered[1])]
        elif returned is not None and main is not None:
            operations = main.regions[0].blocks[0].operations
            yield from list(operations[len(operations) - 1].operands)[int(returned[1]) :][:1]
        elif (place := _PLACE.fullmatch(word)) is not None:
            yield from self._on_line(place["file"], int(place["line"]))
        else:
            for argument in arguments:
                if fnmatch.fnmatchcase(name_of(argument) or "", word) or name_of(argument) == word:
                    yield argument

    def _made(self, maker: int, index: int) -> Iterator[ir.Value]:
        for view in operations_in(self.module.operation):
            operation = view.operation
            if maker in tags_of(operation.location, "value") and index < len(operation.results):
                yield operation.results[index]
                return

    def _on_line(self, file: str | None, line: int) -> Iterator[ir.Value]:
        for view in operations_in(self.module.operation):
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

    def _read_names(self, text: str, makers: int) -> None:
        """Read the names of results from the text, whose lines are in the order of operations."""
        definitions = [found[1] for found in _DEFINITION.finditer(text)]
        if len(definitions) == makers:
            for maker, names in enumerate(definitions):
                first = 0
                for name in re.split(r"\s*,\s*", names or ""):
                    plain, _, count = name.partition(":")
                    self._names.setdefault(plain, (maker, first))
                    first += int(count or 1)
        functions = [_signature(text, found.end()) for found in _FUNCTION.finditer(text)]
        main = next((each for each in functions if each[0] == "main"), None)
        chosen = main or (functions[0] if len(functions) == 1 else None)
        for index, name in enumerate(() if chosen is None else chosen[1]):
            self._arguments[name] = index


def name_of(argument: ir.Value) -> str | None:
    """Return the name of an argument in the source, or None."""
    name, _ = inner_locations(untagged(argument.location))
    return name


def _signature(text: str, start: int) -> tuple[str, list[str]]:
    """Return the name of the function whose argument list begins at a position, and their names."""
    function = text[:start].rpartition("@")[2].rstrip("( \t\n").strip('"')
    depth, end = 1, start
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return function, _ARGUMENT.findall(text[start:end])
