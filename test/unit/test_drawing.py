# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of who holds what: complete, right, well-formed, and small for large meshes."""

import io
import itertools
import subprocess
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import pyshardy as sdy
from mlir_sdy.model import device_slices
from pyshardy.drawing.figure import EMPTY, INK, device_lines, shard_color

MESH = sdy.Mesh.of({"x": 2, "y": 4, "z": 2})
SVG = "{http://www.w3.org/2000/svg}"


def draw(text, shape, **sizes):
    return sdy.draw(sdy.sharding(text), shape, sdy.Mesh.of(sizes) if sizes else MESH)


def panels_of(drawing):
    return [panel for panels in drawing.figure.panels for panel in panels if panel is not None]


def tiles_of(drawing):
    return [
        tile
        for panel in panels_of(drawing)
        for tile in itertools.chain.from_iterable(panel.tiles)
        if tile is not None
    ]


def held(drawing):
    """The devices of each tile that is shown, by the tile's slice."""
    return {tile.where: tile.devices for tile in tiles_of(drawing)}


def texts_of(svg):
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter(f"{SVG}text")]


def printed(drawing, width=200):
    console = Console(file=io.StringIO(), width=width, color_system="truecolor", record=True)
    console.print(drawing)
    return console.export_text()


# --- Who holds what ---------------------------------------------------------------------------


def test_matrix():
    assert held(draw('<@mesh, [{"x"}, {"z"}]>', (4, 8))) == {
        "[0:2, 0:4]": (0, 2, 4, 6),
        "[0:2, 4:8]": (1, 3, 5, 7),
        "[2:4, 0:4]": (8, 10, 12, 14),
        "[2:4, 4:8]": (9, 11, 13, 15),
    }


def test_part_of_an_axis():
    assert held(draw('<@mesh, [{"x":(2)2}]>', (8,), x=8)) == {
        "[0:4]": (0, 1, 4, 5),
        "[4:8]": (2, 3, 6, 7),
    }


def test_device_ids():
    mesh = sdy.Mesh.of({"x": 4}, device_ids=[3, 1, 0, 2])
    assert held(sdy.draw(sdy.sharding('<@m, [{"x"}]>'), (4,), mesh)) == {
        "[0:1]": (3,),
        "[1:2]": (1,),
        "[2:3]": (0,),
        "[3:4]": (2,),
    }


def test_scalar():
    drawing = draw("<@mesh, []>", ())
    assert held(drawing) == {"[]": tuple(range(16))}
    assert drawing.figure.subtitle == "scalar over 16 devices: scalar on each"


def test_one_device():
    drawing = sdy.draw(sdy.sharding("<mesh<[], device_ids=[7]>, []>"), (4, 8))
    assert held(drawing) == {"[0:4, 0:8]": (7,)}


def test_padding():
    drawing = draw('<@mesh, [{"x"}]>', (5,), x=4)
    tiles = tiles_of(drawing)
    assert [tile.elements for tile in tiles] == [(1, 2), (1, 2), (1, 1), (0, 0)]
    assert [tile.note for tile in tiles] == ["", "", "1", "empty"]
    assert "padding" in texts_of(drawing.svg)
    assert "padding" not in texts_of(draw('<@mesh, [{"x"}]>', (8,), x=4).svg)


def test_pieces_that_are_empty_are_told_apart():
    assert [tile.devices for tile in tiles_of(draw('<@m, [{"x"}]>', (1,), x=3))] == [
        (0,),
        (1,),
        (2,),
    ]


def test_higher_ranks_have_a_panel_for_each_leading_slice():
    drawing = draw('<@mesh, [{"x"}, {}, {"y"}, {"z"}]>', (2, 1, 4, 2))
    assert [panel.title for panel in panels_of(drawing)] == ["[0:1, 0:1, :, :]", "[1:2, 0:1, :, :]"]
    assert [len(row) for row in drawing.figure.panels] == [1, 1]
    assert len(held(drawing)) == 16


