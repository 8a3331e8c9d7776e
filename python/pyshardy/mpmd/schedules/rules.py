# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of users that order or merge fragments, in the text form of C++ Shardy.

    FragmentScheduleRule(ordered_fragments=[INFO->INFO])
    FragmentMergeRule(sources=[INFO,INFO],target=INFO)

where INFO is `FragmentInfo(origins=["f","g"(1)],stage=0,call_counter=1,split_type=kKeepTransferred,
mesh_name="m1")`, in which all but the origins may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.mpmd.values import UserOrigin

_NUMBER, _NAME = re.compile(r"\d+"), re.compile(r'"[^"]+"')
SPLIT_TYPES = {"keep": "kKeepTransferred", "drop": "kDropTransferred"}
_FIELDS: Mapping[str, re.Pattern[str]] = {
    "stage=": _NUMBER,
    "call_counter=": _NUMBER,
    "split_type=": re.compile("|".join(SPLIT_TYPES.values())),
    "mesh_name=": _NAME,
}
"""The fields of a description, and the forms of their values."""


class FragmentInfo(NamedTuple):
    """The description of a fragment.

    Attributes:
        origins: its origins.
        stage: its stage, if it has one.
        call_counter: its microbatch, if it has one.
        split_type: `keep` or `drop` for the halves of a split backward fragment, or empty.
        mesh_name: its mesh; empty for any.
    """

    origins: tuple[UserOrigin, ...]
    stage: int | None = None
    call_counter: int | None = None
    split_type: str = ""
    mesh_name: str = ""

    def __str__(self) -> str:
        parts = [f"origins=[{','.join(each.short for each in self.origins)}]"]
        parts += [] if self.stage is None else [f"stage={self.stage}"]
        parts += [] if self.call_counter is None else [f"call_counter={self.call_counter}"]
        parts += [f"split_type={SPLIT_TYPES[self.split_type]}"] if self.split_type else []
        parts += [f'mesh_name="{self.mesh_name}"'] if self.mesh_name else []
        return f"FragmentInfo({','.join(parts)})"


def read_schedule_rules(text: str) -> list[list[FragmentInfo]]:
    """Return the fragments of each rule, in their order.

    Raises:
        UsageError: the text is malformed.
    """
    reader = _Reader(text)
    rules: list[list[FragmentInfo]] = []
    while reader.starts_rule():
        reader.take("FragmentScheduleRule(ordered_fragments=[")
        rules.append(reader.infos("->", "])"))
    return rules


def read_merge_rules(text: str) -> list[tuple[list[FragmentInfo], FragmentInfo]]:
    """Return the sources of each rule, and its target.

    Raises:
        UsageError: the text is malformed.
    """
    reader = _Reader(text)
    rules: list[tuple[list[FragmentInfo], FragmentInfo]] = []
    while reader.starts_rule():
        reader.take("FragmentMergeRule(sources=[")
        sources = reader.infos(",", "],target=")
        rules.append((sources, reader.info()))
        reader.take(")")
    return rules


class _Reader:
    """Reads a text from left to right; spaces between its parts don't count."""

    def __init__(self, text: str) -> None:
        self._text, self._position = text, 0

    def starts_rule(self) -> bool:
        """Return whether another rule follows, maybe after a comma."""
        if self._position:
            self._skip(",")
        self._skip("")
        return self._position < len(self._text)

    def take(self, *expected: str) -> str:
        """Return the part that follows, the first that does.

        Raises:
            UsageError: none of the parts follows.
        """
        for part in expected:
            if self._skip(part):
                return part
        raise self._error(" or ".join(f"'{part}'" for part in expected))

    def infos(self, separator: str, end: str) -> list[FragmentInfo]:
        """Return the descriptions up to an end."""
        infos = [self.info()]
        while self.take(separator, end) == separator:
            infos.append(self.info())
        return infos

    def info(self) -> FragmentInfo:
        """Return the description that follows."""
        self.take("FragmentInfo(origins=[")
        origins = [self._origin()]
        while self.take(",", "]") == ",":
            origins.append(self._origin())
        fields: dict[str, str] = {}
        while self.take(",", ")") == ",":
            name = self.take(*_FIELDS)
            if name in fields:
                raise self._error(f"'{name}' only once")
            fields[name] = self._match(_FIELDS[name], f"a value of '{name}'")
        stage, counter, split, mesh = map(fields.get, _FIELDS)
        return FragmentInfo(
            tuple(origins),
            None if stage is None else int(stage),
            None if counter is None else int(counter),
            next((half for half, name in SPLIT_TYPES.items() if name == split), ""),
            (mesh or "").strip('"'),
        )

    def _origin(self) -> UserOrigin:
        name = self._match(_NAME, "the name of a computation in quotes").strip('"')
        if not self._skip("("):
            return UserOrigin(name)
        count = int(self._match(_NUMBER, "a transpose count"))
        self.take(")")
        return UserOrigin(name, count)

    def _match(self, pattern: re.Pattern[str], what: str) -> str:
        match = pattern.match(self._text, self._position)
        if match is None:
            raise self._error(what)
        self._position = match.end()
        return match[0]

    def _skip(self, part: str) -> bool:
        """Go behind a part and the spaces after it, and return whether the part was there."""
        if not self._text.startswith(part, self._position):
            return False
        self._position += len(part)
        while self._text[self._position : self._position + 1].isspace():
            self._position += 1
        return True

    def _error(self, expected: str) -> UsageError:
        following = self._text[self._position :][:60]
        got = f"got '{following}'" if following else "but the text ends"
        return UsageError(error(f"rules of fragments: expected {expected}, {got}"))
