# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives of optimised HLO, and ours beside XLA's."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from pyshardy.backends.xla.hlo import HloCollective, collectives_of
from pyshardy.explain.against_xla import ComparedKind, against_xla, compared
from pyshardy.explain.program import explain_program

HLO = """
%body (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %sum = f32[8]{0} all-reduce(%p), replica_groups={{0,1},{2,3}}, to_apply=%add
}

ENTRY %main (x: bf16[2,8]) -> bf16[8,8] {
  %x = bf16[2,8]{1,0} parameter(0)
  %loop = f32[8]{0} while(%x), body=%body, backend_config={"known_trip_count":{"n":"3"}}
  %moved = bf16[2,8] collective-permute(%x), source_target_pairs={{0,1},{1,0}}
  ROOT %gathered = bf16[8,8]{1,0} all-gather(%x), replica_groups=[1,4]<=[4], dimensions={0}
}
"""


def test_collectives_of_hlo():
    assert collectives_of(HLO, 4) == [
        HloCollective("all-reduce", 2, 32.0, 3, "", ((0, 1), (2, 3))),
        HloCollective("collective-permute", 2, 16.0, 1, "", (), ((0, 1), (1, 0))),
        HloCollective("all-gather", 4, 96.0, 1, "", ((0, 1, 2, 3),)),
    ]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{}", [(0, 1, 2, 3)]),
        ("{{0,2},{1,3}}", [(0, 2), (1, 3)]),
        ("[2,2]<=[4]", [(0, 1), (2, 3)]),
        ("[2,2]<=[2,2]T(1,0)", [(0, 2), (1, 3)]),
        ("mesh['x'=2,'y'=2] {'x'}", [(0, 2), (1, 3)]),
        ("mesh['x'=4] {'x':(2)2}", [(0, 1), (2, 3)]),
    ],
)
def test_forms_of_replica_groups(text, groups):
    listed = HLO.replace("{{0,1},{2,3}}", text)
    assert collectives_of(listed, 4)[0].groups == tuple(groups)


def test_places_of_hlo():
    """An operation refers to tables of stack frames, locations and files."""
    tables = (
        'HloModule m\n\nFileNames\n1 "model.py"\n2 "other.py"\n\nFunctionNames\n1 "f"\n\n'
        "FileLocations\n1 {file_name_id=2 function_name_id=1 line=7}\n"
        "2 {file_name_id=1 function_name_id=1 line=12 column=3}\n\n"
        "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2}\n"
    )
    metadata = 'dimensions={0}, metadata={op_name="jit(f)/mlp/dot" stack_frame_id=2}'
    *_, gathered = collectives_of(tables + HLO.replace("dimensions={0}", metadata), 4)
    assert (gathered.source, gathered.place) == ("jit(f)/mlp/dot", "model.py:12")


def test_both_sides():
    ours = collectives_of(HLO, 4)
    comparison = compared(ours, ours[:1] * 2)
    assert comparison.kinds[:2] == (
        ComparedKind("all-reduce", 2, (1, 2), (96, 192)),
        ComparedKind("all-gather", 4, (1, 0), (96, 0)),
    )
    assert comparison.nbytes_sent == (208, 192)
    assert "pyshardy: 3 collectives, 208 bytes sent" in comparison.summary()


def test_xla_compiles_both():
    pytest.importorskip("jaxlib")
    module = parse(
        """
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                        %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
            -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
          %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
            : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }""",
        Context(),
    )
    annotated = asm(module)
    comparison = against_xla(annotated, explain_program(module).program)
    assert comparison.kinds == (ComparedKind("all-reduce", 4, (1, 1), (384, 384)),)
