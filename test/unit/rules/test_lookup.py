# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding the rules of operations, those of users included."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import PassError, collect
from mlir_sdy.dialect import Context
from pyshardy.rules import (
    ShardingRuleLookup,
    pointwise,
    rule,
    sharding_rule,
    temporary_rules,
)


@pytest.fixture(scope="module")
def context():
    return Context()


@pytest.fixture
def own_registry():
    with temporary_rules():
        yield


def operations(context, *lines: str):
    arguments = "%a: tensor<4x6xf32>, %b: tensor<4x6xf32>"
    text = "\n".join([f"func.func @f({arguments}) {{", *lines, "return", "}"])
    module = parse(text, context, "test.mlir")
    block = module.body.operations[0].operation.regions[0].blocks[0]
    return module, [view.operation for view in block.operations][:-1]


ADD = "%{} = stablehlo.add %a, %b : tensor<4x6xf32>"
CALL = "%{} = stablehlo.custom_call @{}(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>"


def test_equal_operations_share_their_rule(context):
    _module, (first, second) = operations(context, ADD.format(0), ADD.format(1))
    lookup = ShardingRuleLookup()
    assert lookup.rule(first) is lookup.rule(second)


def test_own_rule_has_precedence(context):
    line = ADD.format(0).replace(
        " :",
        " {sdy.sharding_rule = "
        "#sdy.op_sharding_rule<([i, j], [k, j])->([i, j]) {i=4, j=6, k=4}, custom>} :",
    )
    _module, (operation,) = operations(context, line)
    found = ShardingRuleLookup().rule(operation)
    assert found is not None
    assert found.is_custom_rule


def test_each_unknown_operation_is_warned_about_once(context):
    _module, (first, second) = operations(
        context, CALL.format(0, "unheard_of"), CALL.format(1, "unheard_of")
    )
    lookup = ShardingRuleLookup()
    with collect() as diagnostics:
        for operation in (first, second, first):
            assert lookup.rule(operation) is None
    assert [str(diagnostic) for diagnostic in diagnostics] == [
        f"test.mlir:{line}:6: warning: no sharding rule for custom call @unheard_of: shardings do "
        "not propagate through it; register one with "
        '@sharding_rule("stablehlo.custom_call", target="unheard_of")'
        for line in (2, 3)
    ]


def test_operations_without_rule_on_purpose_are_silent(context):
    _module, (operation,) = operations(context, CALL.format(0, "tpu_custom_call"))
    with collect() as diagnostics:
        assert ShardingRuleLookup().rule(operation) is None
    assert not diagnostics


@pytest.mark.usefixtures("own_registry")
def test_rule_of_a_user(context):
    calls = []

    @sharding_rule("stablehlo.custom_call", target="mine")
    def my_rule(op):
        calls.append(op.name)
        return rule("i j -> i j", need_replication="j")

    _module, found = operations(context, CALL.format(0, "mine"), CALL.format(1, "mine"))
    lookup = ShardingRuleLookup()
    for operation in found:
        expected = "<([i, j])->([i, j]) {i=4, j=6} need_replication={j}>"
        assert str(lookup.rule(operation)) == expected
    assert calls == ["stablehlo.custom_call"]


@pytest.mark.usefixtures("own_registry")
def test_rule_that_looks_around_is_not_memoised(context):
    seen = []

    @sharding_rule("stablehlo.add", memoised=False)
    def my_rule(op):
        seen.append(op.operation)
        return pointwise(op)

    _module, found = operations(context, ADD.format(0), ADD.format(1))
    lookup = ShardingRuleLookup()
    for operation in found:
        lookup.rule(operation)
    assert seen == found


@pytest.mark.usefixtures("own_registry")
def test_misfit_is_a_diagnostic(context):
    sharding_rule("stablehlo.add")(lambda op: rule("i, i -> i"))  # noqa: ARG005
    _module, (operation,) = operations(context, ADD.format(0))
    with pytest.raises(PassError, match=r"test.mlir:2:6: error: the rule 'i, i -> i' does not fit"):
        ShardingRuleLookup().rule(operation)


def test_only_custom_calls_have_targets():
    with pytest.raises(ValueError, match="has targets"):
        sharding_rule("stablehlo.add", target="x")
