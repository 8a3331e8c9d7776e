# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The addends of sums of products."""

import pytest

import pyshardy as sdy
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import ShardingCache
from pyshardy.partition.partial.joint_sums import JointSums

TEXT = """
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %x = stablehlo.tanh %a : tensor<4x4xf32>
  %y = stablehlo.sine %a : tensor<4x4xf32>
  %z = stablehlo.cosine %a : tensor<4x4xf32>
  SUM
  %last = stablehlo.exponential %sum : tensor<4x4xf32>
  return %last : tensor<4x4xf32>
}
"""
PRODUCTS = ("stablehlo.tanh", "stablehlo.sine", "stablehlo.cosine")


def products_added_up():
    return JointSums(lambda each: each.name in PRODUCTS, ShardingCache())


def others(lines):
    named = [f"%{line}" if "->" in line else f"%{line} : tensor<4x4xf32>" for line in lines]
    module = sdy.parse(TEXT.replace("SUM", "\n".join(named)), sdy.Context())
    (made,) = operations_named({"stablehlo.tanh"}, module)
    sums = products_added_up()
    found = list(sums.added_to(made.results[0]))
    assert sums.is_added(made.results[0]) == any("%x" in line or "%1" in line for line in lines)
    return [each.name.removeprefix("stablehlo.") for each in found]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["0 = stablehlo.add %x, %y", "sum = stablehlo.subtract %z, %0"], ["sine", "cosine"]),
        (["0 = stablehlo.add %y, %z", "sum = stablehlo.add %0, %x"], ["sine", "cosine"]),
        (["0 = stablehlo.add %y, %x", "sum = stablehlo.add %0, %a"], ["sine"]),
        (["0 = stablehlo.add %y, %a", "sum = stablehlo.add %0, %x"], []),
        (["0 = stablehlo.abs %y", "sum = stablehlo.add %x, %0"], []),
        (["0 = stablehlo.add %y, %y", "sum = stablehlo.add %x, %0"], []),
        (
            [
                "1 = stablehlo.negate %x",
                "2 = stablehlo.transpose %y, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>",
                "sum = stablehlo.add %1, %2",
            ],
            ["sine"],
        ),
    ],
)
def test_addends(lines, expected):
    assert others(lines) == expected


def sum_of(count):
    """Return a module that adds up a number of products, %x last, and its products."""
    products = [f"%{i} = stablehlo.sine %a : tensor<4x4xf32>" for i in range(1, count)]
    sums = [
        f"%s{i} = stablehlo.add {f'%s{i - 1}' if i > 2 else '%1'}, %{i} : tensor<4x4xf32>"
        for i in range(2, count)
    ]
    last = f"%sum = stablehlo.add %s{count - 1}, %x : tensor<4x4xf32>"
    module = sdy.parse(TEXT.replace("SUM", "\n".join([*products, *sums, last])), sdy.Context())
    x, _, *others = operations_named({"stablehlo.tanh", "stablehlo.sine"}, module)
    return module, x.results[0], others


@pytest.mark.parametrize(("count", "expected"), [(33, 32), (34, 0), (1500, 0)])
def test_the_number_of_addends_is_limited_and_not_the_depth_of_a_sum(count, expected):
    module, x, _ = sum_of(count)
    assert len(list(products_added_up().added_to(x))) == expected
    del module


def test_a_changed_operation_is_read_again():
    module, x, others = sum_of(4)
    sums = products_added_up()
    assert list(sums.added_to(x)) == others
    (use,) = others[0].results[0].uses
    addition = use.owner.operation
    sums.forget(addition.operands, addition.results)
    addition.operands[0] = module.body.operations[0].regions[0].blocks[0].arguments[0]
    assert list(sums.added_to(x)) == []


def test_a_memo_of_an_operation_is_dropped_with_its_operands_and_results():
    module, x, others = sum_of(4)
    sums, first = products_added_up(), others[0]
    memo = sums.memo_of(first)
    memo[1] = (sdy.AxisRef("x"),)
    sums.forget(first.operands, ())
    assert sums.memo_of(first) is memo
    for changed in (first.operands, first.results):
        memo = sums.memo_of(first)
        sums.forget((), changed)
        assert sums.memo_of(first) is not memo
    del module, x
