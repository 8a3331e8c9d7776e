# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the pictures of the guide beside this file: `python docs/guide/make_pictures.py`."""

from pathlib import Path

import pyshardy as sdy

HERE = Path(__file__).parent
MESH = sdy.Mesh.of({"x": 2, "y": 4, "z": 2})
ROW = sdy.Mesh.of({"x": 4})
EIGHT = sdy.Mesh.of({"x": 2, "y": 8, "z": 2})
SNAKE = sdy.Mesh.of({"x": 2, "y": 4}, device_ids=[0, 1, 2, 3, 7, 6, 5, 4])


def pictures() -> dict[str, sdy.Drawing]:
    """Each picture by the name of its file."""
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
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        picture.save(HERE / f"{name}.svg")
