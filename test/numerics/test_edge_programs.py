# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs at the edges of what is usual, partitioned, compute what they compute on one device."""

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from jax import numpy as jnp

import pyshardy as sdy
from mlir_sdy.host import ir, location_of
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.comparison import compare, random_inputs
from pyshardy.backends.xla.program import local_xla_program
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.values import spec_of
from pyshardy.pipeline import run_pipeline
from pyshardy.program import run_unpartitioned

FAST_TO_COMPILE = CompileOptions(optimization=0)
MESH = sdy.Mesh.of({"x": 2, "y": 4})
ROUNDING = 1e-4

TEXTS = {
    "shards without elements are reduced from initial values": """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<0x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %i: tensor<f32>) -> (tensor<6xf32>, tensor<f32>) {
  %0 = stablehlo.constant dense<3.0> : tensor<f32>
  %1 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [0]
      : (tensor<0x6xf32>, tensor<f32>) -> tensor<6xf32>
  %2 = stablehlo.reduce(%a init: %i) applies stablehlo.multiply across dimensions = [0, 1]
      : (tensor<0x6xf32>, tensor<f32>) -> tensor<f32>
  return %1, %2 : tensor<6xf32>, tensor<f32>
}
""",
    "shards of one element are reduced from initial values": """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %i: tensor<f32>)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0 = stablehlo.abs %i : tensor<f32>
  %1 = stablehlo.constant dense<3.0> : tensor<f32>
  %2 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [0]
      : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  %3 = stablehlo.reduce(%a init: %0) applies stablehlo.maximum across dimensions = [0]
      : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  %4 = stablehlo.reduce(%a init: %1) applies stablehlo.multiply across dimensions = [0]
      : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  %5:2 = stablehlo.reduce(%a init: %1), (%a init: %1) across dimensions = [0]
      : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>)
      -> (tensor<6xf32>, tensor<6xf32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<f32>, %s: tensor<f32>) {
     %6 = stablehlo.add %p, %q : tensor<f32>
     %7 = stablehlo.minimum %r, %s : tensor<f32>
     stablehlo.return %6, %7 : tensor<f32>, tensor<f32>
   }
  %8 = stablehlo.subtract %5#0, %5#1 : tensor<6xf32>
  return %2, %3, %4, %8 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
""",
    "branches of an if return uneven values": """
sdy.mesh @mesh = <["x"=3, "y"=2]>
func.func @main(%a: tensor<16x8xf32>, %p: tensor<i1>, %b: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<16x8xf32>
  }, {
    %1 = stablehlo.reverse %b, dims = [0] : tensor<16x8xf32>
    stablehlo.return %1 : tensor<16x8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
      : (tensor<i1>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
""",
    # The axis of the kernel's window shards nothing in the convolution, and nothing is reduced.
    "a convolution whose kernel is sharded along its window": """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %a: tensor<2x7x8x2xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>},
    %b: tensor<2x3x4x3xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}, {}]>})
    -> tensor<12x3x3x2xi8> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 1, 0, f]x[i, o, 0, 1]->[0, 1, f, b],
      window = {stride = [1, 2], pad = [[0, 0], [2, -1]], lhs_dilate = [2, 1]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
       sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}, {}]>]>}
      : (tensor<2x7x8x2xi8>, tensor<2x3x4x3xi8>) -> tensor<12x3x3x2xi8>
  return %0 : tensor<12x3x3x2xi8>
}
""",
    # What is gathered is laid out as the transforms of its columns would have it.
    "transforms of rows and columns of what is gathered": """
sdy.mesh @mesh = <["x"=3, "y"=2]>
func.func @main(%a: tensor<9x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>})
    -> (tensor<5x3xcomplex<f32>>, tensor<9x3xcomplex<f32>>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<9x3xf32>) -> tensor<3x9xf32>
  %1 = stablehlo.fft %0, type = RFFT, length = [9]
      : (tensor<3x9xf32>) -> tensor<3x5xcomplex<f32>>
  %2 = stablehlo.transpose %1, dims = [1, 0]
      : (tensor<3x5xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
  %3 = stablehlo.convert %a : (tensor<9x3xf32>) -> tensor<9x3xcomplex<f32>>
  %4 = stablehlo.fft %3, type = IFFT, length = [3]
      : (tensor<9x3xcomplex<f32>>) -> tensor<9x3xcomplex<f32>>
  return %2, %4 : tensor<5x3xcomplex<f32>>, tensor<9x3xcomplex<f32>>
}
""",
}


