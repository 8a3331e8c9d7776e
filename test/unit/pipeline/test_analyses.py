# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analyses are computed once, and again after a pass that doesn't preserve them."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.host import ir, rewrite
from mlir_sdy.values import map_shardings
from pyshardy.irtools.analyses import (
    UNCHANGED,
    Changes,
    analyses_cached,
    begin_pass,
    end_pass,
    module_analysis,
)
from pyshardy.irtools.shardings import result_kinds
from pyshardy.irtools.walks import (
    may_occur_at_start,
    names_that_may_occur,
    operations_named,
    tell_inserted,
)
from pyshardy.pipeline import PipelineError, run_pipeline
from pyshardy.pipeline.canonicalize import is_needless_symbol_dce
from pyshardy.pipeline.plan import plan_pipeline

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

    @module_analysis("test")  # no name of an analysis of the project, which it would replace
    def number(operation):
        asked.append(operation.name)
        return len(asked)

    assert [number(module.operation) for _ in range(2)] == [1, 2], "nothing is cached outside"
    with analyses_cached():
        assert [number(module.operation) for _ in range(2)] == [3, 3]
        end_pass(Changes({"sdy.reshard"}, {"result-kinds"}))
        assert number(module.operation) == 3
        end_pass(Changes(stale={"test"}))
        assert number(module.operation) == 4
        end_pass(UNCHANGED)
        assert number(module.operation) == 4
        end_pass(Changes(None, {"test"}))
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
    return UNCHANGED


def open_all(module):
    map_shardings(module, lambda sharding: sharding.open())


def open_wrongly(module):
    open_all(module)
    return Changes()


def tell_wrongly(module):
    open_all(module)
    return UNCHANGED


@pytest.mark.parametrize("wrong", [open_wrongly, tell_wrongly])
def test_a_wrong_declaration_is_found(context, add_pass, wrong):
    add_pass("compute", compute)
    add_pass("open", open_all)
    add_pass("wrong", wrong)
    run_pipeline(module_of(context, "{}, {}"), "compute,open", verify_analyses=True)
    run_pipeline(module_of(context, "{}, {}"), "compute,wrong", verify_analyses=False)
    with pytest.raises(PipelineError, match="changes result-kinds, but the 'Changes'"):
        run_pipeline(module_of(context, "{}, {}"), "compute,wrong", verify_analyses=True)


def test_all_tests_verify_analyses(context, add_pass):
    add_pass("compute", compute)
    add_pass("wrong", tell_wrongly)
    with pytest.raises(PipelineError, match="changes result-kinds"):
        run_pipeline(module_of(context, "{}, {}"), "compute,wrong")


# --- Names of operations ------------------------------------------------------------------------


def names_after(context, add_pass, *passes):
    """The names that may occur after some passes, which are registered under their own names."""
    found: list[frozenset[str] | None] = []

    def look(module) -> Changes:
        found.append(names_that_may_occur(module))
        return UNCHANGED

    for number, each in enumerate((*passes, look)):
        add_pass(f"pass-{number}", each)
    pipeline = ",".join(f"pass-{number}" for number in range(len(passes) + 1))
    run_pipeline(module_of(context, "{}, {}"), pipeline, verify_analyses=True)
    return found[-1]


def ask(module) -> Changes:
    assert "stablehlo.negate" in (names_that_may_occur(module) or ())
    return UNCHANGED


def insert(module, name):
    negate = next(iter(operations_named({"stablehlo.negate"}, module)))
    result = negate.results[0]
    with module.context, negate.location, ir.InsertionPoint.after(negate):
        ir.Operation.create(name, results=[result.type], operands=[result])


def insert_abs(module) -> Changes:
    assert operations_named({"stablehlo.abs"}, module) == []
    insert(module, "stablehlo.abs")
    tell_inserted(module, "stablehlo.abs")
    assert len(operations_named({"stablehlo.abs"}, module)) == 1, "what a pass tells of may occur"
    return Changes({"stablehlo.abs"})


def insert_untold(module):
    assert names_that_may_occur(module) is None
    insert(module, "stablehlo.tanh")
    assert len(operations_named({"stablehlo.tanh"}, module)) == 1


def insert_another(module) -> Changes:
    insert(module, "stablehlo.tanh")
    return Changes({"stablehlo.abs"})


def look_for_its_own(module) -> Changes:
    insert(module, "stablehlo.abs")
    operations_named({"stablehlo.abs"}, module)
    return Changes({"stablehlo.abs"})


