# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single MPMD passes, compared with those of C++ Shardy on the programs of the lit tests."""

import random
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

import pytest
from case_counts import cases
from mpmd_passes import symbols
from shardy import Shardy, ShardyAborted, ShardyRefused, not_stated

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError, collect
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import (
    CALL,
    CALL_COUNTER,
    FRAGMENT,
    TRANSFER,
    body_of,
    integer_of,
    is_user_fragment,
    mesh_type,
    returned_values,
    topology_of,
)
from oracle_environment import MISSING, oracle_python
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import entry_points, mpmd_functions, top_level_operations
from pyshardy.mpmd.rewriting.merging import STAGE
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
    """Differences that are known: how both differ, for which passes and programs, and why.

    `of` tells the programs of a row by what they have, where a list of names would only repeat it.
    """

    how: str
    passes: str
    programs: str
    why: str
    of: Callable[[ir.Module], bool] | None = None


def has_other_operations(module: ir.Module) -> bool:
    """Whether a function on meshes has other operations than fragments and transfers."""
    return any(
        each.name not in (FRAGMENT, TRANSFER)
        for function in mpmd_functions(module)
        for each in top_level_operations(function)
    )


def returns_tensors(module: ir.Module) -> bool:
    """Whether a function on meshes returns values without a mesh."""
    returned = (each for function in mpmd_functions(module) for each in returned_values(function))
    return any(mesh_type(each) is None for each in returned)


def has_calls(module: ir.Module) -> bool:
    """Whether a program has calls of functions on meshes."""
    return bool(operations_named({CALL}, module))


def lacks_a_mesh(module: ir.Module) -> bool:
    """Whether a function has not all of the meshes that the options of the lit tests name."""
    topologies = filter(None, map(topology_of, mpmd_functions(module)))
    return any(not {"m1", "m2", "m3"} <= set(each.names) for each in topologies)


def lacks_a_place(module: ir.Module) -> bool:
    """Whether an entry also has not the arguments and results that these options name."""
    return lacks_a_mesh(module) or any(
        len(body_of(each).arguments) < 2 or len(returned_values(each)) < 3
        for each in entry_points(module)
    )


def lacks_stages(module: ir.Module) -> bool:
    """Whether a fragment of a microbatch has no stage."""
    return any(
        is_user_fragment(each)
        and integer_of(each, CALL_COUNTER) is not None
        and integer_of(each, STAGE) is None
        for each in operations_named({FRAGMENT}, module)
    )


