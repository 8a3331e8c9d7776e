# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations a filter chooses."""

import pytest

from pyshardy.passes.partitioning.per_instruction_partitioning import InstructionFilter


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("", [0, 1, 2, 3]),
        ("  ", [0, 1, 2, 3]),
        ("selectLow=2", [2, 3]),
        ("selectHigh=1", [0, 1]),
        ("selectLow=1,selectHigh=2", [1, 2]),
        ("dot", [1]),
        ("stablehlo.add, dot", [0, 1, 3]),
        ("'selectLow=1, add'", [3]),
        ('"dot_general"', [1]),
        ("selectLow=3,selectHigh=1", []),
    ],
)
def test_choices(text, chosen):
    names = ["stablehlo.add", "stablehlo.dot_general", "stablehlo.negate", "stablehlo.add"]
    which = InstructionFilter.parse(text)
    found = [number for number, name in enumerate(names) if which.chooses(number, name)]
    assert found == chosen


def test_bounds_are_numbers():
    with pytest.raises(ValueError, match="'selectLow' must be a number, got: 'two'"):
        InstructionFilter.parse("selectLow=two")
