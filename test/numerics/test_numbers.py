# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partitioned programs compute the numbers of the programs they were made from."""

import random
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from case_counts import cases
from manual_programs import random_manual_program
from partition_cases import (
    CONTROL_FLOW,
    OPERATIONS,
    PER_DEVICE,
    PRELUDE,
    SHARDINGS_OF_MATRICES,
    localised,
    sharded,
)
from partition_programs import (
    OTHER_SIZES,
    POWERS_OF_TWO,
    one_operation_program,
    random_reshards,
)
from programs import ProgramWriter, random_module, random_module_with_calls

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.api import propagate
from pyshardy.backends import local_engine
from pyshardy.backends.arrays.comparison import compare, random_inputs
from pyshardy.backends.arrays.sharded_arrays import gather, scatter
from pyshardy.backends.lockstep.backend import LockstepProgram
from pyshardy.irtools.modules import copy_of
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.pipeline import run_pipeline
from pyshardy.program import PartitionedProgram, partition, run_unpartitioned


def whole_numbers(program: PartitionedProgram, seed: int) -> list[np.ndarray]:
    """Inputs whose sums and products are exact, in whatever order they are taken."""
    generator = np.random.default_rng(seed)
    specs = [port.spec for port in program.inputs]
    return [generator.integers(-3, 4, spec.shape).astype(spec.dtype) for spec in specs]


def check(program: PartitionedProgram, found, expected) -> None:
    for output, array, wanted in zip(program.outputs, found, expected, strict=True):
        assert compare(array, wanted, output.spec).is_small, output.name


# --- Random programs ----------------------------------------------------------------------------


def mesh(*sizes: int, device_ids: tuple[int, ...] = ()) -> Mesh:
    return Mesh(tuple(map(MeshAxis, "abcd", sizes)), device_ids)


class ExactWriter(ProgramWriter):
    """Writes operations that are exact on whole numbers, and reductions of several kinds."""

    unary_operations = ("negate", "abs", "floor")
    binary_operations = ("add", "multiply", "maximum", "subtract")

    def emit(self, text, shape):
        if text.startswith("stablehlo.constant dense<0.0>"):
            text = text.replace("0.0", self.rng.choice(["0.0", "-2.0", "3.0"]))
        kind = self.rng.choice(["add", "add", "maximum", "minimum"])
        super().emit(text.replace("applies stablehlo.add", f"applies stablehlo.{kind}"), shape)


class PowersOfTwo(ExactWriter):
    sizes = (4, 8, 16)


class MultiplesOfTwelve(ExactWriter):
    sizes = (12, 24)


RANDOM_PROGRAMS = {
    PowersOfTwo: (
        mesh(2, 2),
        mesh(4),
        mesh(2, 2, 4),
        mesh(2, 2, device_ids=(2, 0, 3, 1)),
    ),
    MultiplesOfTwelve: (
        mesh(2, 6),
        mesh(3, 2, 2),
        mesh(2, 3, device_ids=(4, 2, 0, 5, 1, 3)),
    ),
}


@pytest.mark.parametrize("generate", [random_module, random_module_with_calls])
@pytest.mark.parametrize("writer_class", RANDOM_PROGRAMS)
def test_random_programs(context, writer_class, generate):
    meshes = RANDOM_PROGRAMS[writer_class]
    for seed in range(cases(8)):
        module = parse(generate(seed, meshes=meshes, writer_class=writer_class), context)
        propagate(module)
        program = partition(module)
        inputs = whole_numbers(program, seed)
        check(program, program.run(inputs), run_unpartitioned(module, inputs))


OTHER_OPTIONS = {
    "combine_collectives": [True],
    "combine_multi_dimension_reduce_scatter": [False],
    "enable_halo_exchange": [False],
    "enable_rgv3": [True],
    "hoist_reshards": [False],
    "inline_functions": [False],
    "overlap": ["schedule", "all"],
    "per_dim_all_gather": [True],
    "prefer": ["all_reduce", "all_gather", "reduce_scatter", "all_to_all"],
    "propagate_past_calls": [False],
    "reassociate_reductions": [False],
}


@pytest.mark.parametrize("seed", range(cases(6)))
def test_random_options(context, seed):
    """No options contradict each other."""
    rng = random.Random(seed)
    generate = rng.choice([random_module, random_module_with_calls])
    writer_class = rng.choice(list(RANDOM_PROGRAMS))
    text = generate(seed, meshes=RANDOM_PROGRAMS[writer_class], writer_class=writer_class)
    module = parse(text, context)
    propagate(module)
    options = {
        name: rng.choice(values) for name, values in OTHER_OPTIONS.items() if rng.random() < 0.5
    }
    program = partition(module, hardware=rng.choice(["default", "h100", "tpu-v5e"]), **options)
    inputs = whole_numbers(program, seed)
    check(program, program.run(inputs), run_unpartitioned(module, inputs))


