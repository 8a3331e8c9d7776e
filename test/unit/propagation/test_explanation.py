# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explanations lead from a value to what the user wrote."""

import inspect

import pytest
from case_counts import cases
from flow_programs import random_flow_module

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import collect
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy import propagate
from pyshardy.propagation.debugging import explanation
from pyshardy.propagation.debugging.explanation import Propagation
from pyshardy.propagation.debugging.reason_texts import sentence
from pyshardy.propagation.debugging.reasons import ReasonKind, tensors_of

CHAIN = """
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>},
                %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {}]>})
    -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  %1 = stablehlo.add %0, %y : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}"""


def test_in_full(recorded):
    assert recorded(CHAIN, "basic").explain("stablehlo.add").splitlines() == [
        'result 0 of stablehlo.add (t.mlir:7:8): <@m, [{"a", ?}, {?}]>',
        '  dimension 0, "a":',
        '    step 1: result 0 of stablehlo.add (t.mlir:7:8) got "a" from operand 0, forward along '
        "factor i=8 [basic]",
        '    step 0: result 0 of stablehlo.tanh (t.mlir:6:8) got "a" from operand 0, forward along '
        "factor i=8 [basic]",
        '    argument 0 of @main (t.mlir:3:17), given in the program: <@m, [{"a"}, {"b"}]>',
        '  not by "b": result 0 of stablehlo.tanh has it along factor j=8 of stablehlo.add '
        "(t.mlir:7:8), but operand 1 is closed in this dimension",
        '  not by "c": no value that it is tied to has it: dimension 0 (size 8) is that of '
        'argument 0 of @main (<@m, [{"a"}, {"b"}]>), argument 1 of @main (<@m, [{?}, {}]>), '
        "result 0 of @main; dimension 1 (size 8) is that of argument 0 of @main "
        '(<@m, [{"a"}, {"b"}]>) and 2 more',
        '  not by "p": no value that it is tied to has it: dimension 1 (size 8) is that of '
        'argument 0 of @main (<@m, [{"a"}, {"b"}]>), argument 1 of @main (<@m, [{?}, {}]>), '
        "result 0 of @main",
    ]


def test_the_root_of_a_long_chain(recorded):
    steps = "".join(
        f"%{number} = stablehlo.tanh %{number - 1} : tensor<8x8xf32>\n" for number in range(1, 70)
    )
    text = f"""
    func.func @main(%0: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"a"}}, {{}}]>}})
        -> tensor<8x8xf32> {{
      {steps}
      return %69 : tensor<8x8xf32>
    }}"""
    found = recorded(text, "basic")
    (result,) = found.main.regions[0].blocks[0].operations[-1].operands
    said = [line for line in str(found.record.explain(result)).splitlines() if "  not" not in line]
    *steps, cut, root = said
    assert len(steps) == 2 + 50
    assert cut == "    ... (more steps)"
    assert root.startswith("    argument 0 of @main (t.mlir:3:21), given in the program: <@m, [")


