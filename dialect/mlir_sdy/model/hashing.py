# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that remember their hash.

Shardings and rules are nested and serve as keys of memo tables, so that the generated hash of a
data class, which walks the whole value each time, would be paid over and over.
"""

from __future__ import annotations

from typing import Any, ClassVar


class HashedOnce:
    """Base of frozen data classes whose hash is computed at its first use.

    A data class generates its own hash unless its body sets one, so each subclass says
    `__hash__ = HashedOnce.__hash__`. The hash is no field: it is neither compared, printed,
    copied nor pickled (hashes of strings differ between processes).
    """

    __slots__ = ("_hash",)
    __match_args__: ClassVar[tuple[str, ...]]
    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            fields: tuple[Any, ...] = tuple(getattr(self, name) for name in self.__match_args__)
            value = hash(fields)
            object.__setattr__(self, "_hash", value)
            return value
