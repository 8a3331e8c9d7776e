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
from difference import PRELUDE, Aborts, Answer, Gives, Numbers, Passes, Refuses
from rule_cases import example_case, examples_of, registrations
from shardy import ShardyAborted, ShardyRefused
from shardy_partition import partitioned_by_shardy

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError, collect
from mlir_sdy.verify import verify
from pyshardy.api import propagate
from pyshardy.pipeline import run_pipeline
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
TABLES = ("Where Shardy aborts or is silent", "Where Shardy is wrong", "Before 0.12")
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
        case Aborts():
            with pytest.raises(ShardyAborted):
                run()
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


MIDDLE = 'tensor<1x16x1xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}, {}]>}'


def program(arguments: str, results: str, body: str) -> str:
    return f"{PRELUDE}func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"


COLLECTIVES = {
    "dynamic slice": (
        program(
            "%x: !t {sdy.sharding = #rows}",
            "tensor<3x8xf32>",
            """
            %c = stablehlo.constant dense<0> : tensor<i32>
            %d = stablehlo.constant dense<3> : tensor<i32>
            %0 = stablehlo.dynamic_slice %x, %d, %c, sizes = [3, 8]
                : (!t, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
            return %0 : tensor<3x8xf32>""",
        ),
        ["all_to_all", "all_gather"],
        ["all_reduce"],
    ),
    "dynamic update slice": (
        program(
            "%x: !t {sdy.sharding = #rows}",
            "!t {sdy.sharding = #rows}",
            """
            %c = stablehlo.constant dense<0> : tensor<i32>
            %d = stablehlo.constant dense<3> : tensor<i32>
            %u = stablehlo.constant dense<7.0> : tensor<2x8xf32>
            %0 = stablehlo.dynamic_update_slice %x, %u, %d, %c
                : (!t, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> !t
            return %0 : !t""",
        ),
        ["all_gather"],
        [],
    ),
    "convolution": (
        program(
            f"%x: {MIDDLE}, %k: tensor<3x1x1xf32>",
            MIDDLE,
            """
            %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
                window = {pad = [[1, 1]]} {batch_group_count = 1 : i64,
                feature_group_count = 1 : i64}
                : (tensor<1x16x1xf32>, tensor<3x1x1xf32>) -> tensor<1x16x1xf32>
            return %0 : tensor<1x16x1xf32>""",
        ),
        ["all_gather"],
        ["collective_permute", "collective_permute"],
    ),
}
CALLS = (
    "Cholesky",
    "CompactWyHelper",
    "InvertDiagBlocksLowerTriangular",
    "InvertDiagBlocksUpperTriangular",
    "_SPMDInternalOp_MultiRotate",
    "_SPMDInternalOp_RotateRight",
)
COLLECTIVES |= {
    call: (
        program(
            "%x: !t {sdy.sharding = #rows}",
            "!t {sdy.sharding = #rows}",
            f"%0 = stablehlo.custom_call @{call}(%x) : (!t) -> !t\nreturn %0 : !t",
        ),
        [],
        ["all_gather"],
    )
    for call in CALLS
}
COLLECTIVES |= {
    "Eigh": (
        program(
            "%x: !t {sdy.sharding = #rows}",
            "!t {sdy.sharding = #rows}",
            """
            %0:2 = stablehlo.custom_call @Eigh(%x) : (!t) -> (!t, tensor<8xf32>)
            return %0#0 : !t""",
        ),
        [],
        ["all_gather"],
    ),
    "ApproxTopK": (
        program(
            "%x: !t {sdy.sharding = #columns}, %i: tensor<8x8xi32>",
            "tensor<8x2xf32>",
            """
            %f = stablehlo.constant dense<0.0> : tensor<f32>
            %c = stablehlo.constant dense<0> : tensor<i32>
            %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %f, %c)
                : (!t, tensor<8x8xi32>, tensor<f32>, tensor<i32>)
                -> (tensor<8x2xf32>, tensor<8x2xi32>)
            return %0#0 : tensor<8x2xf32>""",
        ),
        [],
        ["all_gather"],
    ),
}
ADDING = """({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
              %r = stablehlo.add %p, %q : tensor<f32>
              stablehlo.return %r : tensor<f32> }"""
