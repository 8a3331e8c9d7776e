# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rendering of the report as a single file."""

from __future__ import annotations

import json
from importlib import resources

import jinja2

from pyshardy.explain.page.data import page_data
from pyshardy.explain.plain import plain
from pyshardy.explain.program import ExplainedProgram

_ASSETS = resources.files("pyshardy.explain.page") / "assets"
_SCRIPTS = ("state", "colors", "layout", "graph", "details", "tables", "replay", "search", "main")


def render_page(explained: ExplainedProgram, title: str) -> str:
    """Return the report of a program as HTML.

    Args:
        explained: the program.
        title: the name of the program.
    """
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("page.html.jinja")).render(
        title=title,
        style=_asset("page.css"),
        scripts="\n".join(_asset(f"{name}.js") for name in _SCRIPTS),
        data=_as_script(plain(page_data(explained, title))),
    )


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _as_script(value: object) -> str:
    """Return JSON that is escaped for a script element."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