@pytest.mark.parametrize("generate", [random_module, random_module_with_calls])
@pytest.mark.parametrize("writer_class", RANDOM_PROGRAMS)
def test_random_programs_instruction_by_instruction(context, writer_class, generate):
    """Some operations have their local form already when the whole program is partitioned."""
    meshes = RANDOM_PROGRAMS[writer_class]
    chosen = Counter()
    for seed in range(cases(8)):
        module = parse(generate(seed, meshes=meshes, writer_class=writer_class), context)
        propagate(module)
        original = copy_of(module)
        low = random.Random(seed).choice([0, 0, 3])
        run_pipeline(
            module,
            "sdy-sharding-constraint-to-reshard,"
            "func.func(sdy-insert-explicit-reshards{enable-full-version=true}),"
            f"sdy-per-instruction-partitioning{{filter=selectLow={low}}}",
        )
        chosen["sdy.manual_computation" in asm(module)] += 1
        program = partition(module)
        inputs = whole_numbers(program, seed)
        check(program, program.run(inputs), run_unpartitioned(original, inputs))
    assert chosen[True] > cases(8) // 2


@pytest.mark.parametrize("mesh_sizes", [POWERS_OF_TWO, OTHER_SIZES])
def test_one_operation(context, mesh_sizes):
    """Nothing is propagated, so that every tensor has a sharding of its own."""
    for seed in range(cases(12)):
        source = one_operation_program(random.Random(seed), mesh_sizes, divisible=True)
        module = parse(source.text, context)
        program = partition(module)
        inputs = whole_numbers(program, seed)
        check(program, program.run(inputs), run_unpartitioned(module, inputs))


def test_chains_of_reshards(context):
    """Axes of any sizes and parts of them, uneven dimensions, two orders of devices."""
    mesh_sizes = ((4, 6, 5), (2, 6, 3), (4, 6), (6, 2), (12,), (3, 3), (2, 2, 2))
    for seed in range(cases(12)):
        text = random_reshards(random.Random(seed), mesh_sizes)
        module = parse(text, context)
        program = partition(module)
        inputs = whole_numbers(program, seed)
        found, expected = program.run(inputs), run_unpartitioned(module, inputs)
        np.testing.assert_array_equal(found, expected, text)


@pytest.mark.parametrize("propagated", [True, False])
def test_random_manual_computations(context, propagated):
    """One in the other, with free axes in their bodies."""
    for seed in range(cases(8)):
        text, plain = random_manual_program(random.Random(seed))
        module = parse(text, context)
        if propagated:
            propagate(module)
        program = partition(module)
        inputs = whole_numbers(program, seed)
        check(program, program.run(inputs), run_unpartitioned(parse(plain, context), inputs))


# --- Programs by hand ---------------------------------------------------------------------------


def check_text(context: Context, text: str) -> PartitionedProgram:
    module = parse(PRELUDE + text, context)
    propagate(module)
    program = partition(module)
    inputs = random_inputs([port.spec for port in program.inputs], seed=0)
    check(program, program.run(inputs), run_unpartitioned(module, inputs))
    return program


@pytest.mark.parametrize("name", CONTROL_FLOW)
def test_control_flow(context, name):
    check_text(context, CONTROL_FLOW[name])


def result_type(body: str) -> str:
    """The type of `%r`, which is the last one of the line that makes it."""
    definition = body.partition("%r = ")[2]
    return re.findall(r"tensor<\S*>", re.split(r"\n +reducer", definition)[0])[-1]


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(context, name):
    body = OPERATIONS[name]
    result = result_type(body)
    for given in SHARDINGS_OF_MATRICES:
        check_text(
            context,
            f"func.func @main(%a: tensor<8x8xf32> {sharded(given)}) -> {result} {{{body}\n"
            f"  return %r : {result}\n}}",
        )


@pytest.mark.parametrize("name", PER_DEVICE)
def test_programs_of_one_device(context, name):
    text, expected = PER_DEVICE[name]
    module = parse(PRELUDE + text, context)
    if "@cube" in text:
        module = parse(text, context)
    propagate(module)
    (matrix,) = random_inputs([TensorSpec((8, 8), "f32")], seed=0)
    (found,) = partition(module).run([matrix])
    np.testing.assert_allclose(found, expected(matrix), rtol=1e-5, atol=1e-6)


# --- Options ------------------------------------------------------------------------------------

OPTION_CASES = ("while", "case", "calls of differently sharded functions", "sub-axes")


@pytest.mark.parametrize("name", [*OPTION_CASES, "reshards of users"])
def test_gathering_dimension_by_dimension(context, name):
    module = parse(PRELUDE + CONTROL_FLOW[name], context)
    propagate(module)
    program = partition(module)
    local = localised(module, "per-dim-all-gather=true")
    inputs = random_inputs([port.spec for port in program.inputs], seed=0)
    found = replace(program, module=local).run(inputs)
    check(program, found, run_unpartitioned(module, inputs))