def check(module, inputs, **options):
    """XLA gets the same numbers for the partitioned program."""
    expected = run_unpartitioned(module, inputs, "xla", FAST_TO_COMPILE)
    sdy.propagate(module)
    program = sdy.partition(module, **options)
    found = program.run(inputs, "xla", FAST_TO_COMPILE)
    for port, ours, theirs in zip(program.outputs, found, expected, strict=True):
        assert compare(ours, theirs, port.spec, ROUNDING).is_small, port.name


@pytest.mark.parametrize("name", TEXTS)
def test_texts(context, name):
    module = sdy.parse(TEXTS[name], context)
    entry = ir.SymbolTable(module.operation)["main"].operation
    types = entry.attributes["function_type"].value.inputs
    specs = [spec_of(value_type, location_of(entry.location)) for value_type in types]
    check(module, random_inputs(specs, seed=0))


def test_approximately_the_greatest():
    x = np.random.default_rng(0).normal(size=(8, 32)).astype(np.float32)
    sharding = sdy.sharding('<@mesh, [{"x"}, {"y"}]>')
    module = sdy.jax.trace(
        lambda x: jax.lax.approx_max_k(x, 2, recall_target=1.0)[0],
        x,
        in_shardings=sharding,
        mesh=MESH,
    )
    check(module, [x])


@pytest.mark.parametrize("index", [-3, 1, 4])
def test_shards_of_slices_that_begin_out_of_bounds(context, index):
    module = sdy.parse(
        """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<7x8xf32>, %i: tensor<i64>) -> (tensor<4x8xf32>, tensor<1x8xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.dynamic_slice %a, %i, %c, sizes = [4, 8]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
      : (tensor<7x8xf32>, tensor<i64>, tensor<i64>) -> tensor<4x8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
      : tensor<4x8xf32>
  %2 = stablehlo.dynamic_slice %a, %i, %c, sizes = [4, 8]
      : (tensor<7x8xf32>, tensor<i64>, tensor<i64>) -> tensor<4x8xf32>
  %3 = stablehlo.dynamic_slice %2, %i, %c, sizes = [1, 8]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
      : (tensor<4x8xf32>, tensor<i64>, tensor<i64>) -> tensor<1x8xf32>
  return %1, %3 : tensor<4x8xf32>, tensor<1x8xf32>
}
""",
        context,
    )
    a = np.arange(56, dtype=np.float32).reshape(7, 8)
    taken = a[min(max(index, 0), 3) :][:4]
    sdy.propagate(module)
    program = sdy.partition(module)
    negated, row = program.run([a, np.int64(index)], "xla", FAST_TO_COMPILE)
    np.testing.assert_array_equal(negated, -taken)
    np.testing.assert_array_equal(row, taken[min(max(index, 0), 3) :][:1])


def test_groups_by_axes_of_a_mesh_with_device_ids(context):
    module = sdy.parse(
        """
sdy.mesh @mesh = <["x"=4, "y"=2], device_ids=[3, 7, 2, 4, 0, 6, 1, 5]>
func.func @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.negate %a : tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
""",
        context,
    )
    check(module, [np.arange(16, dtype=np.float32).reshape(8, 2)], enable_rgv3=True)


def test_groups_of_a_convolution_that_axes_do_not_divide(context):
    """The gradient of two groups of features is computed by groups, and nothing is padded."""
    module = sdy.parse(
        """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<4x9x6xf32>,
                %b: tensor<4x9x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x":(1)2}]>})
    -> tensor<1x3x8xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {}
      {batch_group_count = 2 : i64, feature_group_count = 1 : i64,
       sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x":(2)4}, {"x":(1)2}]>]>}
      : (tensor<4x9x6xf32>, tensor<4x9x8xf32>) -> tensor<1x3x8xf32>
  return %0 : tensor<1x3x8xf32>
}
""",
        context,
    )
    generator = np.random.default_rng(0)
    inputs = [generator.normal(size=(4, 9, n)).astype(np.float32) for n in (6, 8)]
    check(module, inputs)
    (gather,) = sdy.partition(module).collectives
    assert (gather.kind, gather.nbytes_sent) == ("all_gather", 48)


