# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules from files of users."""

import pytest

from mlir_sdy.diagnostics import UsageError
from pyshardy.rules import load_rules, registered_rule, temporary_rules

CALL = "stablehlo.custom_call"
GOOD = """
import pyshardy as sdy

@sdy.sharding_rule("stablehlo.custom_call", target="loaded")
def rule(op):
    return "i j -> i j"
"""


@pytest.fixture(autouse=True)
def own_registry():
    with temporary_rules():
        yield


def test_rules_are_registered_and_can_be_undone(tmp_path):
    path = tmp_path / "rules.py"
    path.write_text(GOOD)
    with temporary_rules():
        load_rules(path)
        assert registered_rule(CALL, "loaded") is not None
    assert registered_rule(CALL, "loaded") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x = \n",
            "{path}:1:5: error: the file of sharding rules is not valid Python: invalid syntax",
        ),
        ("x = 1\0", "{path}: error: the file of sharding rules is not valid Python: "),
        (
            GOOD + "1 / 0",
            "{path}:7: error: running the file of sharding rules failed: ZeroDivisionError",
        ),
        (
            GOOD + "import pyshardy.rules\npyshardy.rules.rule('i')\n",
            "{path}:8: error: running the file of sharding rules failed: RuleError: the rule 'i'",
        ),
        (
            GOOD + "import sys\nsys.exit()",
            "{path}:8: error: running the file of sharding rules failed: SystemExit",
        ),
    ],
)
def test_a_file_that_fails_registers_nothing(tmp_path, text, message):
    path = tmp_path / "rules.py"
    path.write_text(text)
    with pytest.raises(UsageError) as failure:
        load_rules(path)
    assert str(failure.value).startswith(message.format(path=path))
    assert registered_rule(CALL, "loaded") is None


def test_missing_file(tmp_path):
    path = tmp_path / "rules.py"
    with pytest.raises(UsageError, match=r"read the sharding rules in '.*rules.py': No such file"):
        load_rules(str(path))
