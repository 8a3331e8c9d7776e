# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guards: the conditions on sizes under which a plan shards arguments and results evenly.

1. A dimension that axes of k devices shard needs a size that k divides. That is *proven* if the
   expression and the known divisors of its symbols say so.
2. If it isn't proven, a policy says what happens at other sizes: `guard` refuses them, `pad` pads
   the dimension to the next multiple, and `unshard` leaves it unsharded for these sizes.
3. By default, dimensions that the user sharded are padded, and those that only propagation sharded
   are left unsharded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.sizes.size import Size

Uneven: TypeAlias = Literal["guard", "pad", "unshard"]

POLICIES: tuple[Uneven, ...] = get_args(Uneven)

_ACTIONS = {"guard": "checked at run time", "pad": "padded", "unshard": "left unsharded otherwise"}


@dataclass(frozen=True, slots=True)
class DynamicPort:
    """An argument or a result of a program with dynamic sizes.

    Attributes:
        name: its name.
        element: its element type.
        sizes: the sizes of its dimensions; None for one of a result whose expression is unknown.
        axes: the axes that shard each dimension.
        shards: the number of shards of each dimension.
        is_given: whether the user sharded each dimension.
        place: where it is.
    """

    name: str
    element: str
    sizes: tuple[Size | None, ...]
    axes: tuple[tuple[str, ...], ...]
    shards: tuple[int, ...]
    is_given: tuple[bool, ...]
    place: SourceLocation | None

    @property
    def type(self) -> str:
        """The type as text: `f32[4*b, 16]`."""
        return f"{self.element}[{', '.join('?' if s is None else str(s) for s in self.sizes)}]"


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on the size of a dimension.

    Attributes:
        divisor: the number that divides the size.
        size: the size; None for one of a result whose expression is unknown.
        port: the argument or result.
        dim: its dimension.
        is_proven: whether it always holds.
        policy: what is done if it doesn't hold.
    """

    divisor: int
    size: Size | None
    port: DynamicPort
    dim: int
    is_proven: bool
    policy: Uneven

    @property
    def _axes(self) -> str:
        return ", ".join(f'"{axis}"' for axis in self.port.axes[self.dim])

    def failure(self, number: int, nearest: Sequence[str]) -> UsageError:
        """Return the error of a size for which it doesn't hold.

        Args:
            number: the size.
            nearest: the nearest sizes for which it holds, as texts.
        """
        message = f"dimension {self.dim} of {self.port.name} has size {number}, which"
        why = f"{self.divisor} doesn't divide: it is sharded along {self._axes}"
        advice = f"use {' or '.join(nearest)}, or uneven='pad'" if nearest else "use uneven='pad'"
        return UsageError(error(f"{message} {why}; {advice}", self.port.place))

    def __str__(self) -> str:
        dimension = f"dimension {self.dim} of {self.port.name}"
        size = f"the size of {dimension}" if self.size is None else str(self.size)
        action = "proven" if self.is_proven else _ACTIONS[self.policy]
        place = "" if self.port.place is None else f" ({self.port.place})"
        why = f"{dimension}{place} is sharded along {self._axes}"
        return f"{self.divisor} divides {size}: {action}; {why}"


def check_word(option: str, word: str, words: Sequence[str]) -> None:
    """Check an option that has one of several words.

    Raises:
        UsageError: it has another one.
    """
    if word not in words:
        near = did_you_mean(word, words) or f"; it is one of {', '.join(words)}"
        raise UsageError(error(f"'{option}' can't be '{word}'{near}"))


def guards_of(
    ports: Sequence[DynamicPort], multiples: dict[str, int], policy: Uneven | None
) -> Iterator[Guard]:
    """Yield the guards of arguments or results.

    Args:
        ports: the arguments or results.
        multiples: known divisors of symbols.
        policy: what is done where one doesn't hold; None for the defaults.

    Raises:
        UsageError: there is no such policy.
    """
    if policy is not None:
        check_word("uneven", policy, POLICIES)
    for port in ports:
        for dim, (size, count) in enumerate(zip(port.sizes, port.shards, strict=True)):
            if count == 1 or (size is not None and size.constant is not None):
                continue
            is_proven = size is not None and size.divisible_by(count, multiples) is True
            chosen = policy or ("pad" if port.is_given[dim] else "unshard")
            yield Guard(count, size, port, dim, is_proven, chosen)
