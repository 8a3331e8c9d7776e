# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single MPMD passes, compared with those of C++ Shardy on the programs of the lit tests."""

import random
import re
import shlex
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

import pytest
from case_counts import cases
from mpmd_passes import symbols
from shardy import Shardy, ShardyAborted, ShardyRefused

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError, collect
from oracle_environment import MISSING, oracle_python
from pyshardy.pipeline import run_pipeline

LIT = Path(__file__).parents[1] / "lit" / "mpmd"
COUNT = 150
"""The number of pairs of a pass and a program of another test; the weekly run has 3000."""

PASS = re.compile(r"--?(mpmd-[\w-]+)(?:=(.*))?")

OURS = {
    "mpmd-import-names",
    "mpmd-inline-func-calls",
    "mpmd-move-shardings-to-meshes",
    "mpmd-split-and-prioritize-transfer-independent-computations",
    "mpmd-unroll-scan",
}
"""Passes that jaxlib 0.12 has not."""


class Row(NamedTuple):
    """Differences that are known: how both differ, for which passes and programs, and why."""

    how: str
    passes: str
    programs: str
    why: str


ANY = ".*"
KNOWN = (
    # What the passes before them in the pipelines of C++ Shardy ensure is asserted.
    Row("they abort", "infer-mesh-finalize|infer-mesh-rewrite-using-analysis", ANY, "no analysis"),
    Row("they abort", "map-input-output-to-mesh", ANY, "no such mesh, argument or result"),
    Row("they abort", "mark-fragment-reserved-memory", ANY, "operations outside of fragments"),
    Row("they abort", "uniquify-function-inputs-outputs", ANY, "values without a mesh"),
    Row("they abort", "generate-sdy-meshes-from-topology", ANY, "no axes named after meshes"),
    Row("they abort", "call-inline", ANY, "an mpmd.call, if the pass runs alone"),
    Row("they abort", "lower-to-fragment-calls", "unroll_scan", "a region with free values"),
    Row("they abort", "sink-create-token", "sink_create_token.*_invalid", "a token that is used"),
    Row("they abort", "extract-reshards", "ops|validate_no.*", "a chain of transfers"),
    Row("they abort", "enforce-input-output-equisharding", "infer_mesh_populate.*", "no results"),
    Row("they abort", "enforce-user-shardings", "sharding_propagation.*", "sub-axes"),
    Row("they abort", "merge-user-fragments", "lower_to_fragment_calls_names", "several counts"),
    Row("they abort", "verify-stage-merging", "ops", "several counts"),
    # docs/differences.md
    Row("text", "enforce-input-output-equisharding", ANY, "the sharding is enforced, too"),
    Row("text", "split-bwd-fragments", "split_bwd_fragments", "three operations"),
    Row("text", "lower-to-fragment-calls", "lower_to_fragment_calls", "other shardings"),
    Row("text", "mark-offloaded-input-output", ANY, "types say the memory, too"),
    Row("text", "mark-fragment-reserved-memory", "mark_offloaded.*", "memory of a host"),
    Row("text", "generate-sdy-meshes-from-topology", ANY, "the topology keeps its meshes"),
    Row("text", "populate-unreduced-out-sharding", "populate_unreduced.*", "any operation"),
    Row("text", "extract-reshards", ANY, "user shardings, and transfers chosen by time"),
    Row("text", "rule-based-merge", "rule_based_.*", "a description without a mesh"),
    Row("text", "rule-based-schedule", "canonicalize", "a description without a mesh"),
    Row("text", "absorb-inferred|simplify-program", ANY, "the place of constants"),
    Row("text", "infer-mesh-finalize", "remove_transfer_cycles", "a round trip by the host"),
    Row("text", "mark-aliasing-and-donation", "sink_create_token.*", "tokens have no memory"),
    Row("their text is invalid", "simplify-program|fragment-dce", ANY, "shardings of the dropped"),
    Row("we refuse", "map-named-ops-to-mpmd-ops", ANY, "a mesh that the topology lacks"),
    Row("we refuse", "pipeline-scheduler{must-happen-before=circular", ANY, "no stages"),
    Row("we refuse", "pipeline-scheduler{remove-control", ANY, "leaves invalid operands there"),
    Row("we refuse", "validate-no-inferred-fragments", ANY, "only warns in jaxlib 0.12"),
    Row("we refuse", "rule-based-merge", "lower_to_fragment_calls_names", "equal descriptions"),
    Row("they refuse", "convert-sdy-shardings", "ops", "an assignment gets a sharding"),
    Row("they refuse", "lower-to-fragment-calls|infer-mesh-finalize", "sink_create.*", "tokens"),
    Row("they refuse", "infer-mesh-finalize", "infer_mesh_finalize", "without a diagnostic"),
    Row("they refuse", "generate-sdy-meshes", "extract_reshards_invalid", "no axes named so"),
)


