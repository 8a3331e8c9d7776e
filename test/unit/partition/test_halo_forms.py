# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations exchange data, by which rules their tensors agree, and what stays in place."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.model import DimMapping, FactorType, OpShardingRule, TensorMapping
from mlir_sdy.symbols import meshes_of
from pyshardy.api import propagate
from pyshardy.partition.halo.form_lookup import form_of
from pyshardy.partition.halo.windowed import with_factor
from pyshardy.partition.op_facts.trailing_resize import does_nothing, factors_in_place
from pyshardy.program import partition
from pyshardy.rules import ShardingRuleLookup

ADD = """({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })"""


def operation_of(context, arguments: str, text: str, results: str):
    """The operation before the end of a function, its rule, and the module that holds both."""
    module = parse(
        f'sdy.mesh @mesh = <["x"=4]>\n'
        f"func.func @main({arguments}) {{\n  {text} : {results}\n  return\n}}",
        context,
    )
    block = module.body.operations[1].operation.regions[0].blocks[0]
    operation = block.operations[len(block.operations) - 2].operation
    rule = ShardingRuleLookup(quiet=True).rule(operation)
    assert rule is not None
    return operation, rule, module


def form(context, arguments: str, text: str, results: str):
    operation, rule, module = operation_of(context, arguments, text, results)
    return form_of(operation, rule), module


def tensor_mapping(factors: tuple[int, ...]) -> TensorMapping:
    return TensorMapping(tuple(DimMapping((factor,)) for factor in factors))


def test_a_new_factor_takes_the_place_of_others():
    rule = OpShardingRule(
        (4, 3, 6),
        (tensor_mapping((0, 2)), tensor_mapping((0, 1))),
        (tensor_mapping((0, 2)),),
        need_replication_factors=(1,),
    )
    assert str(rule) == "<([i, k], [i, j])->([i, k]) {i=4, j=3, k=6} need_replication={j}>"
    assert str(with_factor(rule, {0: 1, 1: 1, 2: 1}, 6, FactorType.PERMUTATION)) == (
        "<([i, l], [i, l])->([i, l]) {i=4, j=3, k=6, l=6} need_replication={j} permutation={l}>"
    )
    assert with_factor(rule, {0: 1}, 6, FactorType.REDUCTION).reduction_factors == (3,)
    assert with_factor(rule, {0: 1}, 6, FactorType.NEED_REPLICATION).need_replication_factors == (
        1,
        3,
    )


CONVOLUTION = (
    "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
    "window = {{{}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}"
)


def test_a_convolution_is_sharded_along_its_windows(context):
    found, _module = form(
        context,
        "%a: tensor<2x16x3xf32>, %b: tensor<3x3x5xf32>",
        CONVOLUTION.format("stride = [2], pad = [[0, 1]]"),
        "(tensor<2x16x3xf32>, tensor<3x3x5xf32>) -> tensor<2x8x5xf32>",
    )
    assert str(found.rule).startswith("<([i, n, l], [o, l, m])->([i, n, m])")
    assert found.factors == {found.rule.permutation_factors[-1]}
    assert found.is_profitable(5, 4)


def test_the_gradient_of_a_kernel_is_contracted_along_it(context):
    found, _module = form(
        context,
        "%a: tensor<2x16x3xf32>, %b: tensor<16x3x5xf32>",
        CONVOLUTION.format("pad = [[1, 1]]"),
        "(tensor<2x16x3xf32>, tensor<16x3x5xf32>) -> tensor<2x3x5xf32>",
    )
    (factor,) = found.factors
    assert factor in found.rule.reduction_factors
    assert found.rule.operand_mappings[0].dim_mappings[1].factor_indices == (factor,)
    assert found.rule.operand_mappings[1].dim_mappings[0].factor_indices == (factor,)


