# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HTML representation of values of the dialect in notebooks."""

from __future__ import annotations

import html
from typing import Any

from mlir_sdy.model import Mesh
from pyshardy.drawing.drawing import draw_mesh


def html_of(text: str, value: Any) -> str:
    """Return a value as HTML: its text, and a picture of its mesh if it is known.

    Args:
        text: the text of the value.
        value: the plain value; a sharding that only names its mesh has no picture.
    """
    shown = f"<code>{html.escape(text)}</code>"
    mesh = value if isinstance(value, Mesh) else getattr(value, "mesh_or_ref", None)
    return shown + draw_mesh(mesh)._repr_html_() if isinstance(mesh, Mesh) else shown
