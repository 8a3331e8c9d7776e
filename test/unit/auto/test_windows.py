# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computation beside which a collective of a value can run, as it doesn't depend on the value."""

import pyshardy as sdy
from pyshardy.auto.search.hiding import Windows

LAYER = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x8xf32>, %dy: tensor<8x8xf32>, %w: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %dx = stablehlo.dot_general %dy, %w, contracting_dims = [1] x [1]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = stablehlo.tanh %dx : tensor<8x8xf32>
  %d = stablehlo.dot_general %t, %z, contracting_dims = [1] x [1]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d, %dw : tensor<8x8xf32>, tensor<8x8xf32>
}
"""


def test_a_gradient_waits_beside_the_gradient_of_weights():
    plan = sdy.auto_shard(sdy.parse(LAYER), hardware="h100", overlap="schedule")
    graph = plan.search.built.graph
    products = [
        number for number, site in enumerate(graph.sites) if site.title == "stablehlo.dot_general"
    ]
    y, z, dx, dw, d = products
    windows = Windows(graph, [float(number in products) for number in range(len(graph.sites))])
    beside = {each: windows.covered(0, [windows.of_site(each)]) for each in products}
    time = {each: graph.sites[each].time for each in products}
    assert beside == {
        y: set(),
        z: {time[dx], time[dw]},
        dx: {time[dw]},  # through the tanh, the last product needs it
        dw: {time[d]},
        d: set(),
    }
    assert windows.seconds(0, windows.of_site(z)) == 2
