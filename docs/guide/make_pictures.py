# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draw the pictures of the guides in this folder: `python docs/guide/make_pictures.py`."""

import re
import sys
from pathlib import Path
from typing import Protocol

import pyshardy as sdy

HERE = Path(__file__).parent
MESH = sdy.Mesh.of({"x": 2, "y": 4, "z": 2})
ROW = sdy.Mesh.of({"x": 4})
EIGHT = sdy.Mesh.of({"x": 2, "y": 8, "z": 2})
SNAKE = sdy.Mesh.of({"x": 2, "y": 4}, device_ids=[0, 1, 2, 3, 7, 6, 5, 4])
LAYER = {
    "x": (50.0, 62.0),
    "up": (140.0, 62.0),
    "hidden": (92.0, 132.0),
    "active": (56.0, 208.0),
    "down": (158.0, 208.0),
    "out": (92.0, 292.0),
}


class Picture(Protocol):
    """A picture that can be written to a file."""

    @property
    def svg(self) -> str:
        """Return the SVG text."""
        ...


def pictures() -> dict[str, Picture]:
    """Return each picture under the name of its file."""
    sys.path.insert(0, str(HERE))
    from layers_picture import Layers  # noqa: PLC0415 (found by the line above)
    from replay_picture import Replay  # noqa: PLC0415 (found by the line above)

    draw, sharding = sdy.draw, sdy.sharding
    return {
        "mesh": sdy.draw_mesh(MESH),
        "basic": draw(sharding('<@mesh, [{"x"}, {"z", "y"}]>'), (4, 8), MESH),
        "order": draw(sharding('<@mesh, [{"x"}, {"y", "z"}]>'), (4, 8), MESH),
        "replicated": draw(sharding('<@mesh, [{"x"}, {?}], replicated={"y"}>'), (4, 8), MESH),
        "unreduced": draw(sharding('<@mesh, [{"x"}, {"z"}], unreduced={"y"}>'), (4, 8), MESH),
        "before_reshape": draw(sharding('<@row, [{"x"}]>'), (8,), ROW),
        "after_reshape": draw(sharding('<@row, [{"x":(1)2}, {"x":(2)2}]>'), (2, 4), ROW),
        "sub_axis": draw(sharding('<@eight, [{"x"}, {"y":(2)2}]>'), (4, 8), EIGHT),
        "uneven": draw(sharding('<@mesh, [{"y"}, {"x", "z"}]>'), (7, 9), MESH),
        "device_ids": draw(sharding('<@snake, [{"x"}, {"y"}]>'), (4, 8), SNAKE),
        "rank3": draw(sharding('<@mesh, [{"x"}, {"y"}, {"z"}]>'), (2, 8, 4), MESH),
        "layers": Layers(),
        "replay": Replay(program_of("propagation", "layer"), LAYER),
    }


def program_of(guide: str, name: str) -> str:
    """Return the program that a guide assigns to a name."""
    text = (HERE / f"{guide}.md").read_text(encoding="utf-8")
    found = re.search(rf'^{name} = """(.*?)"""', text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise LookupError(f"{guide}.md has no program {name}")
    return found[1]


if __name__ == "__main__":
    for name, picture in pictures().items():
        (HERE / f"{name}.svg").write_text(picture.svg, encoding="utf-8")
