# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analyses are computed once, and again after a pass that doesn't preserve them."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.values import map_shardings
from pyshardy.irtools.analyses import (
    analyses_cached,
    invalidate_analyses,
    mark_all_preserved,
    module_analysis,
    preserves,
)
from pyshardy.irtools.shardings import result_kinds
from pyshardy.pipeline import PipelineError, run_pipeline

TEXT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<MESH, [DIMS]>]>}
      : tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}"""


def module_of(context, dims, mesh="@mesh"):
    return parse(TEXT.replace("DIMS", dims).replace("MESH", mesh), context)


def test_computed_once(context):
    module = module_of(context, '{"x"}, {}')
    asked: list[str] = []

    @module_analysis("result-kinds")
    def number(operation):
        asked.append(operation.name)
        return len(asked)

    assert [number(module.operation) for _ in range(2)] == [1, 2], "nothing is cached outside"
    with analyses_cached():
        assert [number(module.operation) for _ in range(2)] == [3, 3]
        invalidate_analyses(frozenset({"result-kinds"}), verify=False)
        assert number(module.operation) == 3
        invalidate_analyses(frozenset({"device-meshes"}), verify=False)
        assert number(module.operation) == 4
        mark_all_preserved()
        invalidate_analyses(frozenset(), verify=False)
        assert number(module.operation) == 4
        invalidate_analyses(frozenset(), verify=False)
        assert number(module.operation) == 5
        other = module_of(context, "{}, {}")
        assert number(other.operation) == 6
    assert number(module.operation) == 7


def test_result_kinds(context):
    (kind,) = result_kinds(module_of(context, '{"x"}, {}').operation)
    assert str(kind.types[0]) == "tensor<8x1xf32>"


@pytest.mark.parametrize(
    ("dims", "mesh", "written"),
    [
        ('{"x"}, {}', "@mesh", '<@mesh, [{"x"}, {}]>'),
        ('{?}, {"x", ?}', "@mesh", "<@mesh, [{}, {}]>"),
        ('{?}, {"x", ?}', 'mesh<["x"=2]>', "<@mesh, [{}, {}]>"),
    ],
)
def test_changes_of_passes_invalidate_analyses(context, dims, mesh, written):
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


def compute(module):
    result_kinds(module.operation)
    mark_all_preserved()


def open_all(module):
    map_shardings(module, lambda sharding: sharding.open())


@preserves("result-kinds")
def open_wrongly(module):
    open_all(module)


def mark_wrongly(module):
    open_all(module)
    mark_all_preserved()


@pytest.mark.parametrize("wrong", [open_wrongly, mark_wrongly])
def test_a_wrong_declaration_is_found(context, add_pass, wrong):
    add_pass("compute", compute)
    add_pass("open", open_all)
    add_pass("wrong", wrong)
    run_pipeline(module_of(context, "{}, {}"), "compute,open", verify_analyses=True)
    run_pipeline(module_of(context, "{}, {}"), "compute,wrong", verify_analyses=False)
    with pytest.raises(PipelineError, match="declared to preserve result-kinds, but it changes"):
        run_pipeline(module_of(context, "{}, {}"), "compute,wrong", verify_analyses=True)


def test_all_tests_verify_analyses(context, add_pass):
    add_pass("compute", compute)
    add_pass("wrong", mark_wrongly)
    with pytest.raises(PipelineError, match="declared to preserve"):
        run_pipeline(module_of(context, "{}, {}"), "compute,wrong")