def test_empty_along_a_leading_dimension():
    drawing = draw('<@mesh, [{"x"}, {}, {}]>', (3, 2, 2), x=4)
    assert [tile.note for tile in tiles_of(drawing)] == ["", "", "", "empty"]
    assert tiles_of(drawing)[-1].elements == (0, 0)


@st.composite
def sharded_tensors(draw):
    names = "xyz"[: draw(st.integers(1, 3))]
    mesh = sdy.Mesh.of({name: draw(st.integers(1, 3)) for name in names})
    rank = draw(st.integers(1, 4))
    axes = [[] for _ in range(rank)]
    for name in draw(st.permutations(names)):
        if draw(st.booleans()):
            axes[draw(st.integers(0, rank - 1))].append(sdy.AxisRef(name))
    shape = tuple(draw(st.lists(st.integers(0, 7), min_size=rank, max_size=rank)))
    return sdy.TensorSharding.from_axes("m", map(tuple, axes)), shape, mesh


@given(sharded_tensors())
@settings(max_examples=60, deadline=None)
def test_every_device_is_on_the_tile_of_its_slice(case):
    sharding, shape, mesh = case
    drawing = sdy.draw(sharding, shape, mesh)
    slices = device_slices(sharding, mesh, shape)
    found = {device: tile.where for tile in tiles_of(drawing) for device in tile.devices}
    if not any(None in row for panel in panels_of(drawing) for row in panel.tiles) and not any(
        None in row for row in drawing.figure.panels
    ):
        assert set(found) == set(slices)
    for device, where in found.items():
        parts = (f"{part.start}:{part.stop}" for part in slices[device])
        assert where == f"[{', '.join(parts)}]"
    ET.fromstring(drawing.svg)
    assert printed(drawing)


# --- What the tiles can't show ----------------------------------------------------------------


def test_captions():
    text = '<@mesh, [{"x":(1)2}, {?}], replicated={"y"}, unreduced=max{"z"}>'
    assert draw(text, (4, 8), x=4, y=2, z=2).figure.captions == (
        'mesh <["x"=4, "y"=2, "z"=2]>',
        'replicated over "x":(2)2',
        'replicated over "y", explicitly',
        'partial values over "z", to be combined by max',
    )


def test_an_inlined_mesh_is_in_the_title():
    drawing = sdy.draw(sdy.sharding('<mesh<["x"=2]>, [{"x"}]>'), (4,))
    assert drawing.figure.title == '<mesh<["x"=2]>, [{"x"}]>'
    assert drawing.figure.captions == ()


@pytest.mark.parametrize(
    ("text", "shape", "reason"),
    [
        ('<@m, [{"x"}]>', (4, 8), "has 1 dimensions, the shape 4x8 has 2"),
        ("<@m, []>", (4,), "has 0 dimensions, the shape 4 has 1"),
        ('<@m, [{"w"}]>', (4,), 'unknown axis name: "w"'),
        ('<@m, [{"y":(3)2}]>', (4,), "does not divide its axis"),
        ('<@m, [{"x"}, {"x"}]>', (4, 4), "cannot both be used"),
        ('<@m, [{"x"}]>', (-1,), "dynamic shape"),
    ],
)
def test_what_has_no_picture(text, shape, reason):
    with pytest.raises(sdy.ModelError, match=reason):
        draw(text, shape)


def test_a_mesh_is_needed():
    with pytest.raises(sdy.ModelError, match='pass the mesh @"a b"'):
        sdy.draw(sdy.TensorSharding.fully_open(1, "a b"), (4,))


# --- Images -----------------------------------------------------------------------------------


def test_large_meshes_stay_small():
    drawing = draw('<@m, [{"x"}, {"y"}]>', (1024, 1024), x=32, y=16)
    (panel,) = panels_of(drawing)
    assert len(panel.tiles) == len(panel.tiles[0]) == 10
    assert panel.column_labels[-2:] == ("⋯", "960:1024")
    assert panel.tiles[-1][-1].devices == (511,)
    assert "⋮" in texts_of(drawing.svg)
    high_rank = draw('<@m, [{"x"}, {"y"}, {"z"}, {"w"}]>', (8, 8, 8, 8), x=8, y=8, z=8, w=8)
    assert len(tiles_of(high_rank)) == 3**4
    assert len(high_rank.svg) < 100_000
    assert "⋮" in printed(high_rank)


