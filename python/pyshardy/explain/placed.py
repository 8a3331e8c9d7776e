# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explained collectives as contracts check them."""

from __future__ import annotations

from collections.abc import Iterable

from pyshardy.contracts.measured import PlacedCollective, axis_name, lines_of
from pyshardy.explain.collectives import CollectiveExplanation


def placed(explanation: CollectiveExplanation, scopes: Iterable[str]) -> PlacedCollective:
    """Return an explained collective with its places.

    Args:
        explanation: the collective.
        scopes: the scopes of the operations that it belongs to.
    """
    one = explanation.collective
    decisions = [*filter(None, (explanation.made,)), *explanation.wanted]
    places = [one.location, *(each.location for each in decisions)]
    place = next((each for each in places if each is not None), None)
    return PlacedCollective(
        one.kind,
        None if one.axes is None else tuple(map(axis_name, one.axes)),
        explanation.nbytes_total,
        place,
        (*scopes, *_places(explanation)),
        str(explanation),
    )


def _places(explanation: CollectiveExplanation) -> list[str]:
    decisions = [*filter(None, (explanation.made,)), *explanation.wanted]
    places = [each.what for each in decisions]
    for location in (explanation.collective.location, *(each.location for each in decisions)):
        if location is not None:
            places += lines_of(location.filename, location.line)
    return places
