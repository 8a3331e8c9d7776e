# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of the slices of a tensor on devices, and of meshes.

| module     | contents                                                    |
|------------|-------------------------------------------------------------|
| `drawing`  | `draw`, `draw_mesh`, and the `Drawing` that they return     |
| `figure`   | figures: panels of tiles, abbreviated if there are too many |
| `svg`      | a figure as a self-contained SVG image                      |
| `terminal` | a figure as a colored table                                 |
"""

from pyshardy.drawing.drawing import Drawing, draw, draw_mesh, html_of

__all__ = ["Drawing", "draw", "draw_mesh", "html_of"]
