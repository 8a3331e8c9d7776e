# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples in the docstrings of rules."""

import pytest
from rule_cases import example_case, examples_of, module_of, registrations

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.rules import ShardingRuleLookup


def name_of(entry):
    return getattr(entry.function, "__name__", None)


# The first needs a function beside: see test_beyond_shardy.py; the second needs a topology.
WITHOUT_EXAMPLE = {"composite_rule", "transfer_rule"}


@pytest.mark.parametrize("entry", registrations(), ids=name_of)
def test_examples(context, entry):
    examples = list(examples_of(entry.function.__doc__))
    assert bool(examples) is (name_of(entry) not in WITHOUT_EXAMPLE)
    for operation, rules in examples:
        module = parse(module_of([example_case(operation)]), context)
        found = first_operation(module)
        for kind, expected in rules.items():
            lookup = ShardingRuleLookup(conservative=kind == "conservative")
            assert str(lookup.rule(found)) == f"<{expected}>"


def first_operation(module: ir.Module) -> ir.Operation:
    return module.body.operations[0].operation.regions[0].blocks[0].operations[0].operation


@pytest.fixture(scope="module")
def context():
    return Context()
