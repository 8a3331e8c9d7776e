# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchanges along several dimensions, whose later ones send the corners."""

import pytest
from auto_programs import HARDWARE

import pyshardy as sdy

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
