# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose inputs and outputs have layouts."""

import numpy as np

import pyshardy as sdy

TEXT = """
!m1 = !mpmd.mesh_tensor<"m1", tensor<2x4xf32>>
func.func @main(%a: !m1 {mhlo.layout_mode = "{0,1}"})
    -> (!m1 {mhlo.layout_mode = "auto"})
    attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<2x4xf32>) {
    %1 = stablehlo.negate %x : tensor<2x4xf32>
    mpmd.return %1 : tensor<2x4xf32>
  } : (!m1) -> !m1
  return %0 : !m1
}
"""


def test_fragments_run_in_the_default_layout():
    """The program tells the layouts of its fragments, whose own programs have none."""
    program = sdy.mpmd.partition(sdy.parse(TEXT, sdy.Context()), schedule="none")
    exported = str(program.module)
    assert exported.count('mhlo.layout_mode = "{0,1}"') == 2
    assert exported.count('mhlo.layout_mode = "auto"') == 2
    assert "layout_mode" not in str(program.fragments["p0_f.main"].program.module)
    (result,) = program.run([np.ones((2, 4), np.float32)], "interpreter")
    np.testing.assert_array_equal(result, -np.ones((2, 4)))
