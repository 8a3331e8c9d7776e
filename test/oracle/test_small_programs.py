# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dimensions smaller than their number of shards: the right results, or a reason to refuse.

`PYSHARDY_CASES=20 pytest test/oracle/test_small_programs.py` runs 2,000 programs.
"""

import itertools
from collections import Counter

import numpy as np
import pytest
from case_counts import cases
from shardy import ShardyRefused
from small_programs import SEEDS_IN_BATCH, small_program

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError, VerificationError
from pyshardy.api import propagate
from pyshardy.pipeline import PipelineError, run_pipeline
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned

COUNT = cases(100)
"""The number of programs, which take about five seconds."""

MAX_REFUSED = 0.1


def whole_numbers(program: PartitionedProgram, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    specs = [port.spec for port in program.inputs]
    return [generator.integers(-3, 4, spec.shape).astype(spec.dtype) for spec in specs]


def check_reason(failure: SdyError, text: str) -> None:
    """A refusal says what is wrong with the program, and where; it isn't of what a pass made."""
    assert "internal error" not in str(failure), text
    if isinstance(failure, PipelineError):
        assert not isinstance(failure.__cause__, VerificationError), f"{failure}\n{text}"
    assert failure.diagnostics[0].location is not None, text


def check_programs(context, seeds: range, *, several_meshes: bool) -> None:
    """Run programs; one in four is partitioned as it is written, the others after propagation."""
    verdicts = Counter[str]()
    for seed in seeds:
        text = small_program(seed, several_meshes=several_meshes)
        module = parse(text, context)
        try:
            if seed % 4:
                propagate(module)
            program = partition(module)
        except SdyError as failure:
            check_reason(failure, text)
            verdicts["refused"] += 1
            continue
        inputs = whole_numbers(program, seed)
        expected = run_unpartitioned(module, inputs)
        for found, wanted in zip(program.run(inputs), expected, strict=True):
            np.testing.assert_array_equal(found, wanted, f"seed {seed}\n{text}")
        verdicts["right"] += 1
    print(f"{seeds}: {dict(verdicts)}")
    assert verdicts["refused"] <= MAX_REFUSED * len(seeds)


def batches(count: int) -> list[range]:
    return [range(low, low + SEEDS_IN_BATCH) for low in range(0, count, SEEDS_IN_BATCH)]


@pytest.mark.parametrize("seeds", batches(COUNT), ids=str)
def test_random_programs(context, seeds):
    check_programs(context, seeds, several_meshes=False)


@pytest.mark.parametrize("seeds", batches(COUNT), ids=str)
def test_several_meshes(context, seeds):
    check_programs(context, seeds, several_meshes=True)


MESHES = {
    "other names": ('<["x"=2]>', '<["a"=2]>'),
    "parts of an axis": ('<["x"=4]>', '<["x"=2, "y"=2]>'),
    "axes in another order": ('<["x"=2, "a"=3]>', '<["a"=3, "x"=2]>'),
    "another order of devices": ('<["x"=4]>', '<["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>'),
    "one order of devices": (
        '<["x"=4], device_ids=[3, 1, 0, 2]>',
        '<["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>',
    ),
}

OPERATIONS = {
    "sum": "stablehlo.add %a, %b {} : tensor<12x12xi32>",
    "product": "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {} : "
    "(tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi32>",
    "concatenation": "stablehlo.concatenate %a, %b, dim = 0 {} : "
    "(tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<24x12xi32>",
}


