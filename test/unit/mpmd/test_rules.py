# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text form of rules that order and merge fragments."""

import pytest

from mlir_sdy.diagnostics import UsageError
from mlir_sdy.mpmd.values import UserOrigin
from pyshardy.mpmd.schedules.rules import FragmentInfo, read_merge_rules, read_schedule_rules

F = FragmentInfo((UserOrigin("f"),))
G = FragmentInfo((UserOrigin("g", 1), UserOrigin("h")), 2, 0, "drop", "m1")
G_TEXT = (
    'FragmentInfo(origins=["g"(1),"h"],stage=2,call_counter=0,split_type=kDropTransferred,'
    'mesh_name="m1")'
)


def test_a_description_is_read_as_it_is_written():
    assert str(G) == G_TEXT
    rule = f"FragmentScheduleRule(ordered_fragments=[{G}->{F}])"
    assert read_schedule_rules(rule) == [[G, F]]


def test_fields_come_in_any_order_and_with_spaces():
    text = (
        'FragmentInfo(origins=["g"(1), "h"], mesh_name="m1", split_type=kDropTransferred, '
        "call_counter=0, stage=2)"
    )
    assert read_schedule_rules(f"FragmentScheduleRule(ordered_fragments=[{text} -> {F}])") == [
        [G, F]
    ]


def test_several_rules_follow_each_other_with_or_without_a_comma():
    rule = f"FragmentMergeRule(sources=[{F},{G}],target={F})"
    for separator in ("", ",", ", ", " "):
        assert read_merge_rules(separator.join([rule, rule])) == [([F, G], F)] * 2
    assert read_merge_rules("") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Rule()", "expected 'FragmentScheduleRule(ordered_fragments=[', got 'Rule()'"),
        (
            f"FragmentScheduleRule(ordered_fragments=[{F}",
            "expected '->' or '])', but the text ends",
        ),
        (
            'FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],step=1)])',
            "expected 'stage=' or 'call_counter=' or 'split_type=' or 'mesh_name=', got 'step=1",
        ),
        (
            'FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],stage=1,stage=2)])',
            "expected 'stage=' only once",
        ),
        (
            'FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],split_type=keep)])',
            "expected a value of 'split_type=', got 'keep)",
        ),
        (
            'FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"(x)])])',
            "expected a transpose count, got 'x)",
        ),
        (
            "FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=[])])",
            "expected the name of a computation in quotes, got '])",
        ),
    ],
)
def test_a_malformed_rule_is_an_error(text: str, message: str):
    with pytest.raises(UsageError) as failure:
        read_schedule_rules(text)
    assert message in str(failure.value)
