# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations propagation erases when nobody uses their results, against C++ Shardy."""

import inspect
import random

import pytest
from rule_cases import FAMILIES, example_case, examples_of, module_of, registrations

from mlir_sdy.assembly import asm, parse
from pyshardy.pipeline import run_pipeline

PER_FAMILY = 12


def compare(shardy, context, cases):
    """Each case is a function with one operation that is dead; it stays if it has effects."""
    # Shardy can't do without a function of this name.
    text = module_of(cases) + "\nfunc.func @main() {\n  return\n}"
    module = parse(text, context)
    expected = shardy.run(asm(module), "builtin.module(sdy-basic-propagate)")
    run_pipeline(module, "sdy-basic-propagate{compatible=true}")
    assert asm(module) == asm(parse(expected, context))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_families(shardy, context, family):
    rng = random.Random(family.__name__)
    compare(shardy, context, [family(rng) for _ in range(PER_FAMILY)])


def test_examples_in_docstrings(shardy, context):
    cases = [
        example_case(operation)
        for entry in registrations()
        for operation, _ in examples_of(inspect.getdoc(entry.function) or "")
        if "!quant" not in operation  # A dialect that jaxlib lacks.
    ]
    assert len(cases) > 40
    compare(shardy, context, cases)