@pytest.mark.parametrize("options", ["", "combine-multi-dimension-reduce-scatter=false"])
@pytest.mark.parametrize(
    "axes", ['[{"y"}, {"x"}, {}]', '[{}, {"x"}, {"y"}]', '[{"y", "x"}, {}, {}]']
)
def test_scattering_several_dimensions(context, options, axes):
    """Dimensions that are not scattered keep their elements in order."""
    text = f"""
func.func @main(%a: tensor<8x8x6x4xf32>
    {{sdy.sharding = #sdy.sharding<@permuted, [{{}}, {{}}, {{}}, {{"x", "y"}}]>}})
    -> tensor<8x8x6xf32> {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [3]
      {{sdy.sharding = #sdy.sharding_per_value<[<@permuted, [{{}}, {{}}, {{}}]>]>}}
      : (tensor<8x8x6x4xf32>, tensor<f32>) -> tensor<8x8x6xf32>
  %1 = sdy.reduce_scatter {axes} %0 out_sharding=<@permuted, {axes}> : tensor<8x8x6xf32>
  return %1 : tensor<8x8x6xf32>
}}"""
    module = parse(PRELUDE + text, context)
    propagate(module)
    program = partition(module)
    local = replace(program, module=localised(module, options))
    inputs = whole_numbers(program, 0)
    np.testing.assert_array_equal(local.run(inputs)[0], inputs[0].sum(-1))
    several = '"y", "x"' not in axes
    reduced_first = "stablehlo.all_reduce" in asm(local.module)
    assert reduced_first == (several and "false" in options)


@pytest.mark.parametrize(
    "params",
    [
        '{"x"}: 0->1, {"y"}: 2->3',
        '{"x"}: 0->3, {"y"}: 2->1',
        '{"x"}: 0->5, {"z"}: 4->1',
        '{"x"}: 0->5, {"y"}: 2->1, {"z"}: 4->3',
    ],
)
def test_moving_axes_between_several_dimensions(context, params):
    """One all-to-all makes all moves at once."""
    before = {0: "x", 2: "y", 4: "z"}
    after = dict(before)
    for axis, source, target in re.findall(r'"(\w)"\}: (\d)->(\d)', params):
        del after[int(source)]
        after[int(target)] = axis

    def sharding(axes: dict[int, str]) -> str:
        dims = (f'{{"{axes[dim]}"}}' if dim in axes else "{}" for dim in range(6))
        return f"<@m, [{', '.join(dims)}]>"

    shape = "tensor<4x4x6x12x4x6xf32>"
    devices = "[4, 2, 0, 5, 1, 3, 7, 9, 11, 6, 8, 10]"
    text = f"""sdy.mesh @m = <["x"=2, "y"=3, "z"=2], device_ids={devices}>
func.func @main(%a: {shape} {{sdy.sharding = #sdy.sharding{sharding(before)}}})
    -> ({shape} {{sdy.sharding = #sdy.sharding{sharding(after)}}}) {{
  %0 = sdy.all_to_all [{params}] %a out_sharding={sharding(after)} : {shape}
  return %0 : {shape}
}}"""
    if '{"y"}: 2->1' in params:
        text = text.replace("4x4x6x12", "4x6x6x12")
    module = parse(text, context)
    program = partition(module)
    (array,) = random_inputs([port.spec for port in program.inputs], seed=0)
    np.testing.assert_array_equal(program.run([array])[0], array)
    assert [each.kind for each in program.collectives] == ["all_to_all"]


@pytest.mark.parametrize("name", [*OPTION_CASES, "meshes whose devices are ordered differently"])
def test_groups_by_axes(context, name):
    """Groups name whole axes of a mesh that is written out, if XLA knows the order of devices."""
    module = parse(PRELUDE + CONTROL_FLOW[name], context)
    propagate(module)
    program = partition(module)
    local = localised(module, "enable-rgv3=true")
    is_listed = name in ("sub-axes", "meshes whose devices are ordered differently")
    assert ("replica_group_mesh_axes<mesh = #stablehlo.mesh<axes" in asm(local)) != is_listed
    assert "@mesh" not in asm(local)
    inputs = random_inputs([port.spec for port in program.inputs], seed=0)
    found = replace(program, module=local).run(inputs)
    check(program, found, run_unpartitioned(module, inputs))


@pytest.mark.parametrize("name", [*OPTION_CASES, "reshards of users", "iota"])
def test_devices_as_replicas(context, name):
    text = CONTROL_FLOW.get(name) or (
        "func.func @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #tiles}) {"
        f"{OPERATIONS['iota 1']}\n  return %r : tensor<8x8xf32>\n}}"
    )
    module = parse(PRELUDE + text, context)
    propagate(module)
    program = partition(module)
    local = localised(module, "replica-count=4")
    assert not re.search(r"channel_handle<handle = [1-9]", asm(local))
    assert "partition_id" not in asm(local)
    inputs = random_inputs([port.spec for port in program.inputs], seed=0)
    scattered = [
        scatter(array, port.sharding, port.mesh, port.local_spec.shape)
        for array, port in zip(inputs, program.inputs, strict=True)
    ]
    replicas = LockstepProgram(local, local_engine("interpreter"), Layout(4, 1))
    held = replicas.run([[parts[device] for parts in scattered] for device in range(4)])
    found = [
        gather([row[index] for row in held], port.sharding, port.mesh, port.spec, port.name)
        for index, port in enumerate(program.outputs)
    ]
    check(program, found, run_unpartitioned(module, inputs))
