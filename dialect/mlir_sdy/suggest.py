# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Suggestions for unknown names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_SIMILARITY = 0.72
"""The least ratio of `difflib` at which a name is suggested; a third of wrong letters is too many.
"""


_WORD = re.compile(r"\w+")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to an unknown one, or None.

    Two exchanged letters are the smallest mistake. A known name that begins with the unknown one is
    similar, whatever its length, and so is one that ends with it after a dot.

    Examples: of "tan" and "tanh", the nearest to "tahn" is "tanh"; of "model.bias" and
    "model.norm1.weight", the nearest to "norm1.weight" is "model.norm1.weight".
    """
    import difflib  # noqa: PLC0415 (for errors only)

    candidates = list(known)
    exchanged = {
        f"{name[:at]}{name[at + 1]}{name[at]}{name[at + 2 :]}" for at in range(len(name) - 1)
    }
    if found := exchanged.intersection(candidates) - {name}:
        return min(found)
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=_SIMILARITY)
    if near or len(name) < 3:
        return near[0] if near else None
    longer = [each for each in candidates if each.startswith(name) or each.endswith(f".{name}")]
    return min(longer, key=len, default=None)


def did_you_mean(name: str, known: Iterable[str], mark: str = "'", prefix: str = "") -> str:
    """Return the suffix of an error message: `; did you mean 'x'?`, or nothing without a match.

    Args:
        name: the unknown name.
        known: the known ones.
        mark: the quotes around the suggestion.
        prefix: the text before the name, inside of the quotes, such as "--".
    """
    near = nearest(name, known)
    return f"; did you mean {mark}{prefix}{near}{mark}?" if near else ""


_MOST_NAMES = 12


def unmatched_pattern(
    pattern: str, names: Iterable[str], matches: Callable[[str, str], bool]
) -> str:
    """Return the suffix of the error that a pattern matches no argument.

    Each word of the pattern that no name has becomes the nearest word of the names: if names match
    then, it is suggested: `*.linear1.wieght` becomes `*.linear1.weight`.

    Args:
        pattern: the pattern.
        names: the names of all arguments.
        matches: whether a name matches a pattern.
    """
    known = list(names)
    words = {word for name in known for word in _WORD.findall(name)}

    def corrected(word: re.Match[str]) -> str:
        return word[0] if word[0] in words else nearest(word[0], words) or word[0]

    repaired = _WORD.sub(corrected, pattern)
    if any(matches(name, repaired) for name in known):
        return f"; did you mean '{repaired}'?"
    listed = ", ".join(f"'{name}'" for name in known[:_MOST_NAMES])
    more = f" and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else ""
    return did_you_mean(pattern, known) or f"; the arguments are: {listed}{more}"
