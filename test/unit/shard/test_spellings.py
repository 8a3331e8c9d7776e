# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Older spellings are read, and all else stays as it is."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import ParseError, VerificationError
from mlir_sdy.host import location_of
from mlir_sdy.shard.spellings import in_current_spelling
from pyshardy.irtools.walks import operations_named


@pytest.mark.parametrize(
    ("older", "current"),
    [
        (
            "shard.all_reduce %0 on @g grid_axes = [1] reduction = <max>\n : tensor<2xf32> -> ...",
            "shard.all_reduce %0 on @g grid_axes = [1] reduction =  max \n : tensor<2xf32> -> ...",
        ),
        (
            "shard.reduce_scatter %0 on @g reduction = <sum> scatter_axis = 0 : ...",
            "shard.reduce_scatter %0 on @g reduction =  sum  scatter_dim  = 0 : ...",
        ),
        ("#shard.partial<max>", "#shard<partial max>"),
        ("#shard.axisarray<[[0], [1, 2]]>", "#shard<axisarray[[0], [1, 2]]> "),
        (
            "shard.sharding @g split_axes = [[0], []] halo_sizes = [1, 2]\n%1 = ",
            "shard.sharding @g split_axes = [[0], []] halo_sizes = [1, 2] : !shard.sharding\n%1 = ",
        ),
        (
            "%i = shard.neighbors_linear_indices on @g[%a, %b] split_axes = [1] : index\n",
            "%i:2=shard.neighbors_linear_indices on @g[%a, %b] split_axes = [1] : index, index\n",
        ),
        (
            'shard.sharding @g split_axes = [[0], [1]] {note = "x"}\n',
            'shard.sharding @g split_axes = [[0], [1]] {note = "x"} : !shard.sharding\n',
        ),
        (
            "shard.sharding @g // split_axes\n  split_axes = [[0]] // : none\n",
            "shard.sharding @g // split_axes\n  split_axes = [[0]] : !shard.sharding // : none\n",
        ),
        (
            'shard.grid "private" @g(shape = 4x2)\n',
            'shard.grid           @g(shape = 4x2) {sym_visibility = "private"}\n',
        ),
        (
            'shard.grid "private" @g(shape = 4x2) {note}\n',
            'shard.grid           @g(shape = 4x2) {sym_visibility = "private", note}\n',
        ),
    ],
)
def test_replaced(older, current):
    assert in_current_spelling(older).text == current


@pytest.mark.parametrize(
    "text",
    [
        '"a string: shard.reduce reduction = <max>"',
        "// shard.reduce reduction = <max>",
        "my.shard.reduce %0 reduction = <max> : i32",
        "other.reduce reduction = <max> // shard.",
        "shard.all_reduce %0 on @g : tensor<2xf32> -> tensor<2xf32>\nmy.op reduction = <max>",
        "shard.sharding @g split_axes = [[0]] halo_sizes = [1, 2] : !shard.sharding",
        "shard.sharding @g split_axes = [[0]] {note} : !shard.sharding",
        "%i:2 = shard.neighbors_linear_indices on @g[%a] split_axes = [0] : index, index",
        "%d, %u = shard.neighbors_linear_indices on @g[%a] split_axes = [0] : index, index",
        "shard.scatter %0 // formerly scatter_axis = 7\n scatter_dim = 0 : tensor<2xf32>",
        "shard.reduce %0 // reduction = <min>\n : tensor<2xf32>",
        'shard.sharding @g split_axes = [[0]] {note = "}"} : !shard.sharding',
        "shard.grid @g(shape = 4x2)",
        "#sdy.sharding<@mesh, []>",
        "#shard.partial<max",
    ],
)
def test_left(text):
    assert in_current_spelling(text) == (text, ())


def test_places_stay_what_they_are(context):
    older = "%0 = shard.all_reduce %a on @g reduction = <max> : tensor<4xf32> -> tensor<4xf32> "
    wrong = "%1 = shard.all_slice %0 on @g slice_axis = 1 : tensor<4xf32> -> tensor<4xf32>"
    text = f"""
      shard.grid @g(shape = 2)
      func.func @f(%a: tensor<4xf32>) {{
        {older} {wrong}
        return
      }}"""
    with pytest.raises(VerificationError, match="slice_axis 1 is out of range") as failure:
        parse(text, context, "f.mlir")
    place = failure.value.diagnostics[0].location
    line = text.splitlines()[3]
    assert (place.line, place.column) == (4, line.index("shard.all_slice") + 1)


def test_places_behind_insertions_stay_what_they_are(context):
    """Both those of diagnostics and those of operations."""
    lines = [
        'shard.grid "private" @g(shape = 2) func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {',
        "  %s = shard.sharding @g split_axes = [[0]]  %0 = shard.shard %a to %s : tensor<4xf32>",
        "  %t = shard.sharding @g split_axes = [[0]] {note}  %1 = math.absf %0 : tensor<4xf32>",
        "  return %1 : tensor<4xf32>",
        "}",
    ]
    module = parse("\n".join(lines), context, "f.mlir")
    for name in ("func.func", "shard.shard ", "math.absf"):
        (line,) = (number for number, text in enumerate(lines, 1) if name in text)
        (found,) = operations_named({name.strip()}, module)
        place = location_of(found.location)
        assert (place.line, place.column) == (line, lines[line - 1].index(name) + 1)
    assert "sym_visibility" in module.body.operations[0].operation.attributes
    lines[2] = lines[2].replace("math.absf %0", "math.absf %9")
    with pytest.raises(ParseError) as failure:
        parse("\n".join(lines), context, "f.mlir")
    place = failure.value.diagnostics[0].location
    assert (place.line, place.column) == (3, lines[2].index("%9") + 1)
