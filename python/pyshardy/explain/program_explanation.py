# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The explanation of a program, with its report and the check of contracts."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property

from mlir_sdy.files import write_file
from pyshardy.api import asm
from pyshardy.contracts.contract import (
    Contract,
    MeasuredProgram,
    PlacedCollective,
    axis_name,
    lines_of,
)
from pyshardy.display import beginning_of
from pyshardy.explain.collectives import CollectiveExplanation
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import ExplainedProgram
from pyshardy.irtools.locations import path_of, scope_names, user_place


@dataclass(frozen=True, repr=False)
class ProgramExplanation(ExplainedProgram):
    """The reasons of the shardings and collectives of a program, and its cost.

    explanation = sdy.explain(module)
    print(explanation.value("params['w']"))
    explanation.collectives.by_axes()["data"].nbytes_sent
    explanation.check("no all_gather along data")
    explanation.to_html("report.html")
    """

    @classmethod
    def of(cls, explained: ExplainedProgram) -> ProgramExplanation:
        """Return the explanation of an explained program."""
        return cls(*(getattr(explained, field.name) for field in fields(explained)))

    def check(self, contract: Contract | str) -> None:
        """Check that the collectives and the memory are within the limits of a contract.

        A program with dynamic sizes is checked at its hints, and at all sizes that are compared.

            explanation.check("no all_gather along data; at most 8MB; at most 1GiB of memory")

        Args:
            contract: the limits, as a value or a text: see `pyshardy.contracts.contract`.

        Raises:
            ContractViolation: the program exceeds limits; the text lists the collectives with
                their source lines and reasons.
            UsageError: the contract is invalid, or the mesh lacks one of its axes.
        """
        if isinstance(contract, str):
            contract = Contract.parse(contract)
        contract.check(self.measured)

    @cached_property
    def measured(self) -> MeasuredProgram:
        """The collectives and the memory, as contracts check them."""
        collectives = tuple(_placed(each, self._scopes(each)) for each in self.collectives)
        axes = tuple(self.program.mesh.axis_names)
        peak = self.resource_use.memory.peak
        hints = {} if self.sizes is None else self.sizes.program.hints
        others = () if self.sizes is None else self.sizes.measured
        return MeasuredProgram(axes, collectives, peak, hints, others, self._known_places)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML report of the program to a file.

        Raises:
            UsageError: the file can't be written.
        """
        write_file(path, render_page(self, self.title))

    def _repr_html_(self) -> str:
        """Return the tables, and the local program to unfold."""
        text = asm(self.program.module, debug_info=False, large_elements_limit=16)
        title = "<summary>Program of each device</summary>"
        shown = html.escape(beginning_of(text))
        return f"{super()._repr_html_()}<details>{title}<pre>{shown}</pre></details>"

    def _known_places(self) -> set[str]:
        """Return all scopes, source files and lines, and values of the annotated program."""
        program, found = self.record.engine.program, set[str]()
        for number in range(len(program.operations)):
            location = self.record.location(number)
            if (path := path_of(location)) is not None:
                found.update(scope_names(path))
            if (place := user_place(location)) is not None:
                found.update(lines_of(place.filename, place.line))
        for slot in range(1, program.num_values):
            tensor = self.record.tensor(slot)
            found.update(filter(None, (tensor.description, tensor.numbered)))
        return found

    def _scopes(self, explanation: CollectiveExplanation) -> list[str]:
        """Return the scopes of the operations of a collective, and its arguments by number."""
        decisions = [*filter(None, (explanation.made,)), *explanation.wanted]
        values = (each.value for each in decisions if each.value is not None)
        arguments = filter(None, (self.record.tensor(value).numbered for value in values))
        numbers = (each.operation for each in decisions if each.operation is not None)
        paths = (path_of(self.record.location(number)) for number in numbers)
        scopes = (scope for path in paths if path is not None for scope in scope_names(path))
        return [*scopes, *arguments]


# --- Collectives as contracts check them ---------------------------------------------------------


def _placed(explanation: CollectiveExplanation, scopes: Iterable[str]) -> PlacedCollective:
    """Return an explained collective with its places.

    Args:
        explanation: the collective.
        scopes: the scopes of the operations that it belongs to.
    """
    one = explanation.collective
    decisions = [*filter(None, (explanation.made,)), *explanation.wanted]
    place = next(filter(None, [one.location, *(each.location for each in decisions)]), None)
    return PlacedCollective(
        one.kind,
        None if one.axes is None else tuple(map(axis_name, one.axes)),
        explanation.nbytes_total,
        place,
        (*scopes, *_places(explanation)),
        str(explanation),
        one.is_peeled,
        one.repetitions is None,
    )


def _places(explanation: CollectiveExplanation) -> list[str]:
    decisions = [*filter(None, (explanation.made,)), *explanation.wanted]
    places = [each.what for each in decisions]
    for location in (explanation.collective.location, *(each.location for each in decisions)):
        if location is not None:
            places += lines_of(location.filename, location.line)
    return places
