# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of passes on MPMD programs state the name that is wrong, and the remedy."""

import pytest
from mpmd_texts import TENSOR, TOPOLOGY

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.dialect import Context
from pyshardy.pipeline import run_pipeline

CONTEXT = Context()
BODY = f"(%b: {TENSOR}) {{ mpmd.return %b : {TENSOR} }} : ({TENSOR}) -> {TENSOR}"
NAMED = f'%0 = mpmd.named_computation<"layer"> (%a) {BODY}'
NESTED = (
    f'%0 = mpmd.named_computation<"outer"> (%a) (%c: {TENSOR}) {{\n'
    f'%1 = mpmd.named_computation<"inner"> (%c) {BODY}\nmpmd.return %1 : {TENSOR} }} '
    f": ({TENSOR}) -> {TENSOR}"
)
LOOP = (
    f"%0 = mpmd.for (%a) {{iterations = 4 : ui32, unroll_factor = 2 : ui32}} "
    f"(%b: {TENSOR}, %i: tensor<ui32>) {{ mpmd.return %b : {TENSOR} }} : {TENSOR}"
)
MAP = "mpmd-map-named-ops-to-mpmd-ops"
INLINE = "mpmd-inline-nested-user-exposed-ops"

CASES = {
    "unknown mesh": (
        NAMED,
        f"{MAP}{{assignment=layer@m3}}",
        "a mesh with name: m3: its meshes are",
    ),
    "unassigned name": (NAMED, f"{MAP}{{assignment=layr@m1}}", "did you mean 'layr'?"),
    "no mesh": (NAMED, f"{MAP}{{assignment=layer}}", "malformed assignment 'layer': expected"),
    "stage": (NAMED, f"{MAP}{{assignment=layer@m1/first}}", "the stage 'first' is no number"),
    "memory kind": (NAMED, f"{MAP}{{assignment=layer@m1#disk}}", "the memory kind 'disk' is not"),
    "unknown option": (NAMED, f"{MAP}{{assignments=layer@m1}}", "assignment"),
    "unassigned parent": (NESTED, f"{INLINE}{{assignment=inner@m1}}", "Parent NamedComputation"),
    "other memory": (
        NESTED,
        f"{INLINE}{{assignment=outer@m1,inner@m1#pinned_host}}",
        "different mesh or stage",
    ),
    "other mesh": (NESTED, f"{INLINE}{{assignment=outer@m1,inner@m2}}", "different mesh or stage"),
    "partial unrolling": (LOOP, "mpmd-unroll-for-loops", "set 'unroll_factor = 4 : ui32'"),
    "index": (
        NAMED,
        "mpmd-map-input-output-to-mesh{input-assignment=1@m1}",
        "there is no argument 1: the function has 1 arguments",
    ),
    "index of a pair": (
        NAMED,
        "mpmd-enforce-input-output-equisharding{constraints=0:5}",
        "there is no argument 0 or no result 5: the function has 1 arguments and 1 results",
    ),
    "two memory kinds": (
        NAMED,
        "mpmd-map-input-output-to-mesh{input-assignment=0@m1#pinned_host}",
        'Memory kind attribute "device" on function argument 0 does not match the memory kind',
    ),
    "both ways to merge": (
        NAMED,
        "mpmd-merge-inferred-fragments{merge-any-consumer=true merge-sideways=true}",
        "exclude each other",
    ),
    "merge rule": (
        NAMED,
        "mpmd-rule-based-merge{rules=FragmentScheduleRule()}",
        "expected 'FragmentMergeRule(sources=[', got 'FragmentScheduleRule",
    ),
    "reserved memory": (NAMED, "mpmd-mark-fragment-reserved-memory", "Expected only TransferOp"),
    "error limit": (NAMED, "mpmd-infer-mesh-pipeline{error-limit=0}", "must be positive, or -1"),
}


@pytest.mark.parametrize("case", CASES)
def test_errors(case):
    body, pipeline, message = CASES[case]
    kind = ' {mhlo.memory_kind = "device"}' if case == "two memory kinds" else ""
    types = f"(%a: {TENSOR}{kind}) -> {TENSOR}"
    text = f"""func.func @main{types} attributes {{topology = {TOPOLOGY}}} {{
{body}
return %0 : {TENSOR}
}}"""
    with pytest.raises(SdyError) as failure:
        run_pipeline(parse(text, CONTEXT), pipeline)
    assert message in str(failure.value)


def test_named_computation_outside_of_mpmd_functions():
    text = f"func.func @main(%a: {TENSOR}) {{\n{NAMED}\nreturn\n}}"
    with pytest.raises(SdyError, match="'layer' is in 'main', which has no topology"):
        run_pipeline(parse(text, CONTEXT), "mpmd-validate-named-ops-in-mpmd-func")


def test_other_programs_do_not_load_the_dialect():
    context = Context()
    parse("func.func @main() { return }", context)
    assert not context.is_dialect_loaded("mpmd")
