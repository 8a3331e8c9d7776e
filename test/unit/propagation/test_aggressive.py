# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The aggressive strategy: how it decides conflicts."""

import pytest

from mlir_sdy.model import (
    AxisRef,
    DimMapping,
    Mesh,
    MeshAxis,
    OpShardingRule,
    TensorMapping,
)
from pyshardy.propagation.aggressive import preferred_order
from pyshardy.propagation.projection import ShardingProjection

AGGRESSIVE = "sdy-aggressive-propagate"


def program(operation, *tensors):
    """A function of one operation on %0, %1, ...; the last tensor is its result."""
    *operands, result = [
        (f"tensor<{shape}xf32>", sharding and f" {{sdy.sharding = #sdy.sharding<@m, {sharding}>}}")
        for shape, sharding in tensors
    ]
    arguments = ", ".join(f"%{at}: {kind}{given}" for at, (kind, given) in enumerate(operands))
    names = ", ".join(f"%{at}" for at in range(len(operands)))
    types = ", ".join(kind for kind, _ in operands)
    own = result[1].replace("#sdy.sharding<", "#sdy.sharding_per_value<[<").replace(">}", ">]>}")
    return (
        f"func.func @main({arguments}) -> {result[0]} {{\n"
        f"  %r = stablehlo.{operation} {names}{own} : ({types}) -> {result[0]}\n"
        f"  return %r : {result[0]}\n}}"
    )


@pytest.mark.parametrize(
    ("operation", "tensors", "expected"),
    [
        pytest.param(
            "dot",
            [("8x4", '[{"a"}, {?}]'), ("4x16", '[{?}, {"a"}]'), ("8x16", "")],
            '[{?}, {"a", ?}]',
            id="the larger source wins",
        ),
        pytest.param(
            "dot",
            [("8x8", '[{"a"}, {?}]'), ("8x8", '[{?}, {"a"}]'), ("8x8", "")],
            '[{"a", ?}, {?}]',
            id="of equally large sources the first wins",
        ),
        pytest.param(
            "add",
            [("8x8", '[{"a"}, {?}]'), ("8x8", '[{?}, {"a"}]'), ("8x8", "")],
            '[{"a", ?}, {?}]',
            id="of equal factors the first wins",
        ),
        pytest.param(
            "add",
            [("8x8", '[{"a"}, {?}]'), ("8x8", '[{?}, {"a", "b"}]'), ("8x8", "")],
            '[{?}, {"a", "b", ?}]',
            id="element-wise, more pieces win",
        ),
        pytest.param(
            "add",
            [("8x8", '[{"a", "b", ?}, {?}]'), ("8x8", '[{"a", "c", ?}, {?}]'), ("8x8", "")],
            '[{"a", ?}, {?}]',
            id="real disagreement has a common prefix",
        ),
        pytest.param(
            "add",
            [("8x8", '[{"a", "b"}, {?}]'), ("8x8", '[{?}, {?}], replicated={"b"}'), ("8x8", "")],
            '[{"a", "b", ?}, {?}]',
            id="a replicated axis bars its own tensor only",
        ),
    ],
)
def test_result(outcome, operation, tensors, expected):
    found = outcome(program(operation, *tensors), AGGRESSIVE)
    assert found.of(f"stablehlo.{operation}") == [expected]
    assert found.results == [expected]


