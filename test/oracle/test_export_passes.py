# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The export passes against C++ Shardy: the same modules afterwards, to the letter."""

import contextlib
from pathlib import Path

import pytest
from case_counts import cases
from export_cases import CASES, MESHES
from export_programs import ExportWriter
from programs import random_module_with_calls
from shardy import Shardy, ShardyAborted

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from pyshardy.pipeline import run_pipeline

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))


def compare(shardy: Shardy, context: Context, text: str, pipeline: str) -> None:
    """Both leave the same text."""
    module = parse(text, context)
    printed = asm(module)
    expected = asm(parse(shardy.run(printed, f"builtin.module({pipeline})"), context))
    run_pipeline(module, pipeline)
    assert asm(module) == expected, f"{pipeline}\n{printed}"


@pytest.mark.parametrize(
    ("pipeline", "text"),
    [
        pytest.param(pipeline, f"{MESHES}{text}", id=f"{pipeline}-{index}")
        for pipeline, texts in CASES.items()
        for index, text in enumerate(texts)
    ],
)
@pytest.mark.shardy_since(0, 12)
def test_case(shardy, context, pipeline, text):
    compare(shardy, context, text, pipeline)


AFTER_PROPAGATION = (
    "sdy-import-pipeline,sdy-apply-sharding-constraints,sdy-sharding-group-import,"
    "sdy-user-priority-propagate"
)
"""Leaves edges, constants, constraints and groups, all sharded."""

FLATTENED = (
    "sdy-import-pipeline,sdy-flatten-call-graph,symbol-dce,sdy-add-func-data-flow-edges,"
    "sdy-apply-sharding-constraints,func.func(sdy-sink-func-data-flow-edges),"
    "sdy-sharding-group-import,sdy-import-func-calls,symbol-dce,sdy-pre-order-funcs,"
    "sdy-user-priority-propagate"
)
"""Leaves a named computation for each call, with edges."""

ALONE = (
    "func.func(sdy-constant-or-scalar-merger)",
    "func.func(sdy-sink-data-flow-edges)",
    "sdy-remove-sharding-groups",
    "func.func(sdy-sharding-constraint-to-reshard)",
    "sdy-update-non-divisible-input-output-shardings",
    "sdy-remove-sub-axes-in-input-output-shardings",
    "sdy-close-shardings",
    "sdy-inline-meshes",
)
BACK_TO_CALLS = (
    "sdy-export-named-computations",
    "sdy-propagate-to-func-results",
    "sdy-unflatten-call-graph",
    "symbol-dce",
    "sdy-insert-func-call-reshards",
)


def prepared(shardy: Shardy, context: Context, seeds: range, pipeline: str) -> list[str]:
    """Random programs after some passes of C++ Shardy, which aborts at a few of them."""
    found: list[str] = []
    for seed in seeds:
        text = random_module_with_calls(seed, writer_class=ExportWriter)
        with contextlib.suppress(ShardyAborted):
            found.append(shardy.run(asm(parse(text, context)), f"builtin.module({pipeline})"))
    assert len(found) >= 0.9 * len(seeds)
    return found


@pytest.mark.parametrize("pipeline", ALONE)
def test_each_pass_on_random_programs(shardy, context, pipeline):
    for text in prepared(shardy, context, range(cases(10)), AFTER_PROPAGATION):
        compare(shardy, context, text, pipeline)


@pytest.mark.parametrize("num_passes", range(1, len(BACK_TO_CALLS) + 1))
@pytest.mark.shardy_since(0, 12)
def test_back_to_calls_pass_by_pass(shardy, context, num_passes):
    for text in prepared(shardy, context, range(100, 100 + cases(10)), FLATTENED):
        compare(shardy, context, text, ",".join(BACK_TO_CALLS[:num_passes]))


def test_unflatten_fully_on_random_programs(shardy, context):
    pipeline = "sdy-unflatten-call-graph{dedup-functions-fully=true},symbol-dce"
    for text in prepared(
        shardy, context, range(200, 200 + cases(16)), f"{FLATTENED},{','.join(BACK_TO_CALLS[:2])}"
    ):
        compare(shardy, context, text, pipeline)


PIPELINE_OPTIONS = (
    "",
    "avoid-export-for-partitioning=true",
    "enable-insert-explicit-collectives=true",
    "enable-insert-explicit-collectives=true remove-all-gather-reduce-scatter-for-cmv1=true",
    "keep-sharding-rules=true",
    "update-non-divisible-input-output-shardings=false",
)


@pytest.mark.parametrize("options", PIPELINE_OPTIONS)
@pytest.mark.shardy_since(0, 12)
def test_pipeline(shardy, context, options):
    for text in prepared(shardy, context, range(300, 325), AFTER_PROPAGATION):
        compare_pipeline(shardy, context, text, options)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.shardy_since(0, 12)
def test_pipeline_on_examples(shardy, context, path):
    text = asm(parse(path.read_text(), context))
    text = shardy.run(text, f"builtin.module({FLATTENED},{','.join(BACK_TO_CALLS)})")
    for options in PIPELINE_OPTIONS:
        compare_pipeline(shardy, context, text, options)


def compare_pipeline(shardy: Shardy, context: Context, text: str, options: str) -> None:
    """Both leave the same text."""
    module = parse(text, context)
    printed = asm(module)
    expected = shardy.run(printed, f"builtin.module(sdy-export-pipeline{{{options}}})")
    run_pipeline(module, f"sdy-export-pipeline{{{options}}}")
    assert asm(module) == asm(parse(expected, context)), f"{options}\n{printed}"
