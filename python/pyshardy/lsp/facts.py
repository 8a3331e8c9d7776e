# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results of an analysis, as plain data that goes from a worker to the server.

Positions are lines and columns that count from 1, as in diagnostics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class DiagnosticData:
    """A diagnostic.

    Attributes:
        severity: `error`, `warning`, `remark` or `note`.
        message: the message.
        filename: the file; empty for the analyzed document.
        line: the line; 0 if unknown.
        column: the column; 0 if unknown.
        notes: messages of its notes.
    """

    severity: str
    message: str
    filename: str
    line: int
    column: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueFact:
    """A value of a program after propagation.

    Attributes:
        key: its number, for a request to explain it.
        name: its name in the text; the name of an argument of a traced function.
        line: the line of the definition in the text; 0 if the program has no text.
        column: its column.
        filename: the source file, for traced programs; else empty.
        source_line: the line in the source file.
        source_columns: the first column there and that after the last, from 0; zeros if unknown.
        scope: the scope of the operation, such as `layer_3/mlp`; empty without one.
        type: the type.
        sharding: the sharding; empty if it has none.
        dims: the axes of each dimension, as in `[{"data"}, {}]`; empty without a sharding.
        local_type: the type of a shard.
        nbytes: the bytes of the value; 0 if unknown.
        local_nbytes: the bytes of a shard.
        is_annotated: whether the input program states the sharding.
    """

    key: int
    name: str
    line: int
    column: int
    filename: str
    source_line: int
    source_columns: tuple[int, int]
    scope: str
    type: str
    sharding: str
    dims: str
    local_type: str
    nbytes: int
    local_nbytes: int
    is_annotated: bool


@dataclass(frozen=True, slots=True)
class CollectiveFact:
    """A collective of the partitioned program.

    Attributes:
        summary: the kind, the axes, the bytes and the reason in one line.
        value: the key of the value that it moves or completes; -1 if unknown.
        users: the keys of the first results of the operations that need it, which is for a
            completion the operation that makes the value.
    """

    summary: str
    value: int
    users: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """The results for a program.

    Attributes:
        problems: errors and warnings.
        values: arguments and results of operations; none if there are errors in the program.
        collectives: the collectives; none if the program can't be partitioned.
    """

    problems: tuple[DiagnosticData, ...] = ()
    values: tuple[ValueFact, ...] = ()
    collectives: tuple[CollectiveFact, ...] = field(default=())

    def as_data(self) -> dict[str, Any]:
        """Return the facts as dictionaries and lists."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Facts:
        """Return the facts that `as_data` gave."""
        return cls(
            tuple(DiagnosticData(**each) for each in data["problems"]),
            tuple(ValueFact(**each) for each in data["values"]),
            tuple(CollectiveFact(**each) for each in data["collectives"]),
        )

    @classmethod
    def merged(cls, several: Iterable[Facts]) -> Facts:
        """Return the facts of several programs as one."""
        parts = [*several]
        return cls(
            tuple(problem for part in parts for problem in part.problems),
            tuple(value for part in parts for value in part.values),
            tuple(one for part in parts for one in part.collectives),
        )


NO_FACTS = Facts()
"""The facts before the first analysis."""
