# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""User priorities: what is hidden, when it comes back, and what that decides."""

import pytest

from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.forms import sharding
from pyshardy.propagation.driver import hidden, restored

MESH = Mesh((MeshAxis("x", 2), MeshAxis("y", 2), MeshAxis("z", 4)))
PASS = "sdy-user-priority-propagate"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('<@m, [{"y"}p1, {"x", ?}p0]>', '<@m, [{}, {"x", ?}], replicated={"y"}>'),
        ('<@m, [{"y"}p2, {"x"}p1]>', '<@m, [{}, {}], replicated={"x", "y"}>'),
        ('<@m, [{"y"}p1], replicated={"z"}>', '<@m, [{}], replicated={"y", "z"}>'),
        ('<@m, [{"z":(2)2}p1, {"z":(1)2}p1]>', '<@m, [{}, {}], replicated={"z":(1)2, "z":(2)2}>'),
        ("<@m, [{?}p1, {?}]>", "<@m, [{}, {?}]>"),
        ('<@m, [{"x"}p1], unreduced={"y"}>', '<@m, [{}], replicated={"x"}, unreduced={"y"}>'),
        ('<@m, [{"x"}p0]>', '<@m, [{"x"}]>'),
    ],
)
def test_hidden(given, expected):
    assert str(hidden(sharding(given), MESH)) == expected


@pytest.mark.parametrize(
    ("current", "original", "priority", "expected"),
    [
        (
            '<@m, [{}, {"x", "z", ?}], replicated={"y"}>',
            '<@m, [{"y"}p1, {"x", ?}]>',
            1,
            '<@m, [{"y"}, {"x", "z", ?}]>',
        ),
        (
            '<@m, [{}, {}], replicated={"x", "y"}>',
            '<@m, [{"y"}p2, {"x"}p1]>',
            1,
            '<@m, [{}, {"x"}], replicated={"y"}>',
        ),
        ("<@m, [{}, {}]>", "<@m, [{?}p3, {}]>", 3, "<@m, [{?}, {}]>"),
        ('<@m, [{}], replicated={"z"}>', '<@m, [{"x"}p1]>', 2, '<@m, [{}], replicated={"z"}>'),
    ],
)
def test_restored(current, original, priority, expected):
    assert str(restored(sharding(current), sharding(original), priority)) == expected


def add(left, right):
    return f"""
    func.func @main(%x: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, {left}>}},
                    %y: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, {right}>}})
        -> tensor<8x8xf32> {{
      %0 = stablehlo.add %x, %y : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }}"""


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param('[{"a"}, {?}]', '[{?}, {"a"}]', '[{"a", ?}, {?}]', id="no priorities"),
        pytest.param(
            '[{"a"}p1, {?}]', '[{?}, {"a"}]', '[{?}, {"a", ?}]', id="the lower number comes first"
        ),
        pytest.param(
            '[{"a"}p2, {?}]', '[{?}, {"a"}p1]', '[{?}, {"a", ?}]', id="whatever the numbers are"
        ),
        pytest.param(
            '[{"a"}p1, {?}]', '[{?}, {"a"}p1]', '[{"a", ?}, {?}]', id="equal ones come together"
        ),
    ],
)
def test_order(outcome, left, right, expected):
    assert outcome(add(left, right), PASS).of("stablehlo.add") == [expected]


def test_no_priorities_are_left(outcome):
    found = outcome(add('[{"a"}p1, {?}p3]', '[{?}p2, {"b"}p0]'), PASS)
    assert found.arguments == ['[{"a"}, {"b", ?}]', '[{"a", ?}, {"b"}]']


def test_an_open_dimension_may_wait(recorded):
    """Until its priority comes, it is closed."""
    record = recorded(add('[{"a"}, {?}]', "[{?}p1, {?}]"), by_user=True).record
    assert [step.run.user_priority for step in record if step.name == "stablehlo.add"] == [0, 1]


def test_hidden_axes_are_kept_for_their_dimension(outcome):
    """At first %x can't take "a" elsewhere, as it will need that."""
    found = outcome(add('[{?}, {"a"}p1]', '[{"a"}, {?}]'), PASS)
    assert found.arguments == ['[{?}, {"a"}]', '[{"a"}, {?}]']


def test_priorities_of_data_flow_edges_count(outcome):
    text = """
    func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {"a"}]>})
        -> tensor<8x8xf32> {
      %0 = stablehlo.optimization_barrier {
        sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a", ?}p1, {?}]>]>} %x : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    found = outcome(text, f"sdy-add-data-flow-edges,{PASS}")
    assert found.of("sdy.data_flow_edge") == ['[{"a", ?}, {?}]']


def test_members_of_a_group_are_hidden_alike(outcome):
    text = """
    func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}p1]>},
                    %y: tensor<8xf32>) {
      sdy.sharding_group %x group_id=0 : tensor<8xf32>
      sdy.sharding_group %y group_id=0 : tensor<8xf32>
      return
    }"""
    assert outcome(text, PASS).arguments == ['[{"a"}]', '[{"a"}]']
