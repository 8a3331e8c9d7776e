# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each row of `docs/differences.md` where C++ Shardy aborts, is silent or is wrong.

A test fails when either side changes: when C++ Shardy no longer errs, the row goes.
"""

import re
from dataclasses import replace
from pathlib import Path

import differences_before
import differences_numbers
import differences_partition
import differences_silent
import differences_wrong
import numpy as np
import pytest
from difference import (
    PRELUDE,
    Aborts,
    Answer,
    Gives,
    Numbers,
    Passes,
    Refuses,
    both_partitioned,
    program,
    rows,
    warnings_of_both,
)
from shardy import ShardyAborted, ShardyRefused
from shardy_partition import partitioned_by_shardy

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError, collect
from mlir_sdy.verify import verify
from pyshardy.api import propagate
from pyshardy.pipeline import run_pipeline
from pyshardy.program import partition, run_unpartitioned

CASES = (
    differences_silent.CASES
    | differences_wrong.CASES
    | differences_numbers.CASES
    | differences_partition.CASES
    | differences_before.CASES
)
ELSEWHERE = differences_silent.ELSEWHERE | differences_wrong.ELSEWHERE
PASSES = {name: case for name, case in CASES.items() if isinstance(case, Passes)}
NUMBERS = {name: case for name, case in CASES.items() if isinstance(case, Numbers)}
BEFORE = {name: case for name, case in PASSES.items() if case.before is not None}


def check(answer: Answer, run) -> None:
    """Check that `run` answers as it should."""
    match answer:
        case Aborts(otherwise, may_not_end):
            try:
                text = run()
            except ShardyAborted as end:
                assert may_not_end or "aborted" in str(end)  # noqa: PT017
                return
            assert otherwise is not None, f"it gives a text:\n{text}"
            check(otherwise, lambda: text)
        case Refuses(message):
            with pytest.raises((ShardyRefused, SdyError), match=re.escape(message)):
                run()
        case Gives(parts, lacks):
            text = run()
            assert all(part in text for part in parts), text
            assert not any(part in text for part in lacks), text


def theirs(shardy, case: Passes):
    """Return the run of C++ Shardy."""
    return lambda: shardy.run(case.text, case.pipeline and f"builtin.module({case.pipeline})")


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", PASSES)
def test_passes(shardy, context, name):
    case = PASSES[name]

    def ours() -> str:
        module = parse(case.text, context, "t.mlir")
        with collect():
            if case.pipeline:
                run_pipeline(module, case.pipeline)
        verify(module)
        return asm(module)

    check(case.ours, ours)
    check(case.theirs, theirs(shardy, case))


@pytest.mark.parametrize("name", BEFORE)
def test_before(shardy, name):
    case = BEFORE[name]
    if shardy.release < (0, 12):
        case = replace(case, pipeline=case.before_pipeline or case.pipeline, theirs=case.before)
    check(case.theirs, theirs(shardy, case))


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(shardy, context, name):
    case = NUMBERS[name]
    module = parse(case.text, context, "t.mlir")
    generator = np.random.default_rng(0)
    propagated = parse(case.text, context, "t.mlir")
    propagate(propagated)
    program = partition(propagated)
    inputs = [
        generator.integers(0, 4, port.spec.shape).astype(port.spec.dtype) for port in program.inputs
    ]
    expected = run_unpartitioned(module, inputs, backend="xla")

    def is_right(found) -> bool:
        return all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))

    assert is_right(program.run(inputs, backend="xla"))
    if case.refusal:
        with pytest.raises((ShardyRefused, SdyError), match=re.escape(case.refusal)):
            partitioned_by_shardy(shardy, asm(module), context).run(inputs, backend="xla")
    else:
        found = partitioned_by_shardy(shardy, asm(module), context).run(inputs, backend="xla")
        assert not is_right(found)


# --- Rows that take more than one run -------------------------------------------------------------


CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
GROUPS = f"replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, {CHANNEL}"
IDS = f"{GROUPS}, use_global_device_ids"
ADDING = """({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %1 = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %1 : tensor<f32> })"""
OF_THE_USER = {
    "all_reduce": (f"{IDS}}}> {ADDING}", "!t"),
    "all_gather": (f"all_gather_dim = 0 : i64, {IDS}}}>", "tensor<32x8xf32>"),
    "reduce_scatter": (f"scatter_dimension = 1 : i64, {IDS}}}> {ADDING}", "tensor<8x2xf32>"),
    "all_to_all": (
        "split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 4 : i64, "
        f"{GROUPS}}}>",
        "!t",
    ),
    "collective_permute": (
        f"source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, {CHANNEL}}}>",
        "!t",
    ),
    "collective_broadcast": (f"{GROUPS}}}>", "!t"),
}


def of_the_user(name: str, attributes: str, result: str) -> str:
    return program(
        "%x: !t {sdy.sharding = #rows}",
        result,
        f'%0 = "stablehlo.{name}"(%x) <{{{attributes} : (!t) -> {result}\nreturn %0 : {result}',
    )


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", OF_THE_USER)
def test_collectives_of_the_user(shardy, context, name):
    module = parse(of_the_user(name, *OF_THE_USER[name]), context)
    found = partitioned_by_shardy(shardy, asm(module), context)
    assert name in [each.kind for each in found.collectives]
    propagate(module)
    with pytest.raises(SdyError, match=r"use 'sdy\.manual_computation'"):
        partition(module)


def test_collectives_of_the_user_among_single_devices(context):
    text = of_the_user("all_reduce", *OF_THE_USER["all_reduce"])
    single = text.replace("[[0, 1, 2, 3]]> : tensor<1x4xi64>", "[[0]]> : tensor<1x1xi64>")
    module = parse(single, context)
    propagate(module)
    assert partition(module).collectives == ()


@pytest.mark.shardy_since(0, 12)
def test_operations_without_a_rule(shardy, context):
    text = program(
        "%x: !t {sdy.sharding = #rows}",
        "!t {sdy.sharding = #rows}",
        """
        %0 = stablehlo.custom_call @unknown(%x) {sdy.sharding = #by_rows} : (!t) -> !t
        return %0 : !t""",
    )
    expected = parse(shardy.run(text, f"builtin.module({differences_silent.EXPLICIT})"), context)
    module = parse(text, context)
    run_pipeline(module, differences_silent.EXPLICIT)
    assert asm(module) == asm(expected)
    assert "@unknown(%arg0)" in asm(module)
    with pytest.raises(SdyError, match="has no sharding rule"):
        run_pipeline(module, "sdy-convert-global-to-local")
    module = parse(text, context)
    with collect():
        propagate(module)
    assert re.search(r"@unknown\(%\d+\) : \(tensor<8x8xf32>\)", asm(partition(module).module))


@pytest.mark.shardy_since(0, 12)
def test_random_numbers(shardy, context):
    text = program(
        "",
        "!t {sdy.sharding = #rows}",
        """
        %a = stablehlo.constant dense<0.0> : tensor<f32>
        %b = stablehlo.constant dense<1.0> : tensor<f32>
        %s = stablehlo.constant dense<8> : tensor<2xi64>
        %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM
            : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> !t
        return %0 : !t""",
    )
    module = parse(text, context)
    with pytest.raises(ShardyRefused, match=re.escape("'stablehlo.rng' op inferred type(s)")):
        partitioned_by_shardy(shardy, asm(module), context)
    propagate(module)
    (numbers,) = partition(module).run([], backend="xla")
    assert len(np.unique(numbers)) > 60


@pytest.mark.shardy_since(0, 12)
def test_negative_zeros(shardy, context):
    text = program(
        "%x: !t",
        "!t",
        """
        %0 = stablehlo.reverse %x, dims = [0] {sdy.sharding = #at_one} : !t
        return %0 : !t""",
    ).replace(
        "func.func",
        "sdy.mesh @one = <[], device_ids=[1]>\n"
        "#at_one = #sdy.sharding_per_value<[<@one, []>]>\nfunc.func",
    )
    zeros = [np.full((8, 8), -0.0, np.float32)]
    signs = [
        np.signbit(each.run(zeros, backend="xla")[0]).all()
        for each in both_partitioned(shardy, context, text)
    ]
    assert signs == [False, True]


@pytest.mark.shardy_since(0, 12)
def test_constants(shardy, context):
    text = program(
        "",
        "!t, !t",
        """
        %0 = stablehlo.constant {sdy.sharding = #by_rows} dense<1.0> : !t
        %1 = stablehlo.constant {sdy.sharding = #by_columns} dense<1.0> : !t
        return %0, %1 : !t, !t""",
    )
    merged = shardy.run(text, "builtin.module(canonicalize)")
    assert merged.count("stablehlo.constant") == 1
    module = parse(text, context)
    run_pipeline(module, "sdy-partition-pipeline")
    assert asm(module).count("stablehlo.constant") == 2


@pytest.mark.shardy_since(0, 12)
def test_printed_propagation_edges(shardy, context):
    """What 0.12 prints itself can't be read there."""
    printed = shardy.run(
        PRELUDE + differences_silent.LOOP,
        "builtin.module(sdy-add-data-flow-edges,func.func("
        "sdy-sink-data-flow-edges{sink-debug-propagation-edge-sharding=true}))",
    )
    assert "#sdy.propagation_edges<[]>" in printed
    with pytest.raises(ShardyRefused, match="failed to parse Sdy_PropagationEdges"):
        shardy.run(printed)
    assert "#sdy.propagation_edges<[]>" in asm(parse(printed, context))


def test_warnings_of_groups(shardy, context):
    text = program(
        "%x: !t {sdy.sharding = #rows}, %y: !t {sdy.sharding = #whole}",
        "!t",
        """
        sdy.sharding_group %x group_id=0 : !t
        sdy.sharding_group %y group_id=0 : !t
        return %x : !t""",
    )
    (found,), (ours,) = warnings_of_both(shardy, context, text, "sdy-basic-propagate")
    assert "@m" not in found
    assert '<@m, [{"x"}, {}]> and <@m, [{}, {}]>' in ours


def test_warnings_of_calls(shardy, context):
    calls = "\n".join(
        f"%{index} = call @{name}(%x) : (!t) -> !t" for index, name in enumerate("ffgg")
    )
    functions = "".join(
        f"\nfunc.func private @{name}(%x: !t) -> !t {{ return %x : !t }}" for name in "fg"
    )
    text = program("%x: !t", "!t", f"{calls}\nreturn %x : !t") + functions
    found, ours = warnings_of_both(shardy, context, text, "sdy-import-func-calls")
    assert len(found) == 1
    assert len(ours) == 2


# --- The page -------------------------------------------------------------------------------------


def test_each_row_is_tested():
    keys = {case.row for case in CASES.values()} | ELSEWHERE.keys()
    page = rows()
    untested = [row for row in page if not any(row.startswith(key) for key in keys)]
    assert untested == []
    assert [key for key in keys if sum(row.startswith(key) for row in page) != 1] == []


def test_the_other_tests_exist():
    for place in ELSEWHERE.values():
        file, _, name = place.rpartition("::")
        name_of_file = file or Path(__file__).name
        (path,) = Path(__file__).parents[1].rglob(name_of_file)
        text = path.read_text()
        assert f"def {name}(" in text, place
