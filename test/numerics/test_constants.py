# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants of each element type, whose uses are sharded, padded or sliced."""

import numpy as np
import pytest
from case_counts import cases
from constant_programs import ELEMENTS, POWERS, ConstantProgram

from mlir_sdy.assembly import parse
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import compare, random_inputs
from pyshardy.local_program.errors import ExecutionError
from pyshardy.program import partition, run_unpartitioned

ROUNDED = ("use_reduction", "use_product")
BACKENDS = ("interpreter", "jit", "xla")


@pytest.mark.parametrize("element", ELEMENTS)
def test_random_programs(context, element):
    for seed in range(cases(2)):
        program = ConstantProgram(seed, element)
        module = parse(program.text, context)
        propagate(module)
        partitioned = partition(module)
        inputs = random_inputs([port.spec for port in partitioned.inputs], seed)
        if element == POWERS:
            inputs = [
                np.abs(each).clip(1 / 8) if each.dtype.kind == "f" else each for each in inputs
            ]
        wanted = run_unpartitioned(module, inputs)
        for output, array, want in zip(
            partitioned.outputs, partitioned.run(inputs), wanted, strict=True
        ):
            if program.kind in ROUNDED:
                assert compare(array, want, output.spec).is_small, program.text
            else:
                assert_same(array, want, program.text)


def assert_same(found, wanted, text):
    """Equal numbers of equal signs; NaN is equal to NaN."""
    if found.dtype.kind == "c":
        assert_same(found.real, wanted.real, text)
        assert_same(found.imag, wanted.imag, text)
        return
    if found.dtype.kind not in "biu":
        found, wanted = (np.asarray(each).astype(np.float64) for each in (found, wanted))
    np.testing.assert_array_equal(found, wanted, err_msg=text)
    if found.dtype.kind == "f":
        known = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(wanted)[known], text)


CONVERSIONS = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf8E8M0FNU> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<6xf8E8M0FNU>, tensor<6xf8E8M0FNU>, tensor<6xf8E8M0FNU>, tensor<6xf8E8M0FNU>) {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<f8E8M0FNU>
  %2 = stablehlo.pad %a, %1, low = [1], high = [1], interior = [0]
      : (tensor<4xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<6xf8E8M0FNU>
  %3 = stablehlo.constant dense<[-0.0, 0.0, 1.0, 3.0, -2.0, 4.0]> : tensor<6xf32>
  %4 = stablehlo.convert %3 : (tensor<6xf32>) -> tensor<6xf8E8M0FNU>
  %5 = stablehlo.constant dense<[false, true, true, false, true, true]> : tensor<6xi1>
  %6 = stablehlo.convert %5 : (tensor<6xi1>) -> tensor<6xf8E8M0FNU>
  %7 = stablehlo.constant dense<[(0.0, 1.0), (2.0, 0.0), (0.0, 0.0), (1.0, 1.0), (4.0, 0.0),
                                 (8.0, 0.0)]> : tensor<6xcomplex<f32>>
  %8 = stablehlo.convert %7 : (tensor<6xcomplex<f32>>) -> tensor<6xf8E8M0FNU>
  return %2, %4, %6, %8
      : tensor<6xf8E8M0FNU>, tensor<6xf8E8M0FNU>, tensor<6xf8E8M0FNU>, tensor<6xf8E8M0FNU>
}
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_without_power(context, backend):
    """A conversion of zero to f8E8M0FNU gives NaN, also where a compiler folds it."""
    module = parse(CONVERSIONS, context)
    propagate(module)
    found = partition(module).run([np.full(4, 2.0, np.float32)], backend=backend)
    nan = np.nan
    wanted = [
        [nan, 2, 2, 2, 2, nan],
        [nan, nan, 1, 4, nan, 4],
        [nan, 1, 1, nan, 1, 1],
        [nan, 2, nan, 1, 4, 8],
    ]
    for array, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(array).astype(np.float64), want)


WEIGHTS = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.constant dense_resource<NAME> : tensor<4xf32>
  %1 = stablehlo.add %a, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
{-# dialect_resources: { builtin: {
  weights: "0x040000000000803f000000400000404000008040", few: "0x040000000000803f0000803f" } } #-}
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_resource(context, backend):
    module = parse(WEIGHTS.replace("NAME", "weights"), context)
    propagate(module)
    (found,) = partition(module).run([np.zeros(4, np.float32)], backend=backend)
    np.testing.assert_array_equal(found, [1, 2, 3, 4])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["__elided__", "few"])
def test_unknown_elements(context, name, backend):
    """A constant without elements isn't run on whatever the memory holds."""
    module = parse(WEIGHTS.replace("NAME", name), context)
    propagate(module)
    with pytest.raises(ExecutionError, match="elements of this constant of type tensor<4xf32>"):
        partition(module).run([np.zeros(4, np.float32)], backend=backend)


def test_sparse_elements(context):
    text = WEIGHTS.replace("dense_resource<NAME>", "sparse<[[1]], [2.0]>")
    module = parse(text, context)
    propagate(module)
    with pytest.raises(ExecutionError, match="elided or sparse"):
        partition(module).run([np.zeros(4, np.float32)])