@pytest.mark.parametrize(
    ("operation", "tensors", "expected"),
    [
        pytest.param(
            "dot",
            [("8x8", '[{"a"}, {?}]'), ("8x8", ""), ("8x8", '[{?}, {"a"}]')],
            '[{?}, {"a", ?}]',
            id="what conflicts in one tensor may be right for another",
        ),
        pytest.param(
            "add",
            [("8x8", '[{"a", "b"}, {?}]'), ("8x8", '[{?}, {?}], replicated={"b"}'), ("8x8", "")],
            '[{"a", ?}, {?}], replicated={"b"}',
            id="a replicated axis bars its own tensor",
        ),
        pytest.param(
            "add",
            [("8x8", '[{"a", ?}, {?}]'), ("8x8", ""), ("8x8", "[{}, {?}]")],
            "none",
            id="element-wise, no axes travel sideways past a result that refused them",
        ),
        pytest.param(
            "custom_call @sdy_testonly",
            [("8x8", '[{"a", ?}, {?}]'), ("8x8", ""), ("8x8", "[{}, {?}]")],
            '[{"a", ?}, {?}]',
            id="otherwise they do",
        ),
    ],
)
def test_second_operand(outcome, operation, tensors, expected):
    text = program(operation, *tensors)
    if "custom_call" in operation:
        rule = (
            "sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) "
            "{i=8, j=8}, custom>"
        )
        text = text.replace(" %0, %1", "(%0, %1)").replace(
            "{sdy.sharding = #sdy.sharding_per_value",
            f"{{{rule}, sdy.sharding = #sdy.sharding_per_value",
        )
    assert outcome(text, AGGRESSIVE).arguments[1] == expected


def test_basic_leaves_conflicts_alone(outcome):
    tensors = [("8x8", '[{"a"}, {?}]'), ("8x8", '[{?}, {"a"}]'), ("8x8", "")]
    assert outcome(program("dot", *tensors), "sdy-basic-propagate").results == ["none"]


def test_basic_then_aggressive(outcome):
    """What nobody objects to comes first, here the axis of %z, and then conflicts are decided."""
    text = """
    func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {?}]>},
                    %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"a"}]>},
                    %z: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"a"}]>})
        -> tensor<8x8xf32> {
      %0 = stablehlo.dot %x, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %1 = stablehlo.add %0, %z : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    }"""
    assert outcome(text, AGGRESSIVE).of("stablehlo.dot") == ['[{"a", ?}, {?}]']
    both = f"{AGGRESSIVE}{{propagation-strategy=basic-then-aggressive}}"
    assert outcome(text, both).of("stablehlo.dot") == ['[{?}, {"a", ?}]']


def test_conservative_takes_full_axes_only(outcome):
    text = program("negate", ("8", '[{"c":(1)2}]'), ("8", "")).replace(
        "(tensor<8xf32>) -> tensor<8xf32>\n", "tensor<8xf32>\n"
    )
    assert outcome(text, AGGRESSIVE).results == ['[{"c":(1)2, ?}]']
    assert outcome(text, f"{AGGRESSIVE}{{conservative-propagation=true}}").results == ["none"]


# --- The order of factors -------------------------------------------------------------------------

ORDER_MESH = Mesh((MeshAxis("a", 2), MeshAxis("b", 4)))
A, B = (AxisRef("a"),), (AxisRef("b"),)


def mapping(*factors):
    return TensorMapping(tuple(DimMapping((factor,)) for factor in factors))


@pytest.mark.parametrize(
    ("sizes", "operands", "axes", "is_elementwise", "order"),
    [
        pytest.param((4, 8), [(0,), (1,)], [A, B], False, [1, 0], id="larger source"),
        pytest.param((8, 8), [(1,), (0,)], [A, B], False, [1, 0], id="first source"),
        pytest.param((8, 8), [(0, 1)], [A, B], False, [0, 1], id="lower index"),
        pytest.param((8, 8), [(0, 1)], [A, B], True, [1, 0], id="more pieces"),
        pytest.param((8, 2), [(0,), (1,)], [(), B], False, [1, 0], id="without a source last"),
    ],
)
def test_preferred_order(sizes, operands, axes, is_elementwise, order):
    rule = OpShardingRule(sizes, tuple(mapping(*factors) for factors in operands), ())
    projection = ShardingProjection.from_factor_axes(rule, axes)
    found = preferred_order(projection, axes, sizes, ORDER_MESH, is_elementwise)
    assert found == order
