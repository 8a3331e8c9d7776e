# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both sides of the edge of a manual computation."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from pyshardy.passes.propagating import basic_propagate

PROGRAM = """sdy.mesh @m = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"a", ?}}]>}}) {{
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{{"a", ?}}], {unreduced}>]
      out_shardings=[<@m, [{{"a", ?}}], {unreduced}>] manual_axes={{"a"}} (%arg: tensor<4xf32>) {{
    %e = sdy.data_flow_edge %arg sharding=<@m, [{{?}}], {unreduced}> : tensor<4xf32>
    %s = sdy.sharding_constraint %e <@m, [{{"b", ?}}]> : tensor<4xf32>
    sdy.return %s : tensor<4xf32>
  }} : (tensor<8xf32>) -> tensor<8xf32>
  %o = sdy.data_flow_edge %0 sharding=<@m, [{{"a", ?}}], {unreduced}> : tensor<8xf32>
  return
}}
"""


@pytest.mark.parametrize("unreduced", ['unreduced={"c"}', 'unreduced=max{"c"}'])
def test_the_kind_of_reduction_goes_through(unreduced):
    """The value stays what it is: partial maxima don't become partial sums."""
    module = parse(PROGRAM.format(unreduced=unreduced), Context())
    basic_propagate(module)
    text = asm(module)
    assert f'sdy.data_flow_edge %arg1 sharding=<@m, [{{"b", ?}}], {unreduced}>' in text
    assert f'sdy.data_flow_edge %0 sharding=<@m, [{{"a", "b", ?}}], {unreduced}>' in text
