# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that count or combine along sharded dimensions are computed on shards."""

import numpy as np
import pytest
from index_programs import DYNAMIC_SLICES, GATHERS, OTHERS, REDUCTIONS, SCATTERS, UPDATES
from rule_cases import example_case, examples_of

from mlir_sdy.assembly import asm, parse
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import compare
from pyshardy.partition.op_facts.record import records, rule_on_shards
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned
from pyshardy.rules import ShardingRuleLookup

PROGRAMS = {
    f"{family}: {name}": program
    for family, programs in (
        ("gather", GATHERS),
        ("scatter", SCATTERS),
        ("dynamic slice", DYNAMIC_SLICES),
        ("dynamic update slice", UPDATES),
        ("reduce", REDUCTIONS),
        ("other", OTHERS),
    )
    for name, program in programs.items()
}


def inputs_of(program: PartitionedProgram, seed: int) -> list[np.ndarray]:
    """Whole numbers, so that results are exact; among indices, many are out of bounds."""
    generator = np.random.default_rng(seed)
    return [
        generator.integers(-3 if port.spec.dtype.kind in "fi" else 0, 20, port.spec.shape).astype(
            port.spec.dtype
        )
        for port in program.inputs
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_and_bytes(context, name):
    case = PROGRAMS[name]
    module = parse(case.text, context)
    propagate(module)
    program = partition(module)
    for seed in range(3):
        inputs = inputs_of(program, seed)
        (found,), (wanted,) = program.run(inputs), run_unpartitioned(module, inputs)
        assert compare(found, wanted, program.outputs[0].spec).is_small
    assert [(each.kind, each.nbytes) for each in program.collectives] == case.collectives


TENSOR, VECTOR = "tensor<{rows}x6x4xf32>", "tensor<6xf32>"
BATCH_NORMS = {
    "training": ("%n, %b, %c", f"({TENSOR}, {VECTOR}, {VECTOR})"),
    "grad": ("%n, %b, %b, %c, %a", f"({TENSOR}, {VECTOR}, {VECTOR}, {VECTOR}, {TENSOR})"),
}


@pytest.mark.parametrize("rows", [8, 7])
@pytest.mark.parametrize("name", BATCH_NORMS)
def test_statistics_are_those_of_all_shards(context, name, rows):
    operands, types = BATCH_NORMS[name]
    tensor, types = TENSOR.format(rows=rows), types.format(rows=rows)
    module = parse(
        f"""sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: {tensor}, %b: {VECTOR}, %c: {VECTOR}) -> ({tensor}, {VECTOR}, {VECTOR}) {{
  %m = stablehlo.negate %a : {tensor}
  %n = sdy.sharding_constraint %m <@mesh, [{{"x"}}, {{}}, {{"y"}}]> : {tensor}
  %r:3 = "stablehlo.batch_norm_{name}"({operands}) {{epsilon = 0.01 : f32, feature_index = 1 : i64}}
      : {types} -> ({tensor}, {VECTOR}, {VECTOR})
  return %r#0, %r#1, %r#2 : {tensor}, {VECTOR}, {VECTOR}
}}""",
        context,
    )
    propagate(module)
    program = partition(module)
    generator = np.random.default_rng(0)
    inputs = [generator.random(port.spec.shape).astype(np.float32) + 0.5 for port in program.inputs]
    wanted = run_unpartitioned(module, inputs, "xla")
    found = program.run(inputs, "xla")
    for array, expected, port in zip(found, wanted, program.outputs, strict=True):
        assert compare(array, expected, port.spec).is_small
    reductions = [each.nbytes for each in program.collectives if each.kind == "all_reduce"]
    assert reductions == [24, 24]


def test_rules_on_shards(context):
    """The examples in docstrings hold."""
    lookup = ShardingRuleLookup(quiet=True)
    num_examples = 0
    for function in {record.rule_on_shards for record in records().values()}:
        for text, rules in examples_of((function and function.__doc__) or ""):
            module = parse(f"func.func @main{example_case(text)}", context)
            block = module.body.operations[0].regions[0].blocks[0]
            operation = block.operations[len(block.operations) - 2].operation
            rule = lookup.rule(operation)
            assert rule is not None
            if rule_on_shards(operation, rule) != rule:
                num_examples += 1
                assert str(rule_on_shards(operation, rule)) == f"<{rules['']}>"
    assert num_examples == 7


def test_composites_of_elementwise_operations(context):
    """They are taken apart, as their functions are those of whole tensors."""
    module = parse(
        """sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.composite "mine.more" %a {decomposition = @more}
      : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
func.func private @more(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<4x6xf32>
  %0 = stablehlo.abs %a : tensor<4x6xf32>
  %1 = stablehlo.add %0, %one : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}""",
        context,
    )
    propagate(module)
    program = partition(module)
    assert program.collectives == ()
    assert "stablehlo.composite" not in asm(program.module)
    (matrix,) = inputs_of(program, 0)
    (found,) = program.run([matrix])
    np.testing.assert_array_equal(found, abs(matrix) + 1)


def test_random_numbers(context):
    """Shards have numbers of their own, and devices that hold the same shard have the same."""
    module = parse(
        """sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%low: tensor<f32>, %high: tensor<f32>)
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<5xf32>) {
  %matrix = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
  %vector = stablehlo.constant dense<5> : tensor<1xi64>
  %0 = stablehlo.rng %low, %high, %matrix, distribution = UNIFORM
      : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  %1 = stablehlo.rng %low, %high, %vector, distribution = UNIFORM
      : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<5xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<5xf32>
}""",
        context,
    )
    propagate(module)
    program = partition(module)
    assert [(each.kind, each.axes) for each in program.collectives] == [
        ("all_reduce", ("y",)),
        ("all_reduce", ("x", "y")),
    ]
    # Running it also checks that devices agree on what they all hold.
    for numbers in program.run([np.float32(2), np.float32(5)], "xla"):
        assert ((numbers >= 2) & (numbers < 5)).all()
        assert np.unique(numbers).size > 2


def test_what_goes_out_is_whole(context):
    module = parse(
        """sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %first = stablehlo.create_token : !stablehlo.token
  %second = stablehlo.after_all %first, %first : !stablehlo.token
  %third = "stablehlo.outfeed"(%a, %second) : (tensor<4xf32>, !stablehlo.token)
      -> !stablehlo.token
  return
}""",
        context,
    )
    propagate(module)
    program = partition(module)
    assert [each.kind for each in program.collectives] == ["all_gather"]
    assert "(tensor<4xf32>, !stablehlo.token)" in asm(program.module)


@pytest.mark.parametrize(
    ("target", "kinds"),
    [("mhlo.erf", []), ("Cholesky", ["all_gather", "all_gather"]), ("unknown", ["all_gather"] * 2)],
)
def test_calls(context, target, kinds):
    """A call is made on shards as far as its rule says, but for matrices; unknown ones are not."""
    module = parse(
        f"""sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<3x4x4xf32>
    {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}, {{}}]>}}) -> (tensor<3x4x4xf32>
    {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}, {{}}]>}}) {{
  %0 = stablehlo.custom_call @{target}(%a) : (tensor<3x4x4xf32>) -> tensor<3x4x4xf32>
  return %0 : tensor<3x4x4xf32>
}}""",
        context,
    )
    propagate(module)
    found = [each.kind for each in partition(module).collectives]
    assert found == kinds[: len(found)]
    assert bool(found) == bool(kinds)