def test_priorities_and_directions(recorded):
    text = """
    func.func @main(%x: tensor<8x4xf32>, %y: tensor<4x8xf32>)
        -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}p1, {?}]>}) {
      %0 = stablehlo.dot %x, %y : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    found = recorded(text, by_operation=True, by_user=True)
    argument = found.main.regions[0].blocks[0].arguments[0]
    said = str(found.record.explain(argument))
    assert 'operand 0 of stablehlo.dot (t.mlir:5:12) got "a" from result 0, backward along' in said
    assert "[aggressive, operation priority 2, user priority 1]" in said
    assert 'result 0 of @main (t.mlir:3:5), given in the program: <@m, [{"a"}p1, {?}]>' in said


def test_kind_of_factor(recorded):
    text = """
    func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"a"}]>},
                    %y: tensor<4x8xf32>) -> tensor<8x8xf32> {
      %0 = stablehlo.dot %x, %y : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    found = recorded(text)
    said = str(found.record.explain(found.main.regions[0].blocks[0].arguments[1]))
    assert 'got "a" from operand 0, sideways along reduction factor k=4' in said


def test_edges_are_called_by_what_they_stand_for(recorded):
    text = """
    func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>})
        -> tensor<8xf32> {
      %0 = stablehlo.optimization_barrier %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    found = recorded(text, before="sdy-add-data-flow-edges")
    said = found.explain("stablehlo.optimization_barrier")
    assert said.startswith("result 0 of stablehlo.optimization_barrier (t.mlir:5:12)")
    assert said == found.explain("sdy.data_flow_edge")


def test_manual_axes(recorded):
    text = """
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"a"}]>] out_shardings=[<@m, [{"a"}]>]
          manual_axes={"a"} (%i: tensor<4xf32>) {
        sdy.return %i : tensor<4xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    found = recorded(text, before="sdy-add-data-flow-edges")
    said = str(found.record.explain(found.main.regions[0].blocks[0].arguments[0]))
    assert "argument 0 of sdy.manual_computation (t.mlir:4:12)" in said
    assert ", given by the enclosing manual computation\n" in said


def test_no_sharding(recorded):
    text = """
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.tanh %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    first, second = recorded(text).explain("stablehlo.tanh").splitlines()
    assert first == "result 0 of stablehlo.tanh (t.mlir:4:12): no sharding"
    assert second == (
        '  not by "a", "b", "c", "p": no value that it is tied to has it: dimension 0 (size 8) is '
        "that of argument 0 of @main, result 0 of @main"
    )


def test_the_docstring_tells_the_truth(recorded):
    """Its program gives its explanation, line breaks aside."""
    docstring = " ".join(inspect.getdoc(explanation).split())
    said = recorded(CHAIN, "basic").explain("stablehlo.add").replace("t.mlir:7", "t.mlir:5")
    *lines, refused = [line.strip() for line in said.split('  not by "c"')[0].splitlines()]
    assert lines[0] in docstring
    assert refused in docstring


# --- Values of the module as later passes leave it ------------------------------------------------


@pytest.fixture
def after_pipeline():
    """The operations of a module that was propagated by the pipeline, and the record of it."""

    def run(text):
        module = parse('sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>' + text, Context(), "t.mlir")
        record = propagate(module)
        functions = [view.operation for view in module.body.operations][1:]
        return functions, record

    return run


def operation_named(function, name):
    return next(
        view.operation
        for view in function.regions[0].blocks[0].operations
        if view.operation.name == name
    )


def test_a_call_stands_for_the_computation_that_it_was(after_pipeline):
    functions, record = after_pipeline("""
    func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>})
        -> tensor<8xf32> {
      %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.tanh %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }""")
    call = operation_named(functions[0], "func.call")
    assert 'argument 0 of @main (t.mlir:2:21), given in the program: <@m, [{"a"}]>' in str(
        record.explain(call.results[0])
    )
    argument = functions[1].regions[0].blocks[0].arguments[0]
    assert "argument 0 of @main" in str(record.explain(argument))


def test_reshards(after_pipeline):
    """One stands for a constraint; another one is told to be inserted."""
    functions, record = after_pipeline("""
    func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>})
        -> (tensor<8x8xf32>, tensor<8x8xf32>) {
      %0 = sdy.sharding_constraint %x <@m, [{}, {"b"}]> : tensor<8x8xf32>
      %1 = call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"c"}]>]>}
          : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
    }
    func.func private @f(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>
        {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}) {
      %0 = stablehlo.tanh %x : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }""")
    returned = functions[0].regions[0].blocks[0].operations[-1].operation.operands
    assert str(record.explain(returned[0])).startswith(
        "result 0 of sdy.sharding_constraint (t.mlir:4:12)"
    )
    assert str(record.explain(returned[1]))


def test_values_of_other_modules(after_pipeline, context):
    _, record = after_pipeline("""
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }""")
    other = parse("func.func @main(%x: tensor<8xf32>) {\n  return\n}", context)
    value = other.body.operations[0].operation.regions[0].blocks[0].arguments[0]
    with pytest.raises(ValueError, match="not there when shardings were propagated"):
        record.explain(value)


@pytest.mark.parametrize("seed", range(12))
def test_every_value_of_a_random_program_is_explained(context, seed):
    """And each axis of it leads back to something that the program says."""
    module = parse(random_flow_module(seed, priorities=seed % 2 == 0), context)
    with collect():
        record = propagate(module)
    for value in all_values(module):
        lines = str(record.explain(value)).split("\n  not by ")[0].splitlines()
        ends = [
            line
            for line, following in zip(lines, (*lines[1:], "  dimension"), strict=True)
            if line.startswith("    ") and following.startswith("  dimension")
        ]
        assert all(", given " in line for line in ends)
        assert len(ends) == sum(line.startswith("  dimension") for line in lines)


@pytest.mark.parametrize("seed", range(cases(12)))
def test_every_axis_has_a_reason(context, seed):
    """And one that doesn't shard the value has a sentence."""
    module = parse(random_flow_module(seed, priorities=seed % 2 == 0), context)
    with collect():
        record = propagate(module)
    finder = record.reasons
    for slot in tensors_of(record):
        for axis in finder.axes(slot):
            reason = finder.reason(slot, axis)
            sharding = record.engine.sharding(slot)
            axes = () if sharding is None else (each for dim in sharding.dim_axes for each in dim)
            is_sharded = any(each.name == axis for each in axes)
            is_manual = reason.kind is ReasonKind.MANUAL
            assert (reason.kind is ReasonKind.SHARDED) == (is_sharded and not is_manual)
            assert sentence(finder, reason)


def all_values(module):
    found = []

    def collect_values(operation):
        found.extend(operation.results)
        for region in operation.regions:
            for block in region.blocks:
                found.extend(block.arguments)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect_values)
    return found


def test_before_anything_was_propagated():
    with pytest.raises(ValueError, match="nothing was propagated"):
        _ = Propagation().engine
