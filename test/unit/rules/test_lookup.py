# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding the rules of operations, those of users included."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import PassError, collect
from mlir_sdy.dialect import Context
from pyshardy.rules import (
    ShardingRuleLookup,
    identity_rule,
    pointwise,
    rule,
    sharding_rule,
    strict_rules,
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
        f"test.mlir:{line}:6: warning: custom call @unheard_of is unknown to SDY sharding rule "
        "registry: shardings do not propagate through it; register a rule with "
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
def test_text_is_a_rule(context):
    sharding_rule("stablehlo.custom_call", target="mine")(lambda _: "... j -> ... j")
    _module, (operation,) = operations(context, CALL.format(0, "mine"))
    assert str(ShardingRuleLookup().rule(operation)) == "<([i, j])->([i, j]) {i=4, j=6}>"


@pytest.mark.usefixtures("own_registry")
def test_none_is_no_rule(context):
    sharding_rule("stablehlo.add")(lambda _: None)
    _module, (operation,) = operations(context, ADD.format(0))
    with collect() as diagnostics:
        assert ShardingRuleLookup().rule(operation) is None
    assert not diagnostics


@pytest.mark.usefixtures("own_registry")
def test_what_a_rule_observes_is_part_of_the_key(context):
    seen = []

    @sharding_rule("stablehlo.add", reads=(), observes=lambda op: "mark" in op.attributes)
    def my_rule(op):
        seen.append(op.observed)
        return pointwise(op)

    lines = (ADD.format(0), ADD.format(1).replace(" :", " {mark} :"), ADD.format(2))
    _module, found = operations(context, *lines)
    lookup = ShardingRuleLookup()
    for operation in found:
        lookup.rule(operation)
    assert seen == [False, True]


@pytest.mark.usefixtures("own_registry")
def test_equal_rules_are_one(context):
    sharding_rule("stablehlo.add", memoised=False)(pointwise)
    _module, (first, second) = operations(context, ADD.format(0), ADD.format(1))
    lookup = ShardingRuleLookup()
    assert lookup.rule(first) is lookup.rule(second)


BROKEN = {
    "misfit": (lambda _: rule("i, i -> i"), "the rule 'i, i -> i' does not fit 'stablehlo.add'"),
    "no rule": (lambda _: 7, "the sharding rule of 'stablehlo.add' returned 7: return a rule"),
    "text": (lambda _: "i j", "the rule 'i j' has no '->'"),
    "too few": (
        lambda _: identity_rule((4, 6)),
        "the sharding rule <([i, j])->([i, j]) {i=4, j=6}> does not fit 'stablehlo.add': number of "
        "operands and mappings must match: 2 != 1",
    ),
    "no operand": (lambda op: op.operand_shape(2), "'stablehlo.add' has no operand 2: it has 2"),
    "no result": (lambda op: op.result_shape(1), "'stablehlo.add' has no result 1: it has 1"),
    "no attribute": (
        lambda op: op.integer("axis"),
        "'stablehlo.add' has no attribute 'axis'; its attributes: none",
    ),
    "bug": (
        lambda _: {}["x"],
        "the sharding rule of 'stablehlo.add' failed: KeyError: 'x'",
    ),
}


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_rules_are_diagnostics(context, kind):
    function, message = BROKEN[kind]
    sharding_rule("stablehlo.add")(function)
    _module, (operation,) = operations(context, ADD.format(0))
    with pytest.raises(PassError) as failure:
        ShardingRuleLookup().rule(operation)
    (diagnostic,) = failure.value.diagnostics
    assert str(diagnostic).startswith(f"test.mlir:2:6: error: {message}")
    (note,) = diagnostic.notes
    assert note.location.filename == __file__
    assert note.location.line == function.__code__.co_firstlineno


@pytest.mark.usefixtures("own_registry")
def test_attributes_read_must_be_listed(context):
    sharding_rule("stablehlo.add", reads=("a",))(lambda op: op.integers("b"))
    _module, (operation,) = operations(context, ADD.format(0))
    with pytest.raises(PassError, match="reads the attribute 'b': list it in its registration"):
        ShardingRuleLookup().rule(operation)


def test_strict(context):
    _module, (operation,) = operations(context, CALL.format(0, "unheard_of"))
    with (
        strict_rules(),
        pytest.raises(PassError, match=r"test.mlir:2:6: error: custom call @unheard_of is unknown"),
    ):
        ShardingRuleLookup().rule(operation)
    with strict_rules():
        assert ShardingRuleLookup(quiet=True).rule(operation) is None


def test_dynamic_shapes_have_no_rule(context):
    text = "func.func @f(%a: tensor<?x4xf32>) {\n%0 = stablehlo.abs %a : tensor<?x4xf32>\nreturn }"
    module = parse(text, context, "test.mlir")
    operation = module.body.operations[0].operation.regions[0].blocks[0].operations[0].operation
    with collect() as diagnostics:
        assert ShardingRuleLookup().rule(operation) is None
    assert [str(diagnostic) for diagnostic in diagnostics] == [
        "test.mlir:2:6: warning: no sharding rule for this 'stablehlo.abs': tensor<?x4xf32> has "
        "dynamic dimensions; refine the shapes of the program first"
    ]


def test_all_terminators_are_silent(context):
    text = """
        func.func @f(%a: index, %b: index) {
          scf.for %i = %a to %b step %b {
            scf.yield
          }
          return
        }
    """
    module = parse(text, context)
    (loop, _) = module.body.operations[0].operation.regions[0].blocks[0].operations
    (end,) = loop.operation.regions[0].blocks[0].operations
    with collect() as diagnostics:
        assert ShardingRuleLookup().rule(end.operation) is None
        assert not diagnostics
        assert ShardingRuleLookup().rule(loop.operation) is None
    assert "op 'scf.for' is unknown to SDY sharding rule registry" in str(diagnostics[0])


def test_a_name_is_needed():
    with pytest.raises(ValueError, match="expected the name of at least one operation"):
        sharding_rule()


def test_only_custom_calls_have_targets():
    with pytest.raises(ValueError, match="has targets"):
        sharding_rule("stablehlo.add", target="x")


PRODUCT = """
  %c = stablehlo.custom_call @product(%x, %y)
    : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
"""


@pytest.mark.parametrize(
    ("given", "is_reported"),
    [
        ({}, True),
        ({"reduction": "k"}, False),
        ({"need_replication": "k"}, False),
        ({"blocked": "k"}, False),
    ],
)
@pytest.mark.usefixtures("own_registry")
def test_a_product_without_reduction_is_reported(given, is_reported, context):
    sharding_rule("stablehlo.custom_call", target="product")(
        lambda _: rule("m k, k n -> m n", **given)
    )
    arguments = "%x: tensor<4x6xf32>, %y: tensor<6x8xf32>"
    text = f"func.func @main({arguments}) {{{PRODUCT}return }}"
    module = parse(text, context)
    call = module.body.operations[0].regions[0].blocks[0].operations[0].operation
    with collect() as found:
        ShardingRuleLookup().rule(call)
    assert len(found) == is_reported
    for each in found:
        assert "'k' is in several operands and in no result of the sharding rule" in each.message
        assert "pass reduction='k' if the operation sums over it" in each.message
        assert each.notes[0].location.filename == __file__


@pytest.mark.parametrize(
    ("notation", "is_reported"),
    [("a b -> c a", True), ("a b -> b a", False), ("a b -> c d", True)],
)
@pytest.mark.usefixtures("own_registry")
def test_a_rule_whose_factors_look_misspelled_is_reported(notation, is_reported, context):
    sharding_rule("stablehlo.custom_call", target="c")(lambda _: rule(notation))
    line = CALL.format(0, "c").replace("-> tensor<4x6x", "-> tensor<6x4x")
    _module, (call,) = operations(context, line)
    with collect() as found:
        ShardingRuleLookup().rule(call)
    assert ["only in a result" in each.message for each in found] == [True] * is_reported
    assert not found or found[0].notes[0].location.filename == __file__
