# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages that contain reports of programs: those of schedules and of plans."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2

_BASE = "frame.html.jinja"


def render_frame(template: str, package: str, reports: Sequence[str], **values: Any) -> str:
    """Return a page as HTML.

    Args:
        template: the name of a template that extends `frame.html.jinja`.
        package: the package with the template in its folder `assets`.
        reports: the reports as HTML, which the page shows on demand.
        values: the values of the template, with `title` and `kind`.
    """
    texts = {
        _BASE: _asset("pyshardy.explain.page", _BASE),
        template: _asset(package, template),
    }
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(texts),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages = [base64.b64encode(gzip.compress(each.encode(), mtime=0)).decode() for each in reports]
    return environment.get_template(template).render(pages=pages, **values)


def _asset(package: str, name: str) -> str:
    return (resources.files(package) / "assets" / name).read_text(encoding="utf-8")