HALOS = {
    "slice": (
        "%0 = stablehlo.slice %x [1:16] : (!v) -> tensor<15xf32>",
        "tensor<15xf32>",
        [("collective_permute", 32), ("all_gather", 32)],
        [("collective_permute", 4), ("all_gather", 32)],
    ),
    "concatenation": (
        "%0 = stablehlo.concatenate %x, %x, dim = 0 : (!v, !v) -> tensor<32xf32>",
        "tensor<32xf32> {sdy.sharding = #vector}",
        [("all_gather", 32)] * 2,
        [("collective_permute", 32)] * 2,
    ),
    "window": (
        f"""%f = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = "stablehlo.reduce_window"(%x, %f) <{{window_dimensions = array<i64: 3>,
            padding = dense<1> : tensor<1x2xi64>}}> {ADDING}) : (!v, tensor<f32>) -> !v""",
        "!v {sdy.sharding = #vector}",
        [("all_gather", 32)],
        [("collective_permute", 4)] * 2,
    ),
    "gradient of a window": (
        f"""%f = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = "stablehlo.select_and_scatter"(%x, %s, %f) <{{window_dimensions = array<i64: 3>,
            window_strides = array<i64: 1>, padding = dense<1> : tensor<1x2xi64>}}> ({{
            ^bb0(%p: tensor<f32>, %q: tensor<f32>):
              %r = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
              stablehlo.return %r : tensor<i1> }}, {ADDING[1:]}) : (!v, !v, tensor<f32>) -> !v""",
        "!v {sdy.sharding = #vector}",
        None,
        None,
    ),
}
"""What shards of 32 bytes send to each other: kinds and bytes, of C++ Shardy and of pyshardy."""


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", HALOS)
def test_halos(shardy, context, name):
    body, result, *expected = HALOS[name]
    text = program(
        "%x: !v {sdy.sharding = #vector}, %s: !v {sdy.sharding = #vector}",
        result,
        f"{body}\nreturn %0 : {result.split()[0]}",
    ).replace("!t = ", "!v = tensor<16xf32>\n!t = ", 1)
    programs = both_partitioned(shardy, context, text)
    found = [[(each.kind, each.nbytes) for each in program.collectives] for program in programs]
    assert found == expected


def both_partitioned(shardy, context, text) -> tuple[PartitionedProgram, PartitionedProgram]:
    """Return the programs of C++ Shardy and of pyshardy."""
    module = parse(text, context, "t.mlir")
    theirs_ = partitioned_by_shardy(shardy, asm(module), context)
    propagate(module)
    return theirs_, partition(module)


@pytest.mark.shardy_since(0, 12)
@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives(shardy, context, name):
    text, *expected = COLLECTIVES[name]
    programs = both_partitioned(shardy, context, text)
    found = [[each.kind for each in program.collectives] for program in programs]
    assert found == expected


@pytest.mark.shardy_since(0, 12)
def test_collectives_of_the_user(shardy, context):
    text = program(
        "%x: !t {sdy.sharding = #rows}",
        "!t",
        """
        %0 = "stablehlo.all_reduce"(%x) <{
            replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
            channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
            use_global_device_ids}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %1 = stablehlo.add %p, %q : tensor<f32>
            stablehlo.return %1 : tensor<f32>
          }) : (!t) -> !t
        return %0 : !t""",
    )
    module = parse(text, context)
    found = partitioned_by_shardy(shardy, asm(module), context)
    assert "all_reduce" in [each.kind for each in found.collectives]
    propagate(module)
    with pytest.raises(SdyError, match=r"wrap it in a 'sdy\.manual_computation'"):
        partition(module)


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


def warnings_of_both(shardy, context, text: str, pipeline: str) -> tuple[list[str], list[str]]:
    """Return the warnings of C++ Shardy in a new process, and ours."""
    shardy.close()
    with collect() as diagnostics:
        run_pipeline(parse(text, context, "t.mlir"), pipeline)
    return (
        shardy.warnings(text, f"builtin.module({pipeline})"),
        [str(each) for each in diagnostics],
    )


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


