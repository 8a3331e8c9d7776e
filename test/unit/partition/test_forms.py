# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is found out once for operations of one form."""

import pytest

from mlir_sdy.assembly import parse
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.op_facts.forms import FormMemo, Forms
from pyshardy.rules import ShardingRuleLookup
from pyshardy.rules.signature import OperationParts

DOT = (
    "%{} = stablehlo.dot_general %a, %a, contracting_dims = [{}] x [{}]"
    " : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"
)
REDUCE = (
    "%{} = stablehlo.reduce(%a init: %z) applies stablehlo.{} across dimensions = [0]"
    " : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>"
)
REVERSE = "%{} = stablehlo.reverse %a, dims = [{}] : tensor<4x4xf32>"
NOTED_REVERSE = "%{} = stablehlo.reverse %a, dims = [0] {{my.note}} : tensor<4x4xf32>"
PAD = (
    "%{} = stablehlo.pad %a, %{}, low = [1, 1], high = [0, 0], interior = [0, 0]"
    " : (tensor<4x4xf32>, tensor<f32>) -> tensor<5x5xf32>"
)
CONCATENATE = (
    "%{} = stablehlo.concatenate %{}, %{}, dim = 0"
    " : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>"
)
BEFORE = """
%zero = stablehlo.constant dense<0.0> : tensor<f32>
%one = stablehlo.constant dense<1.0> : tensor<f32>
%top = stablehlo.slice %a [0:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
%low = stablehlo.slice %a [2:4, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
%moved = sdy.reshard %low <@mesh, [{}, {}]> : tensor<2x4xf32>
%other = stablehlo.slice %b [2:4, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
"""
OWN_RULE = (
    "%{} = stablehlo.negate %a"
    " {{sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {{i=4, j=4}}, custom>}}"
    " : tensor<4x4xf32>"
)


@pytest.mark.parametrize(
    ("first", "second", "times"),
    [
        (DOT.format(0, 1, 0), DOT.format(1, 1, 0), 1),
        (DOT.format(0, 1, 0), DOT.format(1, 0, 1), 2),
        (REDUCE.format(0, "add"), REDUCE.format(1, "add"), 1),
        (REDUCE.format(0, "add"), REDUCE.format(1, "maximum"), 2),
        (REVERSE.format(0, 0), REVERSE.format(1, 0), 1),
        (REVERSE.format(0, 0), REVERSE.format(1, 1), 2),
        (REVERSE.format(0, 0), NOTED_REVERSE.format(1), 2),
        # The padding value is unknown.
        (PAD.format(0, "z"), PAD.format(1, "z"), 2),
        (PAD.format(0, "zero"), PAD.format(1, "zero"), 1),
        (PAD.format(0, "zero"), PAD.format(1, "one"), 2),
        (CONCATENATE.format(0, "top", "low"), CONCATENATE.format(1, "top", "low"), 1),
        (CONCATENATE.format(0, "top", "low"), CONCATENATE.format(1, "low", "top"), 2),
        (CONCATENATE.format(0, "top", "low"), CONCATENATE.format(1, "top", "moved"), 2),
        (CONCATENATE.format(0, "top", "low"), CONCATENATE.format(1, "top", "other"), 2),
        # An operation with its own rule has a form of its own each time.
        (OWN_RULE.format(0), OWN_RULE.format(1), 2),
    ],
)
def test_asked_once_for_each_form(context, first, second, times):
    module = parse(
        'sdy.mesh @mesh = <["x"=2]>\n'
        "func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %z: tensor<f32>) {"
        f"{BEFORE}{first}\n{second}\nreturn }}",
        context,
    )
    memo = FormMemo[int](Forms(ShardingRuleLookup.shared(context)))
    asked: list[object] = []

    def find(operation, shardings):
        asked.append((operation, shardings))
        return len(asked)

    names = {first.split()[2].partition("(")[0]}
    found = [
        memo.of(
            OperationParts.of(operation, operation.name),
            (None,) * (len(operation.operands) + len(operation.results)),
            find,
        )
        for operation in operations_named(names, module)
    ]
    assert found == list(range(1, times + 1)) + [1] * (2 - times)
    assert len(asked) == times
