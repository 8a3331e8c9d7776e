# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Filter of operations of `sdy-per-instruction-partitioning`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstructionFilter:
    """A choice of operations by their number and their name.

    An operation is chosen if all of these hold:

    1. Its number is not below `low`.
    2. Its number is not above `high`.
    3. Its name contains one of `names`, or there are none.

    Attributes:
        low: the least number; None for no bound.
        high: the greatest number; None for no bound.
        names: substrings of names.
    """

    low: int | None = None
    high: int | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> InstructionFilter:
        """Parse the filter option.

        Conditions are separated by commas: `selectLow=N` and `selectHigh=N` for the bounds, and
        anything else for a part of a name. Enclosing quotes are ignored.

        Example: `selectLow=2,selectHigh=5,dot` chooses `stablehlo.dot_general` if its number is
        from 2 to 5.

        Raises:
            ValueError: a bound is not a number.
        """
        bounds: dict[str, int | None] = {"selectLow": None, "selectHigh": None}
        names: list[str] = []
        for token in filter(None, map(str.strip, text.strip().strip("\"'").split(","))):
            name, has_value, value = token.partition("=")
            if not has_value or name not in bounds:
                names.append(token)
            elif not value.isdecimal():
                raise ValueError(f"'{name}' must be a number, got: '{value}'")
            else:
                bounds[name] = int(value)
        return cls(bounds["selectLow"], bounds["selectHigh"], tuple(names))

    def chooses(self, number: int, name: str) -> bool:
        """Whether an operation of this number and name is chosen."""
        is_within = (self.low is None or self.low <= number) and (
            self.high is None or number <= self.high
        )
        return is_within and (not self.names or any(part in name for part in self.names))