def test_tuples_of_functions_and_calls(context):
    """XLA takes no tuples, and so runs the parts."""
    module = sdy.parse(
        """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %t: tuple<tensor<8x4xf32>, tuple<tensor<4xf32>>>)
    -> tuple<tensor<8xf32>, tensor<8x4xf32>> {
  %0 = stablehlo.get_tuple_element %t[1]
      : (tuple<tensor<8x4xf32>, tuple<tensor<4xf32>>>) -> tuple<tensor<4xf32>>
  %1 = stablehlo.tuple %a, %0 : tuple<tensor<8x4xf32>, tuple<tensor<4xf32>>>
  %2 = call @product(%1) : (tuple<tensor<8x4xf32>, tuple<tensor<4xf32>>>)
      -> tuple<tensor<8xf32>, tensor<8x4xf32>>
  return %2 : tuple<tensor<8xf32>, tensor<8x4xf32>>
}
func.func private @product(%t: tuple<tensor<8x4xf32>, tuple<tensor<4xf32>>>)
    -> tuple<tensor<8xf32>, tensor<8x4xf32>> {
  %0 = stablehlo.get_tuple_element %t[0]
      : (tuple<tensor<8x4xf32>, tuple<tensor<4xf32>>>) -> tensor<8x4xf32>
  %1 = stablehlo.get_tuple_element %t[1]
      : (tuple<tensor<8x4xf32>, tuple<tensor<4xf32>>>) -> tuple<tensor<4xf32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0]
      : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %4 = stablehlo.reverse %0, dims = [0] : tensor<8x4xf32>
  %5 = stablehlo.tuple %3, %4 : tuple<tensor<8xf32>, tensor<8x4xf32>>
  return %5 : tuple<tensor<8xf32>, tensor<8x4xf32>>
}
""",
        context,
    )
    sdy.propagate(module)
    program = sdy.partition(module)
    matrix, unused, vector = random_inputs([port.spec for port in program.inputs], seed=0)
    product, reversed_rows = program.run([matrix, unused, vector], "xla")
    np.testing.assert_allclose(product, matrix @ vector, rtol=1e-5)
    np.testing.assert_array_equal(reversed_rows, matrix[::-1])
    assert program.inputs[0].local_spec.shape == (4, 1)


def test_replicas_call_lapack_and_exchange():
    """All-to-alls stay apart: with several operands they are something else to XLA."""
    matrices = np.random.default_rng(0).normal(size=(8, 8, 8)).astype(np.float32)
    rows, columns = (
        sdy.sharding(f"<@mesh, [{dims}]>") for dims in ('{"x"}, {}, {}', '{}, {"x"}, {}')
    )
    module = sdy.jax.trace(
        lambda a, b: (jnp.abs(a), jnp.negative(b), jnp.linalg.det(a)),
        matrices,
        matrices,
        in_shardings=rows,
        out_shardings=(columns, columns, None),
        mesh=sdy.Mesh.of({"x": 8}),
    )
    sdy.propagate(module)
    program = sdy.partition(module)
    assert [one.kind for one in program.collectives].count("all_to_all") == 2
    expected = program.run([matrices, matrices], "xla", FAST_TO_COMPILE)
    run_pipeline(module, "sdy-partition-pipeline{combine-collectives=true replica-count=8}")
    replicas = local_xla_program(module, Layout(8, 1))
    found = program.gather(replicas.run(program.scatter([matrices, matrices])))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("function", [jnp.linalg.cholesky, jnp.linalg.eigvalsh, jnp.linalg.det])
def test_calls_of_lapack(function):
    matrices = np.random.default_rng(0).normal(size=(4, 3, 3)).astype(np.float32)
    matrices = matrices @ matrices.swapaxes(1, 2) + np.eye(3, dtype=np.float32)
    sharding = sdy.sharding('<@mesh, [{"x"}, {"y"}, {}]>')
    check(sdy.jax.trace(function, matrices, in_shardings=sharding, mesh=MESH), [matrices])


def test_single_updates_out_of_the_bounds_of_a_shard():
    x = np.arange(45, dtype=np.float32).reshape(5, 9)
    rows = sdy.sharding('<@mesh, [{"x"}, {}]>')
    for index in (1, 4, -1, 7):
        module = sdy.jax.trace(
            lambda x, i: x.at[i].multiply(2.0, wrap_negative_indices=False),
            x,
            np.int32(index),
            in_shardings=(None, None),
            out_shardings=rows,
            mesh=MESH,
        )
        check(module, [x, np.int32(index)])
