# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The flags of a tool, as fields of a dataclass.

    @dataclass(frozen=True, kw_only=True)
    class Flags(MeshFlag, GuardFlags):
        file: str = argument("input file; - for standard input", default="-")
        check: bool = flag(False, "compare with the prediction")
        axes: str | None = flag(None, "axes that may be used (default: all)", "A,B")

The type of a field is that of the values: `bool` for a switch, a tuple for a flag that may be
repeated. Help, completion, the reference and the parsers follow from the fields.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from mlir_sdy.diagnostics import UsageError, error

NO_GUARD = "run in a single process, without recovery from crashes of the MLIR host; for debuggers"
VERBOSE = "log files, passes with their times and numbers of operations, and programs"
MESH = "mesh to use instead of the program's: data:4,model:2"
MESH_FORM = "[NAME=]AXIS:SIZE,..."
HARDWARE_FORM = "NAME|FILE.toml"
LOAD_RULES = "load sharding rules from this Python file"
STRICT_RULES = "report operations without a sharding rule as errors"
CACHE = "look up the result in this directory, or keep it there (default: PYSHARDY_CACHE)"
REMARKS = "report operations that cannot be computed on shards, and their cost"


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of a tool, or an argument without a flag.

    Attributes:
        field: the name of the field.
        name: the name on the command line without dashes; empty for an argument.
        type: the type of the values, as text: `bool`, `int`, `float`, `str` or `tuple[str, ...]`.
        default: the value if the flag isn't given; `MISSING` for a required argument.
        description: one sentence for the help.
        metavar: the form of the value in the help.
        group: the heading in the help.
        choices: the values allowed; any when empty.
        alone: the value if the flag is given without one; None if it requires one.
        short: a short name of a flag with a long one.
        least: the smallest value of a number.
    """

    field: str
    name: str
    type: str
    default: Any
    description: str
    metavar: str
    group: str
    choices: Sequence[Any]
    alone: Any
    short: str
    least: int

    @property
    def spelling(self) -> str:
        """The flag with its dashes."""
        return f"-{self.name}" if len(self.name) == 1 else f"--{self.name}"

    @property
    def spellings(self) -> list[str]:
        """The short form, if the flag has any, and the long form."""
        return [*([f"-{self.short}"] if self.short else []), self.spelling]

    def written(self, value: Any) -> str:
        """Return the flag with a value, as on a command line."""
        if self.type == "bool":
            return self.spelling
        return f"{self.spelling}={value if isinstance(value, str) else ','.join(value)}"

    def number(self, text: str) -> float:
        """Return the value of a number.

        Raises:
            UsageError: it is another text, is not finite, or too small.
        """
        kind = "an integer" if self.type == "int" else "a number"
        try:
            value = int(text) if self.type == "int" else float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and value >= self.least:
            return value
        message = f"'{self.spelling}' is '{text}': expected {kind} of at least {self.least}"
        raise UsageError(error(message))

    def text(self, value: str) -> str:
        """Return the value of a text.

        Raises:
            UsageError: it is empty, and the flag can't be given without a value.
        """
        if value or self.alone is not None:
            return value
        raise UsageError(error(f"'{self.spelling}' requires a value: {self}"))

    def __str__(self) -> str:
        value = "|".join(map(str, self.choices)) or self.metavar
        if self.type == "bool":
            return self.spelling
        return (
            f"{self.spelling}=<{value}>" if self.alone is None else f"{self.spelling}[=<{value}>]"
        )


def flag(
    default: Any,
    description: str,
    metavar: str = "",
    *,
    name: str = "",
    group: str = "",
    choices: Sequence[Any] = (),
    alone: Any = None,
    short: str = "",
    least: int = 0,
) -> Any:
    """Return a field that is a flag; `name` replaces that of the field; see `Flag`."""
    about = {"description": description, "metavar": metavar, "name": name, "group": group}
    about |= {"choices": choices, "alone": alone, "short": short, "least": least}
    return field(default=default, metadata=about)


def argument(description: str, *, default: Any = MISSING) -> Any:
    """Return a field that is given without a flag, by its position."""
    return field(default=default, metadata={"description": description, "name": None})


def flags_of(declaring: type) -> Iterator[Flag]:
    """Yield the flags of a dataclass, before those of its bases."""
    declared = {each.name: each for each in fields(declaring) if each.metadata}
    own = [name for base in declaring.__mro__ for name in inspect.get_annotations(base)]
    for each in (declared[name] for name in dict.fromkeys(own) if name in declared):
        about = each.metadata
        name = about["name"]
        yield Flag(
            each.name,
            "" if name is None else name or each.name.replace("_", "-"),
            str(each.type).removesuffix(" | None"),
            each.default,
            about["description"],
            about.get("metavar", ""),
            about.get("group", ""),
            about.get("choices", ()),
            about.get("alone"),
            about.get("short", ""),
            about.get("least", 0),
        )


@dataclass(frozen=True, kw_only=True)
class MeshFlag:
    """The flag of tools that read programs."""

    mesh: str | None = flag(None, MESH, MESH_FORM)


@dataclass(frozen=True, kw_only=True)
class SizeFlag:
    """The flag of tools that take programs with dynamic sizes."""

    size: tuple[str, ...] = flag(
        (),
        "the value of a dynamic size, such as b=128; may be repeated (default: its hint)",
        "NAME=N",
    )


@dataclass(frozen=True, kw_only=True)
class ScheduleFlag:
    """The flag of tools that propagate by tactics."""

    schedule: str = flag(
        "", "apply the tactics of this TOML file, which replaces propagation", "FILE.toml"
    )


@dataclass(frozen=True, kw_only=True)
class OverlapFlag:
    """The flag of tools that partition programs."""

    overlap: str = flag(
        "none",
        "what hides communication behind computation: nothing, the order of the partitioned "
        "program, or also prefetches in loops (default: %(default)s)",
        choices=("none", "schedule", "all"),
    )


@dataclass(frozen=True, kw_only=True)
class RuleFlags:
    """The flags of tools that propagate shardings."""

    load_rules: tuple[str, ...] = flag((), LOAD_RULES, "FILE")
    strict_rules: bool = flag(False, STRICT_RULES)
    remarks: bool = flag(False, REMARKS)


@dataclass(frozen=True, kw_only=True)
class GuardFlags:
    """The flags of all tools that load the MLIR host."""

    verbose: bool = flag(False, VERBOSE, short="v")
    no_guard: bool = flag(False, NO_GUARD)
