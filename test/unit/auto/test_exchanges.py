# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchanges along several dimensions, whose later ones send the corners."""

import pytest
from auto_programs import HARDWARE

import pyshardy as sdy
from mlir_sdy.model import AxisRef
from pyshardy.auto.strategies.costs import ReshardCosts, SentBytes
from pyshardy.partition.resharding.cost import Reshard, reshard_collectives

CONVOLUTION = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%i: tensor<1x16x16x4xf32> {sdy.sharding = SHARDED}, %k: tensor<3x3x4x4xf32>)
    -> (tensor<1xSIZExSIZEx4xf32> {sdy.sharding = SHARDED}) {
  %0 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {WINDOW} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x16x16x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1xSIZExSIZEx4xf32>
  return %0 : tensor<1xSIZExSIZEx4xf32>
}"""
SHARDED = '#sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>'


@pytest.mark.parametrize(
    ("window", "size", "along_x", "along_y"),
    [
        ("pad = [[1, 1], [1, 1]]", 16, 2 * 8, 2 * (8 + 2)),
        ("stride = [2, 2], pad = [[0, 1], [0, 1]]", 8, 8, 8 + 1),
        ("pad = [[2, 2], [2, 2]], rhs_dilate = [2, 2]", 16, 4 * 8, 4 * (8 + 4)),
    ],
    ids=["centered", "strides", "dilation"],
)
def test_the_corners_of_an_image_are_predicted(window, size, along_x, along_y):
    """Each position has 16 bytes. Columns are exchanged after rows, with those of the neighbor."""
    text = CONVOLUTION.replace("SHARDED", SHARDED)
    text = text.replace("SIZE", str(size)).replace("WINDOW", window)
    check = sdy.auto_shard(sdy.parse(text), hardware=HARDWARE, objective="bytes").check()
    expected = {
        ("collective_permute", "x"): 16.0 * along_x,
        ("collective_permute", "y"): 16.0 * along_y,
    }
    assert check.predicted == expected
    assert check.counted == expected


def test_reshards_take_a_way_that_the_dimensions_permit():
    """4 rows can't be sliced along both axes first, for one all-to-all, as 8 rows can."""
    mesh = sdy.Mesh({"x": 4, "y": 2})
    x, y = AxisRef("x"), AxisRef("y")
    source, target = ((x,), ()), ((), (x, y))
    costs = ReshardCosts(mesh, SentBytes())
    for shape in ((8, 16), (4, 16), (12, 48)):
        nbytes = 4 * shape[0] * shape[1]
        found = costs.collectives(nbytes, shape, source, target)
        assert found == reshard_collectives(Reshard(shape, 4, source, target, mesh))
        matrix = costs.matrix(nbytes, shape, [source], [target])
        assert matrix[0, 0] == sum(each.sent for each in found)
