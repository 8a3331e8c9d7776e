# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The import passes against C++ Shardy: the same programs afterwards, to the letter."""

import re
from pathlib import Path

import pytest
from case_counts import cases
from import_programs import (
    FlatImportWriter,
    random_import_module,
    random_import_module_with_calls,
)
from shardy import ShardyRefused

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from pyshardy.pipeline import run_pipeline

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.mlir"))
LIT_TESTS = ROOT / "test" / "lit" / "passes" / "importing"

OWN_PASSES = ("flatten_tuples", "unmerge_batch_dimensions")
"""The passes that C++ Shardy doesn't have."""

FUNCTION_PASSES = {"sdy-explicit-gather-scatter-batching"}

BEHIND_IMPORT = (
    "sdy-import-pipeline,sdy-flatten-call-graph,symbol-dce,sdy-add-func-data-flow-edges,"
    "sdy-apply-sharding-constraints,func.func(sdy-sink-func-data-flow-edges),"
    "sdy-sharding-group-import,sdy-import-func-calls,symbol-dce,sdy-pre-order-funcs"
)
"""What comes before propagation in the whole pipeline."""

PIPELINES = (
    "sdy-lift-inlined-meshes",
    "sdy-remove-size-one-axes",
    "sdy-propagate-sharding-from-func-to-call",
    "sdy-constant-or-scalar-splitter",
    "sdy-manual-axes-cleanup",
    "sdy-add-data-flow-edges",
    "sdy-apply-sharding-constraints",
    "sdy-add-data-flow-edges,sdy-apply-sharding-constraints",
    "sdy-sharding-group-import",
    "sdy-flatten-call-graph",
    "sdy-import-func-calls",
    "sdy-import-func-calls{add-data-flow-edges-on-named-computations=false}",
    "sdy-flatten-call-graph,sdy-import-func-calls",
    "sdy-pre-order-funcs",
    "sdy-add-func-data-flow-edges",
    "sdy-import-pipeline",
    "sdy-import-pipeline{dedup-functions-fully=true}",
    BEHIND_IMPORT,
    # The order in which values list their uses shows in how propagation settles conflicts.
    f"{BEHIND_IMPORT},sdy-basic-propagate",
)


def compare(shardy, context, text, pipeline):
    module = parse(text, context)
    printed = asm(module)
    expected = shardy.run(printed, f"builtin.module({pipeline})")
    run_pipeline(module, pipeline)
    assert asm(module) == asm(parse(expected, context)), printed


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(shardy, context, path, pipeline):
    compare(shardy, context, path.read_text(), pipeline)


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.shardy_since(0, 12)
def test_random_programs(shardy, context, pipeline):
    for seed in range(cases(8)):
        compare(shardy, context, random_import_module(seed), pipeline)
        compare(shardy, context, random_import_module_with_calls(1_000 + seed), pipeline)


@pytest.mark.parametrize("block", range(cases(1)))
@pytest.mark.shardy_since(0, 12)
def test_before_propagation(shardy, context, block):
    for seed in range(50 * block, 50 * (block + 1)):
        compare(shardy, context, random_import_module_with_calls(2_000 + seed), BEHIND_IMPORT)


@pytest.mark.shardy_since(0, 12)
def test_steps_of_applied_constraints(shardy, context):
    options = "{debug-propagation-edge-sharding=true}"
    pipeline = f"sdy-add-data-flow-edges,sdy-apply-sharding-constraints{options}"
    for seed in range(cases(15)):
        text = random_import_module(3_000 + seed, writer_class=FlatImportWriter)
        compare(shardy, context, text, pipeline)


def lit_cases():
    """The inputs of the lit tests that don't say that C++ Shardy does otherwise."""
    for path in sorted(LIT_TESTS.glob("*.mlir")):
        text = path.read_text()
        if "C++ Shardy" in text or "-verify-diagnostics" in text or "dump-directory" in text:
            continue
        if path.stem.startswith(OWN_PASSES):
            continue
        passes = re.findall(r" -(sdy-[\w-]+|symbol-dce)", text.partition("\n")[0])
        pipeline = ",".join(f"func.func({p})" if p in FUNCTION_PASSES else p for p in passes)
        for index, chunk in enumerate(text.split("// -----")):
            yield pytest.param(pipeline, chunk, id=f"{path.stem}-{index}")


@pytest.mark.parametrize(("pipeline", "text"), list(lit_cases()))
@pytest.mark.shardy_since(0, 12)
def test_inputs_of_lit_tests(shardy, context, pipeline, text):
    compare(shardy, context, text, pipeline)


def test_refused_alike(shardy, context):
    refused = 0
    pipeline = "sdy-manual-axes-cleanup,sdy-sharding-group-import"
    for chunk in (LIT_TESTS / "invalid.mlir").read_text().split("// -----"):
        if "call @" in chunk:  # What is wrong with calls makes C++ Shardy abort.
            continue
        module = parse(chunk, context)
        with pytest.raises(ShardyRefused) as theirs:
            shardy.run(asm(module), f"builtin.module({pipeline})")
        with pytest.raises(SdyError) as ours:
            run_pipeline(module, pipeline)
        message = ours.value.diagnostics[0].message.partition(". This isn't allowed")[0]
        assert message in str(theirs.value)
        refused += 1
    assert refused == 3
