# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that consist of a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from mlir_sdy.model.text import TextRepr

Item = TypeVar("Item")


class ValueList(TextRepr, Generic[Item]):
    """Base of values whose only field is the tuple `value`, which can be used as that tuple."""

    __slots__ = ()
    value: tuple[Item, ...]

    def __iter__(self) -> Iterator[Item]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: int) -> Item:
        return self.value[index]
