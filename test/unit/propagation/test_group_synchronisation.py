# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding groups: made equal before propagation, and kept equal during it."""

import pytest

from mlir_sdy.diagnostics import collect
from pyshardy.pipeline.errors import PipelineError

BASIC = "sdy-basic-propagate"
GROUPS = """
      sdy.sharding_group %x group_id=0 : tensor<8xf32>
      sdy.sharding_group %y group_id=0 : tensor<8xf32>
"""


def grouped(left, right):
    """Two arguments in one group."""
    given = [
        sharding and f" {{sdy.sharding = #sdy.sharding<@m, {sharding}>}}"
        for sharding in (left, right)
    ]
    return f"""
    func.func @main(%x: tensor<8xf32>{given[0]}, %y: tensor<8xf32>{given[1]})
        -> (tensor<8xf32>, tensor<8xf32>) {{{GROUPS}
      return %x, %y : tensor<8xf32>, tensor<8xf32>
    }}"""


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param('[{"a"}]', "", '[{"a"}]', id="one has none"),
        pytest.param("[{?}]", '[{"a"}]', '[{"a"}]', id="one is open without axes"),
        pytest.param('[{"a", ?}]', '[{"a", ?}]', '[{"a", ?}]', id="equal"),
        pytest.param("", "", "none", id="nobody has one"),
        pytest.param('[{?}], replicated={"b"}', '[{"a"}]', '[{"a"}]', id="one is only replicated"),
    ],
)
def test_reconciled(outcome, left, right, expected):
    found = outcome(grouped(left, right), BASIC)
    assert found.arguments == [expected] * 2
    assert found.of("sdy.sharding_constraint") == []


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param('[{"a"}]', '[{"b"}]', id="axes"),
        pytest.param('[{"a"}]', '[{"a", ?}]', id="open and closed"),
        pytest.param('[{"a"}]', "[{}]", id="closed without axes"),
        pytest.param('[{"a"}]', '[{"a"}p1]', id="priorities"),
    ],
)
def test_conflict(outcome, left, right):
    """Both are constrained to something open, and a warning names what differs."""
    with collect() as diagnostics:
        found = outcome(grouped(left, right), BASIC)
    (warning,) = diagnostics
    assert (
        "shardings on the sharding groups of groupID: 0 do not match. Inserting" in warning.message
    )
    assert f"<@m, {left}>" in warning.message
    assert len(found.of("sdy.sharding_constraint")) == 2
    assert [len(list(argument.uses)) for argument in found.main.regions[0].blocks[0].arguments] == [
        1,
        1,
    ]


def test_every_conflict_is_told(outcome):
    """Also the second one of a process."""
    for _ in range(2):
        with collect() as diagnostics:
            outcome(grouped('[{"a"}]', '[{"b"}]'), BASIC)
        assert len(diagnostics) == 1


def test_what_one_gains_the_other_gets(recorded):
    text = """
    func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>,
                    %z: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>})
        -> (tensor<8xf32>, tensor<8xf32>) {
      sdy.sharding_group %x group_id=0 : tensor<8xf32>
      sdy.sharding_group %y group_id=0 : tensor<8xf32>
      %0 = stablehlo.add %x, %z : tensor<8xf32>
      %1 = stablehlo.negate %y : tensor<8xf32>
      return %0, %1 : tensor<8xf32>, tensor<8xf32>
    }"""
    found = recorded(text, "basic")
    assert found.arguments == ['[{"a", ?}]', '[{"a", ?}]', '[{"a"}]']
    assert found.of("stablehlo.negate") == ['[{"a", ?}]']
    arguments = found.main.regions[0].blocks[0].arguments
    assert "argument 1 of @main (t.mlir:3:40), given by its sharding group\n" in str(
        found.record.explain(arguments[1])
    )
    assert "argument 2 of @main" in str(found.record.explain(arguments[1]))


def test_a_value_in_two_groups(outcome):
    text = """
    func.func @main(%x: tensor<8xf32>) {
      sdy.sharding_group %x group_id=0 : tensor<8xf32>
      sdy.sharding_group %x group_id=1 : tensor<8xf32>
      return
    }"""
    message = "in sharding groups 0 and 1; merge groups that overlap by sdy-sharding-group-import"
    with pytest.raises(PipelineError, match=message):
        outcome(text, BASIC)
    assert outcome(text, f"sdy-sharding-group-import,{BASIC}").arguments == ["none"]