def test_many_devices_on_a_tile():
    assert device_lines(range(512)) == ["0-511"]
    assert device_lines([0, 1, 4, 5]) == ["0 1 4 5"]
    assert device_lines([0, 1, 2, 5, 7, 8]) == ["0-2 5 7 8"]
    assert device_lines(range(0, 512, 2)) == ["0 2 4 6 8 10", "12 14 16 18", "… 256 in all"]


def test_texts_are_escaped():
    mesh = sdy.Mesh.of({'<b>&"é': 2})
    svg = sdy.draw(sdy.TensorSharding.from_axes("m", [(sdy.AxisRef('<b>&"é'),)]), (2,), mesh).svg
    assert any(text.startswith('<@m, [{"<b>&') for text in texts_of(svg))


def test_images_are_self_contained_and_the_same_every_time():
    svg = draw('<@mesh, [{"x"}, {"z", "y"}]>', (4, 7)).svg
    assert svg == draw('<@mesh, [{"x"}, {"z", "y"}]>', (4, 7)).svg
    tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(svg).iter()}
    assert tags == {"svg", "g", "title", "text", "rect", "path"}
    assert " id=" not in svg
    assert "href" not in svg


def test_shards_have_colours_on_which_ink_is_readable():
    colors = [shard_color(number, 8) for number in range(8)]
    assert len(set(colors)) == 8
    for color in [*colors, EMPTY, *(shard_color(number, 64, darker=True) for number in range(64))]:
        assert (_luminance(color) + 0.05) / (_luminance(INK) + 0.05) > 7


