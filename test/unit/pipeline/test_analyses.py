# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analyses are made once, and again when a pass may have changed what they are about."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.values import map_shardings
from pyshardy.irtools.analyses import analyses_kept, forget_analyses, module_analysis
from pyshardy.irtools.shardings import result_kinds
from pyshardy.pipeline import run_pipeline

TEXT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<MESH, [DIMS]>]>}
      : tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}"""


def module_of(context, dims, mesh="@mesh"):
    return parse(TEXT.replace("DIMS", dims).replace("MESH", mesh), context)


def test_made_once(context):
    module = module_of(context, '{"x"}, {}')
    asked: list[str] = []

    @module_analysis
    def number(operation):
        asked.append(operation.name)
        return len(asked)

    assert [number(module.operation) for _ in range(2)] == [1, 2], "nothing is kept outside"
    with analyses_kept():
        assert [number(module.operation) for _ in range(2)] == [3, 3]
        forget_analyses()
        assert number(module.operation) == 4
        other = module_of(context, "{}, {}")
        assert number(other.operation) == 5
    assert number(module.operation) == 6


def test_result_kinds(context):
    (kind,) = result_kinds(module_of(context, '{"x"}, {}').operation)
    assert str(kind.types[0]) == "tensor<8x1xf32>"


@pytest.mark.parametrize(
    ("dims", "mesh", "written"),
    [
        ('{"x"}, {}', "@mesh", '<@mesh, [{"x"}, {}]>'),
        # What a pass changes is news to the next one.
        ('{?}, {"x", ?}', "@mesh", "<@mesh, [{}, {}]>"),
        ('{?}, {"x", ?}', 'mesh<["x"=2]>', "<@mesh, [{}, {}]>"),
    ],
)
def test_passes_tell_what_they_change(context, dims, mesh, written):
    module = module_of(context, dims, mesh)
    passes = "sdy-lift-inlined-meshes,sdy-close-shardings,func.func(sdy-unshard-size-one-dims)"
    run_pipeline(module, passes)
    assert f"sharding_per_value<[{written}]>" in asm(module)


def test_any_other_pass_may_have_changed_something(context, add_pass):
    def open_shardings(module):
        map_shardings(module, lambda sharding: sharding.open())

    add_pass("open-shardings", open_shardings)
    module = module_of(context, "{}, {}")
    run_pipeline(module, "sdy-close-shardings,open-shardings,sdy-close-shardings")
    assert "sharding_per_value<[<@mesh, [{}, {}]>]>" in asm(module)
    run_pipeline(module, "sdy-close-shardings,open-shardings")
    assert "sharding_per_value<[<@mesh, [{?}, {?}]>]>" in asm(module)
