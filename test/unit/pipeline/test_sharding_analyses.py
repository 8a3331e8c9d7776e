# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The analyses of shardings are kept through passes that say how they change them."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.values import map_shardings
from pyshardy.irtools.analyses import OF_INTERFACE, UNCHANGED, Changes, is_computed
from pyshardy.irtools.shardings import interface_shardings, result_kinds
from pyshardy.pipeline import run_pipeline

OF_SHARDINGS = ("interface-shardings", "result-kinds")

CHAIN = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [WEIGHTS]>})
    -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}"""
COMPATIBLE, INCOMPATIBLE = "{}, {}", '{}, {"x"}'

RESHARDS = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}"""

VARIETY = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<i32>)
    -> (tensor<4xf32>, tensor<f32>) {
  %0:2 = stablehlo.while(%b = %a, %j = %i) : tensor<8xf32>, tensor<i32>
    cond {
      %4 = stablehlo.compare LT, %j, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %5 = stablehlo.negate %b : tensor<8xf32>
      stablehlo.return %5, %j : tensor<8xf32>, tensor<i32>
    }
  stablehlo.custom_call @log(%0#1) {has_side_effect = true,
      sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<i32>) -> ()
  %1 = call @half(%0#0) : (tensor<8xf32>) -> tensor<4xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1, %3 : tensor<4xf32>, tensor<f32>
}
func.func private @half(%a: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.slice %a [0:8:2] : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def compute(module):
    for analysis in (result_kinds, interface_shardings):
        analysis(module.operation)
    return UNCHANGED


@pytest.fixture(name="kept_after")
def fixture_kept_after(context, add_pass):
    """A function that returns the analyses of shardings that are left after a pipeline."""

    def kept_after(text, pipeline):
        kept: list[str] = []

        def look(module):
            kept.extend(name for name in OF_SHARDINGS if is_computed(name, module.operation))

        add_pass("look", look)
        add_pass("compute", compute)
        run_pipeline(parse(text, context), f"{pipeline},look", verify_analyses=True)
        return kept

    return kept_after


@pytest.mark.parametrize("weights", [COMPATIBLE, INCOMPATIBLE])
@pytest.mark.parametrize("options", ["", "{enable-full-version=true}"])
def test_inserted_reshards_are_added(kept_after, weights, options):
    text = CHAIN.replace("WEIGHTS", weights)
    pipeline = f"compute,func.func(sdy-insert-explicit-reshards{options})"
    assert kept_after(text, pipeline) == [*OF_SHARDINGS]


def test_results_with_other_shardings_are_added(context, add_pass):
    found: list[tuple[str, ...]] = []

    def look(module):
        found.append(tuple(str(kind.shardings) for kind in result_kinds(module.operation)))

    add_pass("compute", compute)
    add_pass("look", look)
    text = CHAIN.replace("WEIGHTS", INCOMPATIBLE).replace('[{"x"}, {}]>]>', '[{}, {"y"}]>]>')
    passes = "func.func(sdy-insert-explicit-reshards{enable-full-version=true})"
    run_pipeline(parse(text, context), f"compute,{passes},look", verify_analyses=True)
    assert len(found[0]) == 2


def test_rare_forms_of_reshards_are_read_again(kept_after):
    unreduced = CHAIN.replace("WEIGHTS", COMPATIBLE).replace(
        '[{"x"}, {}]>]>', '[{"x"}, {}], unreduced={"y"}>]>'
    )
    passes = "func.func(sdy-insert-explicit-reshards{enable-full-version=true})"
    assert kept_after(unreduced, f"compute,{passes}") == []
    barrier = CHAIN.replace("WEIGHTS", COMPATIBLE).replace(
        "return %0",
        "%1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<8x8xf32>\n  return %1",
    )
    devices = "{enable-full-version=true compatibility=cheapest}"
    assert kept_after(barrier, f"compute,func.func(sdy-insert-explicit-reshards{devices})") == []


@pytest.mark.parametrize(
    ("text", "options", "kept"),
    [
        (CHAIN.replace("WEIGHTS", COMPATIBLE), "{enable-patterns=sdy-reshard}", OF_SHARDINGS),
        (RESHARDS, "{enable-patterns=sdy-collective}", OF_SHARDINGS),
        (RESHARDS, "{enable-patterns=sdy-reshard}", ()),
        (RESHARDS, "", ()),
    ],
)
def test_canonicalize_without_effect_on_the_dialect(kept_after, text, options, kept):
    assert kept_after(text, f"compute,canonicalize{options}") == [*kept]


def test_propagation_keeps_result_kinds(context, add_pass):
    found: list[frozenset[object]] = []

    def look(module):
        assert is_computed("result-kinds", module.operation)
        found.append(frozenset(result_kinds(module.operation)))

    add_pass("look", look)
    module = parse(VARIETY, context)
    edges = "sdy-add-data-flow-edges,sdy-add-func-data-flow-edges"
    run_pipeline(module, f"{edges},sdy-user-priority-propagate,look", verify_analyses=True)
    assert found == [frozenset(result_kinds(module.operation))]
    assert len(found[0]) >= 3


def test_propagation_reads_no_modules_inside(kept_after):
    inner = CHAIN.replace("WEIGHTS", COMPATIBLE)
    assert kept_after(f"{inner}\nmodule @inner {{\n{inner}\n}}", "sdy-basic-propagate") == []


def test_closed_shardings_replace_open_ones(kept_after):
    text = CHAIN.replace("WEIGHTS", COMPATIBLE).replace('{"x"}, {}]>]>', '{"x", ?}, {?}]>]>')
    assert kept_after(text, "compute,sdy-close-shardings") == [*OF_SHARDINGS]
    assert kept_after(text, "sdy-close-shardings") == [*OF_SHARDINGS]


def test_an_analysis_must_be_preserved_for_each_operation(context, add_pass):
    kept: list[bool] = []

    def keep_one(function):
        if function.name.value == "main":
            return Changes(stale=OF_INTERFACE)
        map_shardings(function, lambda sharding: sharding.open())
        return None

    def keep_each(function):
        return Changes(stale=OF_INTERFACE) if function.name.value == "main" else UNCHANGED

    def look(module):
        kept.append(is_computed("result-kinds", module.operation))

    add_pass("compute", compute)
    add_pass("look", look)
    for number, keep in enumerate((keep_one, keep_each)):
        add_pass(f"keep-{number}", keep, anchor="func.func")
        pipeline = f"compute,func.func(keep-{number}),look"
        run_pipeline(parse(VARIETY, context), pipeline, verify_analyses=True)
    assert kept == [False, True]
