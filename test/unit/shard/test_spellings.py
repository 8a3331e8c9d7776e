# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Older spellings are read, and all else stays as it is."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import VerificationError
from mlir_sdy.shard.spellings import in_current_spelling


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
    ],
)
def test_replaced(older, current):
    assert in_current_spelling(older) == current


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
        "#sdy.sharding<@mesh, []>",
        "#shard.partial<max",
    ],
)
def test_left(text):
    assert in_current_spelling(text) == text


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