def _luminance(color):
    """The relative luminance of `#rrggbb`, as the guidelines for accessibility define it."""
    linear = []
    for at in (1, 3, 5):
        part = int(color[at : at + 2], 16) / 255
        linear.append(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_texts_are_inside_of_the_image():
    svg = draw(
        '<@m, [{"a long name", "another long name"}]>',
        (4,),
        **{
            "a long name": 2,
            "another long name": 1,
        },
    ).svg
    root = ET.fromstring(svg)
    for element in root.iter(f"{SVG}text"):
        share = {"middle": 0.5, "end": 1.0}.get(element.get("text-anchor"), 0.0)
        width = len(element.text) * float(element.get("font-size", root.get("font-size"))) * 0.61
        left = float(element.get("x")) - share * width
        assert left >= 0
        assert left + width <= float(root.get("width"))


def test_save(tmp_path):
    drawing = draw('<@mesh, [{"x"}]>', (4,))
    drawing.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text(encoding="utf-8") == drawing.svg


# --- Terminal, notebook, REPL -----------------------------------------------------------------


def test_table():
    lines = printed(draw('<@mesh, [{"x"}, {"z"}]>', (3, 8))).split("\n")
    assert [line.rstrip() for line in lines[3:]] == [
        "",
        "        0:4          4:8",
        "0:2   0 2 4 6      1 3 5 7",
        "",
        "2:3  8 10 12 14   9 11 13 15",
        "       (1x4)        (1x4)",
        "",
        'mesh <["x"=2, "y"=4, "z"=2]>',
        'replicated over "y"',
        "",
    ]


def test_panels_wrap_in_a_terminal():
    lines = printed(draw('<@mesh, [{"y"}, {"x"}, {"z"}]>', (4, 2, 2)), width=40).split("\n")
    assert max(map(len, lines)) <= 40
    assert sum("[3:4, :, :]" in line for line in lines) == 1


def test_repr():
    drawing = draw('<@mesh, [{"x"}, {}]>', (4, 8))
    assert repr(drawing) == 'Drawing(<@mesh, [{"x"}, {}]>, 4x8 over 16 devices: 2x8 on each)'
    assert drawing._repr_svg_() == drawing.svg
    assert drawing.svg in drawing._repr_html_()


def test_attributes_in_a_notebook():
    context = sdy.Context()

    def html_of(text):
        module = sdy.parse(f"module attributes {{builtin.a = {text}}} {{}}", context)
        return module.operation.attributes["builtin.a"]._repr_html_()

    named = html_of('#sdy.sharding<@m, [{"x"}]>')
    assert named == "<code>TensorShardingAttr(&lt;@m, [{&quot;x&quot;}]&gt;)</code>"
    assert "<svg" in html_of('#sdy.sharding<mesh<["x"=2]>, [{"x"}]>')
    assert "<svg" in html_of('#sdy.mesh<["x"=2]>')
    assert "<svg" not in html_of('#sdy<axis_ref"x">')


def test_drawing_needs_no_host_and_no_terminal():
    program = """
import sys
from pyshardy.drawing import draw
from mlir_sdy.model import AxisRef, Mesh, TensorSharding
draw(TensorSharding.from_axes("m", [(AxisRef("x"),)]), (4,), Mesh.of({"x": 2})).svg
assert not {"torch_mlir", "numpy", "rich"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# --- Meshes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mesh", "places", "subtitle"),
    [
        (sdy.Mesh.of({"x": 2}, [1, 0]), {'"x"=0': (1,), '"x"=1': (0,)}, "2 devices"),
        (sdy.Mesh.of({}, [7]), {"": (7,)}, "device 7 alone"),
        (sdy.Mesh.of({}), {}, "no axes and no devices: compatible with any mesh"),
    ],
)
def test_mesh(mesh, places, subtitle):
    drawing = sdy.draw_mesh(mesh)
    assert held(drawing) == places
    assert drawing.figure.subtitle == subtitle
    ET.fromstring(drawing.svg)
    assert subtitle in printed(drawing)


def test_axes_of_a_mesh():
    drawing = sdy.draw_mesh(MESH)
    assert [panel.title for panel in panels_of(drawing)] == ['"x"=0', '"x"=1']
    assert (drawing.figure.row_axis, drawing.figure.column_axis) == ('"y"', '"z"')
    assert held(drawing)['"x"=1, "y"=2, "z"=0'] == (12,)


def test_values_bring_their_shape_and_mesh():
    module = sdy.parse(PROGRAM, sdy.Context())
    sharded, unsharded = sdy.values(module).find("*")
    mesh = sdy.Mesh.of({"x": 2, "y": 2})
    expected = sdy.draw(sdy.get_sharding(sharded), (8, 4), mesh).svg
    assert sdy.draw(sharded).svg == expected
    assert sdy.draw(unsharded).svg == sdy.draw(sdy.sharding("<@mesh, [{}]>"), (4,), mesh).svg
    program = sdy.partition(module)
    assert sdy.draw(program.inputs[0]).svg == expected
    (result, _) = program.run_sharded([np.ones((8, 4)), np.ones(4)])
    assert sdy.draw(result).svg == expected
    assert repr(result) == 'ShardedArray(result 0: tensor<8x4xf32>, <@mesh, [{"x"}, {"y"}]>)'
    with pytest.raises(sdy.ModelError, match="the shape of the tensor is missing"):
        sdy.draw(sdy.get_sharding(sharded))
    with pytest.raises(sdy.ModelError, match="expected a sharding, a value or a sharded array"):
        sdy.draw("%0")


PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("a"),
    %b: tensor<4xf32> loc("b"))
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<4xf32>) {
  return %a, %b : tensor<8x4xf32>, tensor<4xf32>
}
"""


def test_values_of_explanations():
    explained = sdy.explain(PROGRAM)
    by_name, by_value = (
        sdy.draw(each) for each in (explained.value("arg0"), explained.values["arg0"])
    )
    assert by_name.svg == by_value.svg
    assert held(by_name)["[0:4, 0:2]"] == (0,)


def test_arrays_without_axes_are_not_drawn():
    array = SimpleNamespace(shape=(8,), sharding=SimpleNamespace(device_set={1, 2}))
    with pytest.raises(sdy.ModelError, match="only arrays with a NamedSharding"):
        sdy.draw(array)
