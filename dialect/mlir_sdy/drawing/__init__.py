# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of which device holds which slice of a tensor, and of meshes.

| module     | what it holds                                                        |
|------------|----------------------------------------------------------------------|
| `drawing`  | `draw`, `draw_mesh`, and the `Drawing` that they return              |
| `figure`   | what there is to see: panels of tiles, of which too many are left out |
| `tensors`  | the figure of a sharded tensor                                       |
| `meshes`   | the figure of a mesh                                                 |
| `svg`      | a figure as a self-contained SVG image                               |
| `terminal` | a figure as a coloured table                                         |
| `colors`   | the colours of shards                                                |
| `notebook` | what a notebook shows for a value                                    |
"""

from mlir_sdy.drawing.drawing import Drawing, draw, draw_mesh
from mlir_sdy.drawing.notebook import html_of

__all__ = ["Drawing", "draw", "draw_mesh", "html_of"]
