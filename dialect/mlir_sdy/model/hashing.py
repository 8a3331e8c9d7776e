# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values with a cached hash.

Shardings and rules are nested and serve as keys of caches, so recomputing the generated hash of a
data class, which visits all nested values, would be expensive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mlir_sdy.model.text import TextRepr


class HashSlot(TextRepr):
    """Base of the classes decorated by `hash_once`, with the slot of the hash.

    It is not a field, so it is neither compared, printed, copied nor pickled (hashes of strings
    differ between processes).
    """

    __slots__ = ("_hash",)
    _hash: int


ValueClass = TypeVar("ValueClass", bound=type[HashSlot])


def hash_once(value_class: ValueClass) -> ValueClass:
    """Make instances of a frozen data class compute their hash at its first use only."""
    hash_of_fields: Callable[[Any], int] = value_class.__hash__

    def hash_value(self: Any) -> int:
        try:
            return self._hash
        except AttributeError:
            value = hash_of_fields(self)
            object.__setattr__(self, "_hash", value)
            return value

    value_class.__hash__ = hash_value
    return value_class