ANY = ".*"
WITH_SHARDINGS = (
    "(convert_sdy|enforce|extract_resh|move_sh|populate_unr|sharding_prop|simplify_prog).*"
)
KNOWN = (
    # What the passes before them in the pipelines of C++ Shardy ensure is asserted.
    Row("they abort", "infer-mesh-(finalize|rewrite)", ANY, "no analysis", has_other_operations),
    Row("they abort", "infer-mesh-finalize", "canonicalize", "a broadcast without a topology"),
    Row("they abort", "map-input-output-to-mesh", ANY, "no such place", lacks_a_place),
    Row("they abort", "mark-fragment-reserved", ANY, "other operations", has_other_operations),
    Row("they abort", "uniquify-function-inputs-outputs", ANY, "without a mesh", returns_tensors),
    Row("they abort", "generate-sdy-meshes", f"{WITH_SHARDINGS}|ops|unroll_scan", "no such axes"),
    Row("they abort", "call-inline", ANY, "a call, if the pass runs alone", has_calls),
    Row("they abort", "lower-to-fragment-calls", "unroll_scan", "a region with free values"),
    Row("they abort", "sink-create-token", "sink_create_token.*_invalid", "a token that is used"),
    Row("they abort", "extract-reshards", "ops|validate_no.*", "a chain of transfers"),
    Row("they abort", "enforce-input-output-equisharding", "infer_mesh_populate.*", "no results"),
    Row("they abort", "enforce-user-shardings", "sharding_propagation.*", "sub-axes"),
    Row("they abort", "merge-user-fragments", "lower_to_fragment_calls_names", "several counts"),
    Row("they abort", "split-bwd-fragments", ".*_dead", "an operation that nothing uses"),
    Row("they abort", "verify-stage-merging", "ops", "several counts"),
    # docs/differences.md
    Row("text", "enforce-input-output", f"{WITH_SHARDINGS}|generate.*", "the sharding, too"),
    Row("text", "split-bwd-fragments", "split_bwd_fragments", "three operations"),
    Row("text", "lower-to-fragment-calls", "lower_to_fragment_calls", "other shardings"),
    Row(
        "text", "mark-offloaded", "canonicalize|simplify_program|mark_offloaded.*", "by types, too"
    ),
    Row("text", "mark-fragment-reserved-memory", "mark_offloaded.*", "memory of a host"),
    Row("text", "generate-sdy-meshes", "generate_sdy_meshes.*", "the topology keeps its meshes"),
    Row("text", "populate-unreduced-out-sharding", "populate_unreduced.*", "any operation"),
    Row("text", "extract-reshards", "enforce_user_shardings", "a user's sharding is kept"),
    Row("text", "extract-reshards", "extract_reshards_by_time", "transfers without fragments"),
    Row("text", "rule-based-merge", "rule_based_.*", "a description without a mesh"),
    Row("text", "rule-based-schedule", "canonicalize", "a description without a mesh"),
    Row("text", "absorb|simplify-program", "export_.*|infer_mesh_conv.*", "the place of constants"),
    Row("text", "infer-mesh-populate-use-set", "ops", "a loop, which the import unrolls before"),
    Row("text", "infer-mesh-finalize", "remove_transfer_cycles", "a round trip by the host"),
    Row("text", "mark-aliasing-and-donation", "sink_create_token.*", "tokens have no memory"),
    Row("their text is invalid", "simpl.*|fragment-dce", "simplify_p.*|populate_u.*", "shardings"),
    Row("we refuse", "map-named-ops-to-mpmd-ops", ANY, "an unknown mesh", lacks_a_mesh),
    Row(
        "we refuse",
        "pipeline-scheduler{must-happen-before=circular",
        ANY,
        "no stages",
        lacks_stages,
    ),
    Row("we refuse", "pipeline-scheduler{remove-control", ANY, "leaves invalid operands there"),
    Row("messages", "pipeline-scheduler{remove-control", ANY, "the option is refused"),
    Row("messages", "erase-unused-callee", ANY, "all calls that are wrong"),
    Row("they abort", "generate-sdy-meshes", ANY, "no topology", lambda of: not mpmd_functions(of)),
    Row("messages", "map-input-output-to-mesh", ANY, "an unknown mesh", lacks_a_mesh),
    Row("we refuse", "validate-no-inferred", "validate_no_inf.*", "only warns in jaxlib 0.12"),
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


WITH_TOPOLOGY = re.compile(
    r"attributes\s*\{\s*topology = "
    r"(#topology|#mpmd\.topology<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)\s*\}"
)


def other_functions() -> Iterator[Case]:
    """Yield the run lines for functions without a topology, and for private ones."""
    for case in run_lines():
        text = re.sub(r"//.*", "", case.text)
        private = re.sub(r"func\.func (public )?@", "func.func private @", text)
        for changed in {WITH_TOPOLOGY.sub("", text), private} - {text}:
            yield case._replace(text=changed)


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
    refused = None
    try:
        theirs = passes.run(case.text, case.step)
    except ShardyAborted:
        return "they abort"
    except ShardyRefused as refusal:
        if "failed to add" in str(refusal):  # an option, or a value of it, that only we have
            return None
        theirs, refused = None, refusal
    try:
        module = parse(case.text, context)
        with collect():
            run_pipeline(module, f"builtin.module({case.step})")
        ours = asm(module)
    except SdyError as error:
        if refused is None:
            return "we refuse"
        return "messages" if not_stated(refused, error) else None
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
        and not is_known(how, case, context)
    ]


def is_known(how: str, case: Case, context) -> bool:
    """Whether a row of the table has a difference; the program is read if a row asks for it."""
    rows = [
        row
        for row in KNOWN
        if how == row.how
        and re.match(f"mpmd-({row.passes})", case.step)
        and re.fullmatch(row.programs, case.name.rpartition(".")[0])
    ]
    if not rows or any(row.of is None for row in rows):
        return bool(rows)
    module = parse(case.text, context)
    return any(row.of is not None and row.of(module) for row in rows)


def test_run_lines(passes, context):
    """Each pass of the run lines makes of its program what C++ Shardy's does."""
    assert len(run_lines()) >= 70
    assert unknown(run_lines(), passes, context) == []


def test_other_functions(passes, context):
    """Functions that have no topology, or are no entry points, change as in C++ Shardy."""
    assert unknown(other_functions(), passes, context) == []


def test_other_pairs(passes, context):
    """A pass and a program that isn't for it: both do the same, or nothing, or refuse it."""
    assert unknown(islice(other_pairs(context), cases(COUNT)), passes, context) == []