@pytest.mark.parametrize("meshes", MESHES.values(), ids=MESHES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operands_on_two_meshes(context, meshes, operation):
    """Each operand along one dimension, the result on either mesh, or not sharded at all."""
    axes = [mesh.split('"')[1] for mesh in meshes]
    body = OPERATIONS[operation]
    result = body.rpartition(" ")[2]

    def sharding(index: int, sharded_dim: int) -> str:
        axis = '{"' + axes[index] + '"}'
        dims = ", ".join(axis if dim == sharded_dim else "{}" for dim in (0, 1))
        return f"<@m{index}, [{dims}]>"

    results = ["", *(f"[{sharding(index, 1)}]" for index in (0, 1))]
    for dims, held in itertools.product(itertools.product((0, 1), repeat=2), results):
        held = held and f"{{sdy.sharding = #sdy.sharding_per_value<{held}>}}"  # noqa: PLW2901
        arguments = ", ".join(
            f"%{name}: tensor<12x12xi32> {{sdy.sharding = #sdy.sharding{sharding(index, dim)}}}"
            for index, (name, dim) in enumerate(zip("ab", dims, strict=True))
        )
        declared = "".join(f"sdy.mesh @m{index} = {mesh}\n" for index, mesh in enumerate(meshes))
        text = f"""{declared}func.func @main({arguments}) -> {result} {{
          %0 = {body.replace("{}", held)}
          return %0 : {result}
        }}"""
        module = parse(text, context)
        propagate(module)
        program = partition(module)
        inputs = whole_numbers(program, 0)
        np.testing.assert_array_equal(program.run(inputs), run_unpartitioned(module, inputs), text)


def test_equal_layouts_on_two_meshes_need_no_communication(context):
    text = """
    sdy.mesh @m = <["x"=4]>
    sdy.mesh @n = <["a"=2, "b"=2]>
    func.func @main(%a: tensor<8xi32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>},
                    %b: tensor<8xi32> {sdy.sharding = #sdy.sharding<@n, [{"a", "b"}]>})
        -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@n, [{"a", "b"}]>}) {
      %0 = stablehlo.add %a, %b : tensor<8xi32>
      return %0 : tensor<8xi32>
    }"""
    module = parse(text, context)
    propagate(module)
    program = partition(module)
    assert program.collectives == ()
    inputs = whole_numbers(program, 0)
    np.testing.assert_array_equal(program.run(inputs)[0], sum(inputs))


PARTITIONER = (
    "builtin.module(sdy-export-pipeline{partitioner-stage=convert-global-to-local "
    "partition-count=2 replica-count=1})"
)


@pytest.mark.parametrize(
    "collective",
    [
        'sdy.all_reduce {"x"} %a out_sharding=<@m, [{}]>',
        'sdy.reduce_scatter [{"x"}] %a out_sharding=<@m, [{"x"}]>',
    ],
)
@pytest.mark.shardy_since(0, 12)
def test_sum_of_complete_values(shardy, context, collective):
    text = f"""
    sdy.mesh @m = <["x"=2]>
    func.func @main(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}]>}})
        -> tensor<8xf32> {{
      %0 = {collective} : tensor<8xf32>
      return %0 : tensor<8xf32>
    }}"""
    module = parse(text, context)
    assert "stablehlo.add" in shardy.run(asm(module), PARTITIONER)
    with pytest.raises(SdyError, match="the sum would be 2 times the value"):
        partition(module)


@pytest.mark.shardy_since(0, 12)
def test_equal_parts_on_two_meshes_have_one_local_form(shardy, context):
    text = """
    sdy.mesh @m = <["x"=4]>
    sdy.mesh @n = <["a"=2, "b"=2]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>},
                    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"a", "b"}, {}]>})
        -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"a", "b"}, {}]>}, tensor<8x8xf32>) {
      %0 = stablehlo.add %a, %b
          {sdy.sharding = #sdy.sharding_per_value<[<@n, [{"a", "b"}, {}]>]>} : tensor<8x8xf32>
      %1 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]
          : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = sdy.all_reduce {"x"} %1 out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
      return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
    }"""
    pipeline = "builtin.module(sdy-convert-global-to-local)"
    module = parse(text, context)
    run_pipeline(module, pipeline)
    assert asm(module) == asm(parse(shardy.run(text, pipeline), context))


@pytest.mark.shardy_since(0, 12)
def test_shardy_on_two_meshes(shardy, context):
    text = """
    sdy.mesh @m = <["x"=2]>
    sdy.mesh @n = <["a"=2]>
    func.func @main(%a: tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>},
                    %b: tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@n, [{}, {"a"}]>})
        -> tensor<8x8xi32> {
      %0 = stablehlo.add %a, %b : tensor<8x8xi32>
      return %0 : tensor<8x8xi32>
    }"""
    module = parse(text, context)
    with pytest.raises(ShardyRefused, match="requires the same shape"):
        shardy.run(asm(module), PARTITIONER)
    program = partition(module)
    inputs = whole_numbers(program, 0)
    np.testing.assert_array_equal(program.run(inputs)[0], sum(inputs))
