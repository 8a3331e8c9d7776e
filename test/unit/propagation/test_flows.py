# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a step moved: from the first tensor that had it, to each that gained it."""

import pytest

from mlir_sdy.model import AxisRef, DimMapping, Mesh, MeshAxis, OpShardingRule, TensorMapping
from pyshardy.forms import sharding
from pyshardy.propagation.basic import StepInputs, propagate_basic
from pyshardy.propagation.debugging.flows import AxisFlow, flows
from pyshardy.propagation.op_priority import PriorityClass, directions_at
from pyshardy.propagation.projection import ShardingProjection

MESH = Mesh((MeshAxis("a", 2), MeshAxis("b", 2), MeshAxis("p", 8)))
A, B, P = AxisRef("a"), AxisRef("b"), AxisRef("p")


def mapping(text):
    """The factors of each dimension: `0 12` are two dimensions."""
    return TensorMapping(tuple(DimMapping(tuple(map(int, dim))) for dim in text.split()))


def moved(rule, *shardings):
    given = [text and sharding(f"<@m, {text}>") for text in shardings]
    before = ShardingProjection.of(rule, given, MESH)
    after = ShardingProjection.of(rule, given, MESH)
    directions = directions_at(rule, PriorityClass.ALWAYS, 4, False)
    propagate_basic(after, StepInputs(directions, rule.factor_sizes, MESH))
    return list(flows(rule, before, after, MESH))


ADD = OpShardingRule((8, 8), (mapping("0 1"),) * 2, (mapping("0 1"),))
RESHAPE = OpShardingRule((4, 6), (mapping("0 1"),), (mapping("01"),))


@pytest.mark.parametrize(
    ("shardings", "expected"),
    [
        pytest.param(
            ['[{"a"}, {?}]', None, None],
            [AxisFlow(0, (A,), 0, 1, 0), AxisFlow(0, (A,), 0, 2, 0)],
            id="operands come before results",
        ),
        pytest.param(
            [None, None, '[{"a"}, {"b"}]'],
            [
                AxisFlow(0, (A,), 2, 0, 0),
                AxisFlow(1, (B,), 2, 0, 1),
                AxisFlow(0, (A,), 2, 1, 0),
                AxisFlow(1, (B,), 2, 1, 1),
            ],
            id="backward",
        ),
        pytest.param(
            ['[{"a"}, {}]', '[{"a", "b", ?}, {}]', "[{}, {}]"],
            [],
            id="nothing moves past a closed one",
        ),
        pytest.param(
            ['[{"a", ?}, {?}]', '[{"a", "b", ?}, {?}]', '[{"a", ?}, {?}]'],
            [AxisFlow(0, (B,), 1, 0, 0), AxisFlow(0, (B,), 1, 2, 0)],
            id="only what is new",
        ),
        pytest.param(
            ['[{"p":(1)2, ?}, {?}]', '[{"p", ?}, {?}]', '[{"p", ?}, {?}]'],
            [AxisFlow(0, (P,), 1, 0, 0)],
            id="a part that grows is there as what it became",
        ),
    ],
)
def test_add(shardings, expected):
    assert moved(ADD, *shardings) == expected


def test_factors_of_one_dimension_merge():
    operand = '[{"p":(1)4}, {"p":(4)2, "a"}]'
    assert moved(RESHAPE, operand, None) == [
        AxisFlow(0, (AxisRef.sub("p", 1, 4),), 0, 1, 0),
        AxisFlow(1, (AxisRef.sub("p", 4, 2), A), 0, 1, 0),
    ]
    assert moved(RESHAPE, '[{"p":(1)4}, {"p":(4)2}]', None)[1].axes == (P,)
