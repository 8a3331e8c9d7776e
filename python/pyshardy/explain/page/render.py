# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rendering of the report as a single file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import resources

import jinja2

from pyshardy.explain.against_xla import AgainstXla
from pyshardy.explain.page.data import PageData
from pyshardy.explain.page.gather import page_data
from pyshardy.explain.page.other_plan import OtherPlan
from pyshardy.explain.page.pack import packed
from pyshardy.explain.program import ExplainedProgram
from pyshardy.pipeline.collection import collection_paused

_ASSETS = resources.files("pyshardy.explain.page") / "assets"
_STYLES = ("page", "lists", "graph", "media")
_SCRIPTS = (
    "data",
    "state",
    "elements",
    "layout",
    "graph",
    "view",
    "minimap",
    "reasons",
    "details",
    "tables",
    "collectives",
    "costs",
    "compare",
    "texts",
    "timeline",
    "export",
    "replay",
    "search",
    "main",
)


@dataclass(frozen=True, slots=True)
class PackedSections:
    """The data of a report, each part compressed by itself; see `PageData` and `pack`.

    Attributes:
        program: the propagated program.
        plan: the partitioned program.
        costs: its estimated costs.
        reasons: why values aren't sharded further.
    """

    program: str
    plan: str
    costs: str
    reasons: str

    @staticmethod
    def of(data: PageData) -> PackedSections:
        """Return packed data."""
        return PackedSections(
            packed(data.program), packed(data.plan), packed(data.costs), packed(data.reasons)
        )


def render_page(
    explained: ExplainedProgram,
    title: str,
    other: ExplainedProgram | None = None,
    xla: AgainstXla | None = None,
) -> str:
    """Return the report of a program as HTML.

    Args:
        explained: the program.
        title: the name of the program.
        other: another plan to compare with.
        xla: the collectives beside XLA's.

    Raises:
        UsageError: the other plan is for another program.
    """
    with collection_paused():
        data = page_data(explained, title, other, xla)
        return render_sections(title, PackedSections.of(data), data.plan.other)


def render_sections(title: str, sections: PackedSections, other: OtherPlan | None = None) -> str:
    """Return the report with the given data as HTML.

    Args:
        title: the name of the program.
        sections: the data.
        other: the plan that it is compared with.
    """
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("page.html.jinja")).render(
        title=title,
        style="\n".join(_asset(f"{name}.css") for name in _STYLES),
        dagre=_asset("dagre.min.js"),
        scripts="\n".join(_asset(f"{name}.js") for name in _SCRIPTS),
        sections=asdict(sections),
        has_other=other is not None,
        side_by_side=other is not None and other.is_aligned,
        other_title="" if other is None else other.title,
    )


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
