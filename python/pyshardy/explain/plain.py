# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of explanations to JSON: dictionaries, lists, numbers and strings."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Protocol, cast, runtime_checkable

from mlir_sdy.diagnostics import SourceLocation
from mlir_sdy.model import AxisRef, Mesh, TensorSharding


@runtime_checkable
class HasPlain(Protocol):
    """A value that says itself which data it is."""

    def plain(self) -> dict[str, object]:
        """Return the data."""
        ...


_WRITTEN = (AxisRef, Mesh, SourceLocation, TensorSharding)
"""Types that are converted to strings."""


def plain(value: object) -> Any:
    """Return a value as JSON data. Members of enumerations become their names in lower case."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, _WRITTEN):
        return str(value)
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, HasPlain):
        return plain(value.plain())
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value).items()
        return {str(key): plain(entry) for key, entry in entries}
    if isinstance(value, Sequence):
        return [plain(entry) for entry in cast("Sequence[object]", value)]
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON")
