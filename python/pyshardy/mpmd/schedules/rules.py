# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of users that order or merge fragments, in the text form of C++ Shardy.

    FragmentScheduleRule(ordered_fragments=[INFO->INFO])
    FragmentMergeRule(sources=[INFO,INFO],target=INFO)

where INFO is `FragmentInfo(origins=["f","g"(1)],stage=0,call_counter=1,split_type=KeepTransferred,
mesh_name="m1")`, in which all but the origins may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.mpmd.values import UserOrigin

_ORIGIN = re.compile(r'"([^"]+)"(?:\((\d+)\))?')
_INFO = re.compile(
    r"FragmentInfo\(origins=\[(?P<origins>[^\]]*)\](?:,\s*stage(?:_id)?=(?P<stage>\d+))?"
    r"(?:,\s*call_counter=(?P<counter>\d+))?(?:,\s*split_type=k?_?(?P<split>\w+))?"
    r'(?:,\s*mesh_name="(?P<mesh>[^"]*)")?\)'
)
_RULE = r"\s*,?\s*Fragment{}Rule\({}\)"
_ONE = re.sub(r"\(\?P<\w+>", "(?:", _INFO.pattern)
_LIST = rf"{_ONE}(?:(?:->|,)\s*{_ONE})*"
_SCHEDULE = re.compile(_RULE.format("Schedule", rf"ordered_fragments=\[({_LIST})\]"))
_MERGE = re.compile(_RULE.format("Merge", rf"sources=\[({_LIST})\],\s*target=({_LIST})"))


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
        parts += [
            f"{name}={value}"
            for name, value in zip(self._fields[1:4], self[1:4], strict=True)
            if value not in (None, "")
        ]
        parts += [f'mesh_name="{self.mesh_name}"'] if self.mesh_name else []
        return f"FragmentInfo({','.join(parts)})"


def read_schedule_rules(text: str) -> list[list[FragmentInfo]]:
    """Return the fragments of each rule, in their order.

    Raises:
        UsageError: the text is malformed.
    """
    return [list(_infos(match[1])) for match in _matches(_SCHEDULE, text)]


def read_merge_rules(text: str) -> list[tuple[list[FragmentInfo], FragmentInfo]]:
    """Return the sources of each rule, and its target.

    Raises:
        UsageError: the text is malformed.
    """
    return [(list(_infos(match[1])), next(_infos(match[2]))) for match in _matches(_MERGE, text)]


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    position = 0
    while position < len(text.rstrip()):
        match = pattern.match(text, position)
        if match is None:
            expected = "FragmentScheduleRule(ordered_fragments=[A->B])"
            if pattern is _MERGE:
                expected = "FragmentMergeRule(sources=[A,B],target=C)"
            message = f"expected a rule such as '{expected}', got '{text[position:][:60]}'"
            raise UsageError(error(message))
        yield match
        position = match.end()


def _infos(text: str) -> Iterator[FragmentInfo]:
    for match in _INFO.finditer(text):
        origins: Sequence[tuple[str, str]] = _ORIGIN.findall(match["origins"])
        split = (match["split"] or "").lower()
        yield FragmentInfo(
            tuple(UserOrigin(name, int(count or 0)) for name, count in origins),
            None if match["stage"] is None else int(match["stage"]),
            None if match["counter"] is None else int(match["counter"]),
            "keep" if "keep" in split else "drop" if "drop" in split else "",
            match["mesh"] or "",
        )
