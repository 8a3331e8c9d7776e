# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HTML representations of attributes in notebooks.

The dialect shows text. A package on top of it may install a renderer that adds pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Renderer = Callable[[str, Any], str]
"""A function from the text of an attribute and its plain value to HTML."""


def _text_only(text: str, value: Any) -> str:
    import html  # noqa: PLC0415 (a tenth of the time of `import pyshardy`)

    del value
    return f"<code>{html.escape(text)}</code>"


_renderer: Renderer = _text_only


def set_renderer(renderer: Renderer) -> None:
    """Install a renderer for all attributes."""
    global _renderer  # noqa: PLW0603 (one notebook, one representation)
    _renderer = renderer


def html_of(text: str, value: Any) -> str:
    """Return the HTML of an attribute, given its text and its plain value."""
    return _renderer(text, value)
