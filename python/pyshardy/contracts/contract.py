# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contracts: limits of the collectives and the memory of a partitioned program.

A contract is a text with a limit on each line, or several between semicolons:

| limit                                | meaning                                              |
|--------------------------------------|------------------------------------------------------|
| `no all_gather along data`           | no such collective                                   |
| `no collectives in layer_3/*`        | none for operations of these scopes or source lines  |
| `at most 2 all_reduce along model`   | at most this number in the text of the program       |
| `at most 8MB of all_gather`          | the bytes that a device sends in a run               |
| `at most 8MB along data`             | the same for all kinds                               |
| `at most 256*b bytes of all_gather`  | for dynamic sizes, an expression of these            |
| `at most 1GiB of memory`             | the peak memory of a device                          |

`along` takes the name of an axis. `in` takes a pattern (`*` matches any text) for the scopes of an
operation that a collective belongs to (`layer_3/attention`), its source file or line (`model.py`,
`model.py:40`), or a value that it moves (`argument 0 of @main`). `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from mlir_sdy.diagnostics import (
    Diagnostic,
    SourceLocation,
    UsageError,
    emit,
    error,
    note,
    warning,
    wrong_type,
)
from mlir_sdy.suggest import did_you_mean
from pyshardy.display import AMOUNT, DisplayedText, bytes_of_text, counted
from pyshardy.irtools.named_values import matches
from pyshardy.irtools.stablehlo_views import COLLECTIVES
from pyshardy.local_program.communication import Collective
from pyshardy.sizes.size import Number, Size, number_of
from pyshardy.sizes.symbols import check_name


@dataclass(frozen=True, slots=True)
class PlacedCollective:
    """A collective with all that limits of a contract may name.

    Attributes:
        kind: its kind: `all_gather`.
        axes: the axes along which it communicates, without the sizes of sub-axes; None if its
            groups don't correspond to axes.
        nbytes_total: the bytes that a device sends in a run.
        place: its source line, else that of the value or of its use; None if unknown.
        places: the scopes, source files and lines, and values that it belongs to.
        text: the collective with its reasons, for messages.
        is_peeled: whether it is one more copy of a collective of a loop, which isn't counted.
        is_often: whether it is in a loop of an unknown number of iterations: its bytes count once.
    """

    kind: str
    axes: tuple[str, ...] | None
    nbytes_total: int
    place: SourceLocation | None
    places: tuple[str, ...]
    text: str
    is_peeled: bool = False
    is_often: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredProgram:
    """The collectives and the memory of a partitioned program.

    Attributes:
        axes: the names of the axes of the mesh.
        collectives: the collectives in the order of the program.
        peak_bytes: the peak memory of a device.
        sizes: for a program with dynamic sizes, the values of its symbols.
        others: such a program at other sizes, at which contracts are checked, too.
        known_places: returns what a pattern can match in the program, whether there are
            collectives or not: scopes, source files and lines, and values; None if unknown.
    """

    axes: tuple[str, ...]
    collectives: tuple[PlacedCollective, ...]
    peak_bytes: int
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    others: tuple[MeasuredProgram, ...] = ()
    known_places: Callable[[], Collection[str]] | None = field(
        default=None, compare=False, repr=False
    )


def placed(collective: Collective) -> PlacedCollective:
    """Return a collective with its source line, without reasons."""
    place = collective.location
    return PlacedCollective(
        collective.kind,
        None if collective.axes is None else tuple(map(axis_name, collective.axes)),
        collective.nbytes_total,
        place,
        () if place is None else lines_of(place.filename, place.line),
        collective.summary(),
    )


def lines_of(file: str, line: int | str) -> tuple[str, str, str, str]:
    """Return a file and a line in it, each with its folder and without."""
    name = PurePath(file).name
    return file, f"{file}:{line}", name, f"{name}:{line}"


def axis_name(text: str) -> str:
    """Return the name of an axis or a sub-axis."""
    return text.split('"')[1] if '"' in text else text


KINDS = tuple(sorted(name.removeprefix("stablehlo.") for name in COLLECTIVES))
"""The kinds of collectives."""

_ALL_KINDS = ("collective", "collectives")
_MEMORY = "memory"
_MOST_NOTES = 10
_OF_OPERATIONS = ("operand ", "result ")
"""The beginnings of patterns that match collectives by the operations around them."""
_LIMIT = re.compile(
    rf"(?:no|at most\s+(?:{AMOUNT}|(?P<size>[^;]*?[*+(][^;]*?)\s+bytes))"
    r"(?:(?:\s+of)?\s+(?!along\b|in\b)(?P<kind>[\w-]+))?"
    r"(?:\s+along\s+(?P<axis>\S+))?"
    r"(?:\s+in\s+(?P<scope>(?!.*\salong\s)\S.*))?"
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of the number or the bytes of some collectives.

    Attributes:
        count: the maximum number of collectives in the text of the program; None for any.
        nbytes: the maximum number of bytes that a device sends in a run, which may depend on the
            sizes of the program; None for any.
        kind: the kind of the collectives; None for all.
        axis: an axis along which they communicate; None for all. Collectives whose groups don't
            correspond to axes are along every axis.
        scope: a pattern for the scope, the source line or the value; None for all.
    """

    count: int | None = None
    nbytes: Number | None = None
    kind: str | None = None
    axis: str | None = None
    scope: str | None = None

    def __str__(self) -> str:
        if self.nbytes is not None:
            subject = f"at most {_bytes_text(self.nbytes)}"
            subject += "" if self.kind is None else f" of {self.kind}"
        else:
            number = "no" if self.count == 0 else f"at most {self.count}"
            subject = f"{number} {self.kind or 'collectives'}"
        axis = "" if self.axis is None else f" along {self.axis}"
        return subject + axis + ("" if self.scope is None else f" in {self.scope}")

    def applies_to(self, collective: PlacedCollective) -> bool:
        """Whether a collective counts for the limit."""
        return (
            self.kind in (None, collective.kind)
            and (self.axis is None or collective.axes is None or self.axis in collective.axes)
            and (self.scope is None or any(matches(each, self.scope) for each in collective.places))
        )

    def check_axis(self, axes: Sequence[str]) -> None:
        """Check that the mesh has the axis of the limit.

        Raises:
            UsageError: there is no such axis.
        """
        if self.axis is not None and self.axis not in axes:
            known = ", ".join(f"'{axis}'" for axis in axes)
            hint = did_you_mean(self.axis, axes) or f"; the mesh has the axes {known}"
            raise UsageError(error(f"'{self}': the mesh has no axis '{self.axis}'{hint}"))

    def check_scope(self, program: MeasuredProgram) -> None:
        """Warn if the pattern of the limit matches nothing, or bytes depend on unknown loops."""
        often = sum(each.is_often and self.applies_to(each) for each in program.collectives)
        if often and self.nbytes is not None:
            message = f"'{self}' counts the bytes of one iteration: {counted(often, 'collective')}"
            emit(warning(f"{message} in loops whose number of iterations is unknown"))
        scope = self.scope
        if scope is None or program.known_places is None or scope.startswith(_OF_OPERATIONS):
            return
        with_collectives = (place for each in program.collectives for place in each.places)
        if any(matches(place, scope) for place in with_collectives):
            return
        known = program.known_places()
        if not any(matches(place, scope) for place in known):
            hint = did_you_mean(scope, sorted(known))
            what = "argument matches" if scope.startswith("%") else "value matches"
            message = f"'{self}' always holds: no scope, source line or {what} '{scope}'"
            if scope.startswith("%") and not hint:
                hint = "; a value inside is found by its scope or its line, such as 'model.py:40'"
            emit(warning(f"{message}{hint}"))


@dataclass(frozen=True, slots=True)
class Violation(DisplayedText):
    """A limit that a program exceeds.

    Attributes:
        limit: the limit as text.
        found: the measured value as text.
        collectives: the collectives that count for the limit.
    """

    limit: str
    found: str
    collectives: tuple[PlacedCollective, ...] = ()

    @property
    def diagnostic(self) -> Diagnostic:
        """An error at the first collective, with a note for each collective."""
        notes = [note(each.text, each.place) for each in self.collectives[:_MOST_NOTES]]
        if len(self.collectives) > _MOST_NOTES:
            notes.append(note(f"and {len(self.collectives) - _MOST_NOTES:,} others"))
        place = next((each.place for each in self.collectives), None)
        return error(f"the contract '{self.limit}' is violated: found {self.found}", place, notes)

    def __str__(self) -> str:
        lines = [f"{self.limit}: found {self.found}"]
        for each in self.collectives:
            lines.extend(f"  {line}" for line in each.text.splitlines())
        return "\n".join(lines)


class ContractViolation(AssertionError):
    """A program exceeds limits of a contract; the text names the collectives and their reasons.

    Attributes:
        violations: the limits that it exceeds; never empty.
        advice: constraints that were tried and send less, with their effects.
    """

    def __init__(self, violations: Sequence[Violation], advice: Sequence[str] = ()):
        self.violations = tuple(violations)
        self.advice = tuple(advice)
        lines = ["the program violates its contract:", *map(str, violations)]
        super().__init__("\n".join([*lines, *advice]))


@dataclass(frozen=True, slots=True)
class Contract:
    """Limits of the collectives and the memory of a program; see the text form in this module.

        Contract.parse("no all_gather along data; at most 1GiB of memory")
        Contract.of(at_most={"all_gather": 0}, max_memory="1GiB")

    Attributes:
        limits: the limits of collectives.
        max_memory: the maximum peak memory of a device in bytes, which may depend on the sizes of
            the program; None for any.
    """

    limits: tuple[Limit, ...] = ()
    max_memory: Number | None = None

    @classmethod
    def of(
        cls,
        *,
        at_most: Mapping[str, int] | None = None,
        no_axes: Mapping[str, Sequence[str]] | None = None,
        max_bytes: int | str | None = None,
        max_memory: int | str | None = None,
        limits: Sequence[str] = (),
    ) -> Contract:
        """Return the contract of the most common limits.

        Args:
            at_most: the maximum number of collectives by kind: `{"all_reduce": 2}`.
            no_axes: for each axis the kinds of collectives that must not be along it.
            max_bytes: the bytes that a device sends in a run: a number, `"8MB"`, or for dynamic
                sizes an expression of these, `"256*b"`.
            max_memory: the peak memory of a device, in the same forms.
            limits: other limits, as texts.

        Raises:
            UsageError: there is no such kind, or a size or a text is invalid.
        """
        _check_mappings(at_most=at_most, no_axes=no_axes)
        texts = limits if isinstance(limits, str) else "\n".join(limits)
        found = [Limit(_count(count), kind=_kind(kind)) for kind, count in (at_most or {}).items()]
        found += [
            Limit(0, kind=_kind(kind), axis=axis)
            for axis, kinds in (no_axes or {}).items()
            for kind in ((kinds,) if isinstance(kinds, str) else kinds)
        ]
        if max_bytes is not None:
            found.append(Limit(nbytes=_bytes_of(max_bytes)))
        own = cls(tuple(found), None if max_memory is None else _bytes_of(max_memory))
        return own.merged(cls.parse(texts)) if texts else own

    @classmethod
    def parse(cls, text: str) -> Contract:
        """Return the contract of a text.

        Raises:
            UsageError: the text is invalid.
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("Contract.parse", "a text such as 'no all_gather along data'", text)
        limits: list[Limit] = []
        memory: Number | None = None
        lines = (line.partition("#")[0] for line in text.splitlines())
        for part in (part.strip() for line in lines for part in line.split(";")):
            found = _LIMIT.fullmatch(part)
            if found is None:
                if part:
                    raise _unknown_limit(part)
                continue
            number, unit, kind = found["number"], found["unit"] or "", found["kind"]
            is_size = bool(unit or found["size"])
            nbytes = _bytes_of(found["size"] or f"{number}{unit}") if is_size else None
            if kind == _MEMORY and is_size and found["axis"] is None and found["scope"] is None:
                memory = cls(max_memory=memory).merged(cls(max_memory=nbytes)).max_memory
            elif kind is None and not is_size:
                raise _unknown_limit(part)
            else:
                if number is not None and not is_size and "." in number:
                    raise _unknown_limit(part)
                limits.append(
                    Limit(
                        None if is_size else int((number or "0").replace(",", "")),
                        nbytes,
                        None if kind is None else _kind(kind),
                        found["axis"] and found["axis"].strip('"'),
                        found["scope"],
                    )
                )
        if not limits and memory is None:
            raise UsageError(error("the contract has no limits"))
        return cls(tuple(limits), memory)

    def merged(self, other: Contract) -> Contract:
        """Return the limits of both contracts."""
        given = [each for each in (self.max_memory, other.max_memory) if each is not None]
        if len(given) > 1 and not all(isinstance(each, int) for each in given):
            raise UsageError(error("two contracts limit the memory by expressions of sizes"))
        memory = min((each for each in given if isinstance(each, int)), default=None)
        return Contract((*self.limits, *other.limits), memory if len(given) != 1 else given[0])

    def __str__(self) -> str:
        memory = [] if self.max_memory is None else [_memory_limit(self.max_memory)]
        return "\n".join([*map(str, self.limits), *memory])

    def violations(self, program: MeasuredProgram) -> list[Violation]:
        """Return the limits that a program exceeds, at any of its sizes.

        Raises:
            UsageError: a limit names an axis that the mesh lacks, so that it would always hold, or
                a size that the program lacks.
        """
        for limit in self.limits:
            limit.check_axis(program.axes)
        programs = (program, *program.others)
        return [violation for each in programs for violation in self._violations(each)]

    def _violations(self, program: MeasuredProgram) -> list[Violation]:
        found: list[Violation] = []
        told = ", ".join(f"{name} = {value}" for name, value in program.sizes.items())
        at = f" at {told}" if told else ""
        for limit in self.limits:
            counting = tuple(each for each in program.collectives if limit.applies_to(each))
            sent = sum(each.nbytes_total for each in counting)
            number = sum(not each.is_peeled for each in counting)
            too_many = limit.count is not None and number > limit.count
            if too_many or (limit.nbytes is not None and sent > _at(limit.nbytes, program)):
                text = f"{counted(number, 'collective')}, {counted(sent, 'byte')} sent{at}"
                found.append(Violation(str(limit), text, counting))
        if self.max_memory is not None and program.peak_bytes > _at(self.max_memory, program):
            limit = _memory_limit(self.max_memory)
            found.append(Violation(limit, counted(program.peak_bytes, "byte") + at))
        return found

    def warn_of_unknown_places(self, program: MeasuredProgram) -> None:
        """Emit a warning for each limit whose pattern matches nothing in a program."""
        for limit in self.limits:
            limit.check_scope(program)

    def check(self, program: MeasuredProgram) -> None:
        """Check that a program is within the limits, with `warn_of_unknown_places`.

        Raises:
            ContractViolation: it exceeds limits; the text lists the collectives with their source
                lines and reasons.
            UsageError: a limit names an axis that the mesh lacks.
        """
        self.warn_of_unknown_places(program)
        violations = self.violations(program)
        if violations:
            raise ContractViolation(violations)


def _check_mappings(**given: object) -> None:
    for name, value in given.items():
        if value is not None and not isinstance(value, Mapping):
            example = "{'all_gather': 0}" if name == "at_most" else "{'data': ['all_gather']}"
            raise wrong_type("Contract.of", f"a dictionary as '{name}', such as {example}", value)


def _count(count: object) -> int:
    if type(count) is not int or count < 0:
        raise wrong_type("Contract.of", "whole numbers of collectives as 'at_most'", count)
    return count


def _kind(name: str) -> str | None:
    """Return the name of a kind; None for all kinds."""
    if name in _ALL_KINDS:
        return None
    name = name.replace("-", "_")
    if name not in KINDS:
        hint = did_you_mean(name, (*KINDS, *_ALL_KINDS)) or f"; the kinds are {', '.join(KINDS)}"
        raise UsageError(error(f"no collective '{name}'{hint}"))
    return name


def _memory_limit(nbytes: Number) -> str:
    return f"at most {_bytes_text(nbytes)} of memory"


def _bytes_text(nbytes: Number) -> str:
    return counted(nbytes, "byte") if isinstance(nbytes, int) else f"{nbytes} bytes"


def _bytes_of(text: int | str) -> Number:
    """Return a number of bytes, or an expression of sizes.

    Raises:
        UsageError: the text is neither.
    """
    if type(text) not in (int, str) or (isinstance(text, int) and text < 0):
        raise wrong_type("Contract.of", "bytes such as 8000 or '8MB'", text)
    if isinstance(text, int) or not re.search(r"[*+(]", text):
        return bytes_of_text(text)
    return number_of(Size.parse(text))


def _at(nbytes: Number, program: MeasuredProgram) -> int:
    """Return a number of bytes at the sizes of a program."""
    if isinstance(nbytes, int):
        return nbytes
    for name in sorted(nbytes.symbols):
        check_name(name, program.sizes, f"the limit '{nbytes}'")
    return nbytes.evaluate(program.sizes)


def _unknown_limit(part: str) -> UsageError:
    message = (
        f"expected a limit such as 'no all_gather along data', 'at most 2 all_reduce', "
        f"'at most 8MB along data' or 'at most 1GiB of memory', got: '{part}'"
    )
    return UsageError(error(message))
