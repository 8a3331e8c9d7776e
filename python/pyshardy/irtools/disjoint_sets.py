# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Disjoint sets of elements, which are united pair by pair."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Element = TypeVar("Element", bound=Hashable)


class DisjointSets(Generic[Element]):
    """Disjoint sets, each with one of its elements as its representative.

    After `add(5)`, `add(7)` and `unite(3, 5)` the sets are {7} and {3, 5} with 3 as the latter's
    representative, and iteration gives 7, 3: elements were added in the order 5, 7, 3.
    """

    def __init__(self) -> None:
        self._parents: dict[Element, Element] = {}

    def add(self, element: Element) -> None:
        """Make a new element a set of its own; a known one keeps its set."""
        self._parents.setdefault(element, element)

    def unite(self, first: Element, second: Element) -> None:
        """Unite the sets of both elements; the representative is that of `first`."""
        self.add(first)
        self.add(second)
        self._parents[self.find(second)] = self.find(first)

    def find(self, element: Element) -> Element:
        """Return the representative of an element's set."""
        parents = self._parents
        while (parent := parents[element]) != element:
            parents[element] = parents[parent]  # Path compression.
            element = parent
        return element

    def __iter__(self) -> Iterator[Element]:
        """Yield the representatives in the order in which they were added."""
        return (element for element, parent in self._parents.items() if element == parent)
