# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The explained collectives of a program, with groups and totals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, overload

from pyshardy.display import Displayed, Table, counted
from pyshardy.explain.collectives import CollectiveExplanation

OTHER_GROUPS = "other groups"
"""The name for the axes of collectives whose groups don't correspond to axes."""


_Key = TypeVar("_Key")


class CollectiveList(Sequence[CollectiveExplanation], Displayed):
    """The collectives of a program, or some of them, in the order of the program.

        explained.collectives.by_axes()["data"].nbytes_sent

    Args:
        items: the collectives.
    """

    def __init__(self, items: Iterable[CollectiveExplanation]):
        self._items = tuple(items)

    @overload
    def __getitem__(self, index: int) -> CollectiveExplanation: ...
    @overload
    def __getitem__(self, index: slice) -> CollectiveList: ...
    def __getitem__(self, index: int | slice) -> CollectiveExplanation | CollectiveList:
        found = self._items[index]
        return CollectiveList(found) if isinstance(found, tuple) else found

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CollectiveList) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    @property
    def nbytes_sent(self) -> int:
        """The bytes that a device sends in a run; a loop of unknown trip count runs once."""
        return sum(each.nbytes_total for each in self)

    def by_kind(self) -> dict[str, CollectiveList]:
        """Return the collectives of each kind, that which sends most bytes first."""
        return self._grouped(lambda each: each.collective.kind)

    def by_axes(self) -> dict[str, CollectiveList]:
        """Return the collectives of each combination of axes: `data`, or `data, model`."""
        return self._grouped(axes_text)

    def by_reason(self) -> dict[str, CollectiveList]:
        """Return the collectives of each reason."""
        return self._grouped(lambda each: each.reason)

    def summary(self) -> str:
        """Return the number of collectives, the bytes sent, and the numbers of each kind."""
        kinds = (f"{len(group)} {kind}" for kind, group in self.by_kind().items())
        text = f"{counted(len(self), 'collective')}, {counted(self.nbytes_sent, 'byte')} sent"
        return ": ".join(filter(None, (text, ", ".join(kinds))))

    def tables(self) -> list[Table]:
        """Return a table of the groups of equal kind, axes and reason."""
        groups = self._grouped(lambda each: (each.collective.kind, axes_text(each), each.reason))
        total = self.nbytes_sent
        rows = [
            (*key, len(group), f"{group.nbytes_sent:,}", _share(group.nbytes_sent, total))
            for key, group in groups.items()
        ]
        headings = ("collective", "axes", "reason", "count", "bytes sent", "share")
        title = "Collectives of pyshardy's partitioner (bytes sent by each device)"
        return [Table(title, headings, rows, num_numeric=3)]

    def _grouped(self, key: Callable[[CollectiveExplanation], _Key]) -> dict[_Key, CollectiveList]:
        groups: defaultdict[_Key, list[CollectiveExplanation]] = defaultdict(list)
        for each in self:
            groups[key(each)].append(each)
        lists = {name: CollectiveList(group) for name, group in groups.items()}
        return dict(sorted(lists.items(), key=lambda item: -item[1].nbytes_sent))


def axes_text(explanation: CollectiveExplanation) -> str:
    """Return the axes of a collective as text."""
    return ", ".join(explanation.collective.axes or (OTHER_GROUPS,))


def _share(part: int, total: int) -> str:
    return f"{part / total:.0%}" if total else ""