class Case(NamedTuple):
    """A pass with its options, and a program."""

    name: str
    step: str
    text: str


@cache
def run_lines() -> tuple[Case, ...]:
    """Return the run lines of single passes, with each part of the file."""
    found: list[Case] = []
    for file in sorted(LIT.rglob("*.mlir")):
        text = file.read_text()
        for line in re.findall(r"// RUN: (?:not )?sdy-opt (.*)", text):
            words = [*takewhile("|".__ne__, shlex.split(line))]
            passes = [matched for word in words if (matched := PASS.fullmatch(word))]
            named = [each.group(1) for each in passes]
            if len(passes) != 1 or named[0].endswith("-pipeline") or named[0] in OURS:
                continue
            options = passes[0].group(2)
            step = named[0] + (f"{{{options}}}" if options else "")
            split = "-split-input-file" in words
            parts = re.split(r"^// -----.*$", text, flags=re.MULTILINE) if split else [text]
            found += [Case(f"{file.stem}.{n}", step, part) for n, part in enumerate(parts)]
    return tuple(found)


def other_pairs(context) -> Iterator[Case]:
    """Yield passes of the run lines with programs of all files, in a random order."""
    texts = {}
    for file in sorted(LIT.rglob("*.mlir")):
        parts = re.split(r"^// -----.*$", file.read_text(), flags=re.MULTILINE)
        for number, part in enumerate(parts):
            try:
                texts[f"{file.stem}.{number}"] = asm(parse(part, context))
            except SdyError:
                continue
    steps = sorted({each.step for each in run_lines()})
    chosen = random.Random(0)
    while True:
        name = chosen.choice(sorted(texts))
        yield Case(name, chosen.choice(steps), texts[name])


class Passes:
    """C++ Shardy with its passes."""

    def __init__(self, shardy: Shardy) -> None:
        self._shardy = shardy
        self._anchors: dict[str, str] = {}

    def run(self, text: str, step: str) -> str:
        """Return what a pass makes of a program."""
        name = step.split("{", maxsplit=1)[0]
        if name not in self._anchors:
            self._anchors[name] = "builtin.module(func.func(%s))"
            try:
                self._shardy.run("module {}", self._anchors[name] % name)
            except ShardyRefused as refusal:
                if "'func.func', did you intend to nest?" not in str(refusal):
                    raise
                self._anchors[name] = "builtin.module(%s)"
        return self._shardy.run(text, self._anchors[name] % step)


@pytest.fixture(scope="module")
def passes():
    python = oracle_python()
    if python is None:
        pytest.skip(MISSING)
    process = Shardy((0, 12), python, mpmd_passes=symbols(python))
    yield Passes(process)
    process.close()


def difference(case, passes, context) -> str | None:
    """Return in a word how a pass differs from C++ Shardy's, or None."""
    try:
        theirs = passes.run(case.text, case.step)
    except ShardyAborted:
        return "they abort"
    except ShardyRefused as refusal:
        if "failed to add" in str(refusal):  # an option, or a value of it, that only we have
            return None
        theirs = None
    try:
        module = parse(case.text, context)
        with collect():
            run_pipeline(module, f"builtin.module({case.step})")
        ours = asm(module)
    except SdyError:
        return None if theirs is None else "we refuse"
    if theirs is None:
        return "they refuse"
    try:
        return None if asm(parse(theirs, context)) == ours else "text"
    except SdyError:
        return "their text is invalid"


def unknown(found: Iterable[Case], passes, context) -> list[str]:
    """Return the differences that no row of the table has."""
    return [
        f"{how}: {case.name} -{case.step}"
        for case in found
        if (how := difference(case, passes, context)) is not None
        and not any(
            how == row.how
            and re.match(f"mpmd-({row.passes})", case.step)
            and re.fullmatch(row.programs, case.name.rpartition(".")[0])
            for row in KNOWN
        )
    ]


def test_run_lines(passes, context):
    """Each pass of the run lines makes of its program what C++ Shardy's does."""
    assert len(run_lines()) >= 70
    assert unknown(run_lines(), passes, context) == []


def test_other_pairs(passes, context):
    """A pass and a program that isn't for it: both do the same, or nothing, or refuse it."""
    assert unknown(islice(other_pairs(context), cases(COUNT)), passes, context) == []
