# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Suggestions for unknown names."""

from __future__ import annotations

from collections.abc import Iterable

_SIMILARITY = 0.72
"""The least ratio of `difflib` at which a name is suggested; a third of wrong letters is too many.
"""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to an unknown one, or None.

    Two exchanged letters are the smallest mistake. A known name that begins with the unknown one is
    similar, whatever its length.

    Examples: of "tan" and "tanh", the nearest to "tahn" is "tanh".
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
    longer = [candidate for candidate in candidates if candidate.startswith(name)]
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