def test_warnings_without_a_rule(shardy, context):
    pipeline = "func.func(sdy-populate-op-sharding-rules)"
    unknown = program(
        "%x: !t",
        "!t",
        """
        %0 = stablehlo.custom_call @a(%x) : (!t) -> !t
        %1 = stablehlo.custom_call @b(%0) : (!t) -> !t
        return %1 : !t""",
    )
    found, ours = warnings_of_both(shardy, context, unknown, pipeline)
    assert len(found) == 1
    assert len(ours) == 2
    for operation in (
        "stablehlo.replica_id : tensor<ui32>",
        "stablehlo.tuple %x : tuple<!t>",
        "arith.constant dense<1.0> : tensor<8xf32>",
        "chlo.constant dense<1.0> : tensor<8xf32>",
    ):
        text = program("%x: !t", "!t", f"%0 = {operation}\nreturn %x : !t")
        found, ours = warnings_of_both(shardy, context, text, pipeline)
        assert "is unknown to SDY sharding rule registry" in found[0]
        assert ours == []


WITHOUT_RULES = next(key for key in ELSEWHERE if key.startswith("`stablehlo.batch_norm_grad`"))


def examples_without_rules() -> dict[str, str]:
    """Return an example of each operation that the row names."""
    (row,) = (row for row in rows() if row.startswith(WITHOUT_RULES))
    names = re.findall(r"`(?:stablehlo\.)?([a-z_]+)`", row)
    examples: dict[str, str] = {}
    for entry in registrations():
        for operation, _ in examples_of(entry.function.__doc__ or ""):
            for name in names:
                if re.search(rf"stablehlo\.{name}\b", operation):
                    examples.setdefault(name, operation)
    return {name: MORE_EXAMPLES.get(name) or examples.get(name, "") for name in names}


@pytest.mark.shardy_since(0, 12)
def test_no_rule(shardy, context):
    pipeline = "func.func(sdy-populate-op-sharding-rules)"
    for name, operation in examples_without_rules().items():
        if name in WITHOUT_TYPES:
            continue
        assert operation, name
        text = f"func.func @main{example_case(operation)}\n{IDENTITY}"
        module = parse(text, context)
        run_pipeline(module, pipeline)
        assert "sdy.sharding_rule" in asm(module), name
        found = shardy.run(text, f"builtin.module({pipeline})")
        lines = [line for line in found.splitlines() if f"stablehlo.{name}" in line]
        assert lines, name
        assert not any("sdy.sharding_rule" in line for line in lines), name


MORE_EXAMPLES = {
    "batch_norm_grad": """
        %0:3 = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) <{
            epsilon = 0.001 : f32, feature_index = 1 : i64}>
            : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>)
            -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)""",
    "collective_reduce": """
        %0 = "stablehlo.collective_reduce"(%a) <{
            replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.add %p, %q : tensor<f32>
            stablehlo.return %r : tensor<f32>
        }) : (tensor<4xf32>) -> tensor<4xf32>""",
    "composite": """
        %0 = stablehlo.composite "my.op" %a {decomposition = @g}
            : (tensor<4xf32>) -> tensor<4xf32>""",
    "map": """
        %0 = "stablehlo.map"(%a) ({ ^bb0(%p: tensor<f32>):
          stablehlo.return %p : tensor<f32>
        }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>""",
    "set_dimension_size": """
        %0 = stablehlo.set_dimension_size %a, %b, dim = 0
            : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>""",
}
IDENTITY = """
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}"""
WITHOUT_TYPES = {"uniform_dequantize", "uniform_quantize"}
"""The operations whose types the context of jaxlib does not register."""


# --- The page -------------------------------------------------------------------------------------


def rows() -> list[str]:
    """Return the first cell of each row of the tables."""
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    found: list[str] = []
    for section in sections:
        title, _, body = section.partition("\n")
        if title in TABLES:
            cells = re.findall(r"^\| (.*?) \|", body, re.MULTILINE)
            assert cells[0] == "topic"
            found += cells[1:]
    return found


def test_each_row_is_tested():
    keys = {case.row for case in CASES.values()} | ELSEWHERE.keys()
    page = rows()
    untested = [row for row in page if not any(row.startswith(key) for key in keys)]
    assert untested == []
    assert [key for key in keys if sum(row.startswith(key) for row in page) != 1] == []


def test_the_other_tests_exist():
    for place in ELSEWHERE.values():
        file, _, name = place.rpartition("::")
        text = Path(__file__).with_name(file or Path(__file__).name).read_text()
        assert f"def {name}(" in text, place
