# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What JAX's front end is made of: renumbered devices, places by calls, structures, types."""

import jax
import ml_dtypes
import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError
from mlir_sdy.host import location_of
from pyshardy.backends import local_engine
from pyshardy.backends.lockstep.backend import LockstepProgram
from pyshardy.frontends.jax.callable import renumber
from pyshardy.frontends.jax.dtypes import dtype_of
from pyshardy.frontends.jax.lowered import Structure, locate_by_calls, remember, structure_of
from pyshardy.local_program.process_groups import Layout

COMMUNICATING = """
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<ui32>) {
  %0 = "stablehlo.all_reduce"(%a) <{
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids,
    replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>
  }> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "stablehlo.all_gather"(%a) <{
    all_gather_dim = 0 : i64, replica_groups = dense<[[3, 0], [2, 1]]> : tensor<2x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids
  }> : (tensor<2xf32>) -> tensor<4xf32>
  %2 = "stablehlo.collective_permute"(%a) <{
    channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 3], [2, 0]]> : tensor<3x2xi64>
  }> : (tensor<2xf32>) -> tensor<2xf32>
  %3 = stablehlo.partition_id : tensor<ui32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<ui32>
}
"""


@pytest.fixture(scope="module")
def context():
    return sdy.Context()


@pytest.mark.parametrize("ids", [(2, 0, 3, 1), (3, 2, 1, 0), (0, 1, 2, 3)])
def test_renumbered_devices_do_what_the_others_did(ids, context):
    inputs = [[np.array([1.0, 10.0], np.float32) * 2**device] for device in range(4)]
    layout, engine = Layout(1, 4), local_engine("interpreter")
    module = sdy.parse(COMMUNICATING, context)
    expected = LockstepProgram(module, engine, layout).run(inputs)
    renumber(module, ids)
    found = LockstepProgram(module, engine, layout).run([inputs[device] for device in ids])
    for position, device in enumerate(ids):
        for ours, theirs in zip(found[position], expected[device], strict=True):
            np.testing.assert_array_equal(ours, theirs)


NESTED = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @outer(%a) : (tensor<2xf32>) -> tensor<2xf32> loc("user.py":3:5)
  %1 = call @outer(%0) : (tensor<2xf32>) -> tensor<2xf32> loc("user.py":4:5)
  return %1 : tensor<2xf32>
}
func.func private @inner(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %a : tensor<2xf32> loc(unknown)
  return %0 : tensor<2xf32> loc(unknown)
}
func.func private @outer(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @inner(%a) : (tensor<2xf32>) -> tensor<2xf32> loc("jit(outer)")
  %1 = stablehlo.abs %0 : tensor<2xf32> loc("user.py":9:1)
  return %1 : tensor<2xf32> loc(unknown)
}
"""


def test_what_has_no_place_is_at_the_first_call(context):
    module = sdy.parse(NESTED, context)
    locate_by_calls(module)
    places = {}
    for function in module.body.operations:
        for view in function.operation.regions[0].blocks[0].operations:
            place = location_of(view.operation.location)
            places[view.operation.name] = (place.filename, place.line)
    assert places["stablehlo.tanh"] == ("user.py", 3)
    assert places["stablehlo.abs"] == ("user.py", 9)


def structure(tree):
    trees = jax.tree.structure(((tree,), {})), jax.tree.structure(tree)
    return Structure(*trees, (0, 1), (None, None))


def test_structures_go_with_modules_and_their_copies(context):
    module = sdy.parse(NESTED, context)
    pair = structure({"u": 0, "v": 1})
    remember(pair, module)
    copy = sdy.parse(sdy.asm(module), context)
    assert structure_of(copy, arguments=2, results=2) is pair
    assert structure_of(copy, arguments=1, results=2) is None, "an argument was dropped"
    assert structure_of(sdy.parse(NESTED, context), arguments=2, results=2) is None


def test_structures_that_look_alike_are_told_apart(context):
    modules = [sdy.parse(NESTED, context) for _ in range(3)]
    made = []
    for module in modules:

        class Pair(tuple):
            pass

        jax.tree_util.register_pytree_node(Pair, lambda p: (tuple(p), None), lambda _, p: Pair(p))
        made.append(structure(Pair((0, 1))))
        remember(made[-1], module)
    assert len({str(one) for one in made}) == 1
    found = [structure_of(module, arguments=2, results=2) for module in modules]
    assert all(one is other for one, other in zip(found, made, strict=True))


@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        ("f32", np.float32),
        ("bf16", ml_dtypes.bfloat16),
        ("i1", np.bool_),
        ("i8", np.int8),
        ("ui16", np.uint16),
        ("i4", ml_dtypes.int4),
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
        ("f8E5M2", ml_dtypes.float8_e5m2),
        ("f8E4M3B11FNUZ", ml_dtypes.float8_e4m3b11fnuz),
        ("f8E8M0FNU", ml_dtypes.float8_e8m0fnu),
        ("f4E2M1FN", ml_dtypes.float4_e2m1fn),
        ("complex<f32>", np.complex64),
    ],
)
def test_element_types(element, dtype):
    assert dtype_of(element) == dtype


@pytest.mark.parametrize("element", ["i64", "ui64", "f64", "complex<f64>"])
def test_element_types_of_64_bits(element):
    with pytest.raises(UsageError, match=r"jax.config.update\('jax_enable_x64', True\)"):
        dtype_of(element)
    with jax.enable_x64(True):
        assert dtype_of(element).itemsize >= 8