WITHOUT_FORM = {
    "a kernel in reverse would be sharded": (
        "%a: tensor<2x16x3xf32>, %b: tensor<16x3x5xf32>",
        CONVOLUTION.format("pad = [[1, 1]], reverse = [true]"),
        "(tensor<2x16x3xf32>, tensor<16x3x5xf32>) -> tensor<2x3x5xf32>",
    ),
    "there are no elements": (
        "%a: tensor<8x0xf32>",
        "%r = stablehlo.reverse %a, dims = [0]",
        "tensor<8x0xf32>",
    ),
    "the body uses a value from around it": (
        "%a: tensor<8xf32>, %b: tensor<f32>",
        '%r = "stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 1>}> '
        + ADD.replace("%p, %q : t", "%p, %b : t"),
        "(tensor<8xf32>, tensor<f32>) -> tensor<8xf32>",
    ),
    "it is of no family": (
        "%a: tensor<8xf32>",
        "%r = stablehlo.negate %a",
        "tensor<8xf32>",
    ),
}


@pytest.mark.parametrize("why", WITHOUT_FORM)
def test_no_form(context, why):
    found, _module = form(context, *WITHOUT_FORM[why])
    assert found is None


SHARDED = '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}'


@pytest.mark.parametrize(
    ("text", "types", "is_in_place"),
    [
        ("stablehlo.slice %a [0:7]", "(tensor<8xf32>) -> tensor<7xf32>", True),
        ("stablehlo.slice %a [0:6]", "(tensor<8xf32>) -> tensor<6xf32>", True),
        ("stablehlo.slice %a [0:4]", "(tensor<8xf32>) -> tensor<4xf32>", False),
        ("stablehlo.slice %a [1:8]", "(tensor<8xf32>) -> tensor<7xf32>", False),
        ("stablehlo.slice %a [0:8:2]", "(tensor<8xf32>) -> tensor<4xf32>", False),
    ],
)
def test_slices_in_place(context, text, types, is_in_place):
    """Shards have 2 elements of 8; of 5 to 7 as well, but 1 of 4."""
    operation, rule, module = operation_of(
        context,
        '%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}',
        f"%r = {text} {SHARDED}",
        types,
    )
    assert factors_in_place(operation, rule, meshes_of(module)) == ({0} if is_in_place else set())


@pytest.mark.parametrize(
    ("low", "high", "interior", "size", "is_in_place"),
    [(0, 1, 0, 8, True), (1, 0, 0, 8, False), (0, 2, 0, 9, False), (0, -2, 1, 11, False)],
)
def test_pads_in_place(context, low, high, interior, size, is_in_place):
    """Shards have 2 elements of 7 and of 8, but 3 of 9."""
    operation, rule, module = operation_of(
        context,
        '%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>',
        f"%r = stablehlo.pad %a, %b, low = [{low}], high = [{high}], interior = [{interior}] "
        + SHARDED,
        f"(tensor<7xf32>, tensor<f32>) -> tensor<{size}xf32>",
    )
    assert factors_in_place(operation, rule, meshes_of(module)) == ({0} if is_in_place else set())


@pytest.mark.parametrize(
    ("text", "types", "nothing"),
    [
        ("stablehlo.slice %a [0:8]", "(tensor<8xf32>) -> tensor<8xf32>", True),
        ("stablehlo.slice %a [0:7]", "(tensor<8xf32>) -> tensor<7xf32>", False),
        (
            "stablehlo.pad %a, %b, low = [1], high = [-1], interior = [0]",
            "(tensor<8xf32>, tensor<f32>) -> tensor<8xf32>",
            False,
        ),
    ],
)
def test_does_nothing(context, text, types, nothing):
    operation, _, _module = operation_of(
        context, "%a: tensor<8xf32>, %b: tensor<f32>", f"%r = {text}", types
    )
    assert does_nothing(operation) == nothing


def test_whole_operand_is_not_exchanged(context):
    """Slicing the result costs less than an exchange of shards of an operand that all have."""
    module = parse(
        """
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<1x64x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>},
                        %k: tensor<3x1x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>})
            -> (tensor<1x64x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) {
          %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
              window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
              : (tensor<1x64x1xf32>, tensor<3x1x1xf32>) -> tensor<1x64x1xf32>
          return %0 : tensor<1x64x1xf32>
        }""",
        context,
    )
    propagate(module)
    assert not partition(module).collectives
