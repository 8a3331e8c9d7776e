# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Basic propagation against C++ Shardy: the same programs afterwards, to the letter."""

from pathlib import Path

import pytest
from case_counts import cases
from programs import random_module, random_module_with_calls
from shardy import Shardy

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from pyshardy.passes.propagating import basic_propagate
from pyshardy.pipeline import run_pipeline
from pyshardy.propagation.options import PropagationSettings

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))
CASES_PER_TEST = 50

PIPELINE = (
    "sdy-lift-inlined-meshes",
    "sdy-add-func-data-flow-edges",
    "sdy-basic-propagate",
    "sdy-propagate-to-func-results",
    "func.func(sdy-sink-func-data-flow-edges)",
    "func.func(sdy-sharding-constraint-to-reshard)",
    "sdy-close-shardings",
)
"""What the named pipeline stands for."""


def normalised(text: str, context: Context) -> str:
    return asm(parse(text, context))


def compare(shardy: Shardy, context: Context, text: str, options: str = "", **keywords) -> None:
    module = parse(text, context)
    printed = asm(module)
    expected = shardy.run(printed, f"builtin.module(sdy-basic-propagate{options})")
    basic_propagate(module, PropagationSettings(**keywords))
    assert asm(module) == normalised(expected, context), printed


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(shardy, context, path):
    compare(shardy, context, path.read_text())


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("block", range(cases(3)))
def test_random_programs(shardy, context, block):
    for seed in range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST):
        compare(shardy, context, random_module(seed))


def test_small_random_programs(shardy, context):
    for seed in range(cases(50)):
        compare(shardy, context, random_module(10_000 + seed, max_operations=3))


@pytest.mark.shardy_since(0, 12)
def test_conservative(shardy, context):
    options = "{conservative-propagation=true}"
    for seed in range(cases(30)):
        text = random_module(20_000 + seed)
        compare(shardy, context, text, options, conservative_propagation=True)


@pytest.mark.shardy_since(0, 12)
def test_keep_sharding_rules(shardy, context):
    options = "{keep-sharding-rules=true}"
    for seed in range(cases(15)):
        text = random_module(30_000 + seed)
        compare(shardy, context, text, options, keep_sharding_rules=True)


@pytest.mark.parametrize("num_passes", range(1, len(PIPELINE)))
@pytest.mark.shardy_since(0, 12)
def test_pipeline_pass_by_pass(shardy, context, num_passes):
    pipeline = ",".join(PIPELINE[:num_passes])
    for seed in range(15):
        module = parse(random_module_with_calls(40_000 + seed), context)
        printed = asm(module)
        expected = shardy.run(printed, f"builtin.module({pipeline})")
        run_pipeline(module, pipeline)
        assert asm(module) == normalised(expected, context), printed


@pytest.mark.parametrize("block", range(4))
@pytest.mark.shardy_since(0, 12)
def test_pipeline(shardy, context, block):
    seeds = range(block * CASES_PER_TEST, (block + 1) * CASES_PER_TEST)
    texts = [random_module_with_calls(50_000 + seed) for seed in seeds]
    if block == 0:
        texts.extend(path.read_text() for path in EXAMPLES)
    for text in texts:
        module = parse(text, context)
        printed = asm(module)
        expected = shardy.run(printed, f"builtin.module({','.join(PIPELINE)})")
        run_pipeline(module, "sdy-basic-propagation-pipeline")
        assert asm(module) == normalised(expected, context), printed