def test_names_of_operations(context, add_pass):
    assert names_that_may_occur(module_of(context, "{}, {}")) is None, "outside of pipelines"
    of_module = {"sdy.mesh", "func.func", "stablehlo.negate", "func.return"}
    assert names_after(context, add_pass, ask) == of_module
    assert names_after(context, add_pass, insert_abs) == of_module | {"stablehlo.abs"}
    assert names_after(context, add_pass, ask, insert_abs) == of_module | {"stablehlo.abs"}
    after = names_after(context, add_pass, ask, insert_untold)
    assert after == of_module | {"stablehlo.tanh"}


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (insert_another, "changes operation-names, but"),
        (look_for_its_own, "looks for stablehlo.abs that it has inserted"),
    ],
)
def test_a_wrong_insertion_is_found(context, add_pass, wrong, problem):
    with pytest.raises(PipelineError, match=problem):
        names_after(context, add_pass, ask, wrong)


def test_no_walk_for_names_that_do_not_occur(context, add_pass, monkeypatch):
    def walk(*_):
        raise AssertionError("the module is walked")

    def look(module) -> Changes:
        ask(module)
        monkeypatch.setattr(rewrite, "walk_and_apply_patterns", walk)
        assert operations_named({"stablehlo.while"}, module) == []
        assert not may_occur_at_start({"stablehlo.while"}, module)
        assert may_occur_at_start({"stablehlo.negate", "stablehlo.while"}, module)
        return UNCHANGED

    add_pass("look", look)
    module = module_of(context, "{}, {}")
    run_pipeline(module, "look", verify_each=False, verify_analyses=False)


CALLER = "func.func @caller() {\n  call @callee() : () -> ()\n  return\n}\n"


@pytest.mark.parametrize(
    ("added", "needless"),
    [
        ("", True),
        ("func.func private @unused() {\n  return\n}", False),
        ("func.func nested @unused() {\n  return\n}", False),
        ("module @inner {\n  func.func private @unused() {\n    return\n  }\n}", False),
        ("func.func @other() {\n  return\n}", True),
        (f"{CALLER}func.func private @callee() {{\n  return\n}}", True),
        (f"{CALLER}func.func private @callee()", True),
        (f"{CALLER.replace('@', 'private @', 1)}func.func private @callee()", False),
        (
            "func.func private @calls_itself() {\n  call @calls_itself() : () -> ()\n  return\n}",
            False,
        ),
    ],
)
def test_symbol_dce_is_left_out_where_all_symbols_are_used(context, added, needless):
    text = f"{TEXT}\n{added}".replace("DIMS", "{}, {}").replace("MESH", "@mesh")
    module = parse(text, context)
    (step,) = plan_pipeline("symbol-dce")
    assert not is_needless_symbol_dce(step, module), "outside of pipelines, nothing is known"
    with analyses_cached():
        begin_pass(tells_changes=True)
        assert is_needless_symbol_dce(step, module) is needless
    before = asm(module)
    run_pipeline(module, "symbol-dce", verify_each=False)
    assert (asm(module) == before) is needless


def test_a_result_may_be_replaced(context, add_pass):
    found: list[tuple[str, ...]] = []

    def look(module):
        found.append(tuple(str(kind.shardings) for kind in result_kinds(module.operation)))
        return UNCHANGED

    add_pass("look", look)
    module = module_of(context, '{?}, {"x", ?}')
    run_pipeline(module, "sdy-close-shardings,look", verify_analyses=True)
    assert ["{?}" in text for text in found[0]] == [False]


def test_a_pass_without_changes_has_inserted_nothing(context, add_pass):
    found: list[bool] = []

    def look(module) -> Changes:
        found.append("sdy.reshard" in (names_that_may_occur(module) or ()))
        return UNCHANGED

    def change_nothing(module) -> Changes:
        look(module)
        return Changes({"sdy.reshard"})

    add_pass("look", look)
    add_pass("change-nothing", change_nothing)
    run_pipeline(module_of(context, "{}, {}"), "look,change-nothing,look")
    assert found == [False, False, False]


PARTIAL = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x2xf32> {
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a
      out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x2xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}"""
SIZE = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<i32> {
  %0 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<8x2xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}"""
GROUPS = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %b, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {replica_groups = #stablehlo.replica_group_mesh_axes<
      mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>]>,
      axes = [#stablehlo.axis_ref<name = "x">]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@pytest.mark.parametrize(
    ("text", "pipeline", "inserted"),
    [
        (PARTIAL, "canonicalize{enable-patterns=sdy-collective}", "sdy.all_gather"),
        (
            SIZE,
            "func.func(sdy-insert-explicit-reshards{enable-full-version=true "
            "compatibility=cheapest})",
            "sdy.constant",
        ),
        (GROUPS, "sdy-lift-inlined-meshes", "sdy.mesh"),
    ],
)
def test_insertions_of_rare_forms(context, add_pass, text, pipeline, inserted):
    def look(module) -> Changes:
        names_that_may_occur(module)
        return UNCHANGED

    add_pass("look", look)
    module = parse(text, context)
    assert operations_named({inserted}, module) == []
    run_pipeline(module, f"look,{pipeline}", verify_analyses=True)
    assert operations_named({inserted}, module)
