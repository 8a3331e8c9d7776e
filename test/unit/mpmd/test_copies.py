# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fragments that only return their arguments."""

import pytest

import pyshardy as sdy

TEXT = """
sdy.mesh @mesh = <["x"=2]>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x4xf32>>
func.func @main(%a: !m1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (!m2 {sdy.sharding = #sdy.sharding<@mesh, [RETURNED]>}, !m1)
    attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m1) -> !m2
  return %0, %a : !m2, !m1
}
"""


@pytest.mark.parametrize(("returned", "is_warned_of"), [('{"x"}, {}', False), ('{}, {"x"}', True)])
def test_copies_with_other_shardings_are_warned_of(capsys, returned, is_warned_of):
    """The argument that is returned is copied anyway; the transferred value only to reshard it."""
    module = sdy.parse(TEXT.replace("RETURNED", returned), sdy.Context())
    program = sdy.mpmd.partition(module, schedule="none", transfers="same-sharding")
    assert len(program.plan.calls) == 1 + is_warned_of
    assert ("Detected reshard-only fragment" in capsys.readouterr().err) is is_warned_of
