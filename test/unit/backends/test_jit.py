# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The JIT compiler: values in and out, control flow, failures, and the interpreter's results."""

from pathlib import Path

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import Severity, collect
from pyshardy.backends import CompileOptions, local_engine
from pyshardy.backends.jit.engine import JitEngine
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import TensorSpec


@pytest.fixture(scope="module")
def jit():
    engine = JitEngine(CompileOptions(optimization=0))
    yield engine
    engine.close()


@pytest.fixture
def run(context, jit):
    def call(text: str, *arrays) -> list[np.ndarray]:
        return jit.compile(parse(text, context, "p.mlir")).run([list(arrays)])[0]

    return call


ELEMENTS = ["i1", "i8", "i64", "ui8", "ui32", "ui64", "f16", "f32", "f64", "bf16", "i4", "ui4"]
ELEMENTS += ["complex<f32>", "complex<f64>", "f8E4M3FN", "f8E8M0FNU", "f6E2M3FN", "f4E2M1FN"]


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", [(), (3, 2), (0, 2)])
def test_values_go_in_and_out_unchanged(run, element, shape):
    spec = TensorSpec(shape, element)
    text = (
        f"func.func @main(%x: {spec}) -> ({spec}, {spec}) {{\n  return %x, %x : {spec}, {spec}\n}}"
    )
    # Numbers that all types have; of 1, 2 and 4, f8E8M0FNU has all, and no zero.
    array = (2 ** (np.arange(np.prod(shape, dtype=int)) % 3)).reshape(shape).astype(spec.dtype)
    for result in run(text, array):
        assert (result.dtype, result.shape) == (spec.dtype, shape)
        np.testing.assert_array_equal(result, array)


def test_unsigned_numbers_are_none_below_zero(run):
    text = """
func.func @main(%x: tensor<2xui8>, %y: tensor<2xui8>)
    -> (tensor<2xui8>, tensor<2xi1>, tensor<2xf32>) {
  %0 = stablehlo.divide %x, %y : tensor<2xui8>
  %1 = stablehlo.compare GT, %x, %y : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  %2 = stablehlo.convert %x : (tensor<2xui8>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xui8>, tensor<2xi1>, tensor<2xf32>
}"""
    quotients, greater, floats = run(text, np.array([200, 3], "u1"), np.array([3, 200], "u1"))
    assert quotients.tolist() == [66, 0]
    assert greater.tolist() == [True, False]
    assert floats.tolist() == [200, 3]


def test_sums_of_truth_values(run):
    text = """
func.func @main(%x: tensor<2x2xi1>, %z: tensor<i1>) -> tensor<2xi1> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<2x2xi1>, tensor<i1>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}"""
    assert run(text, np.array([[1, 1], [0, 0]], bool), np.array(False))[0].tolist() == [True, False]


def test_interior_padding_before_more(run):
    text = """
func.func @main(%x: tensor<2xi32>, %z: tensor<i32>) -> tensor<5xi32> {
  %0 = stablehlo.pad %x, %z, low = [0], high = [0], interior = [1]
    : (tensor<2xi32>, tensor<i32>) -> tensor<3xi32>
  %1 = stablehlo.pad %0, %z, low = [1], high = [1], interior = [0]
    : (tensor<3xi32>, tensor<i32>) -> tensor<5xi32>
  return %1 : tensor<5xi32>
}"""
    (padded,) = run(text, np.array([1, 2], "i4"), np.array(9, "i4"))
    assert padded.tolist() == [9, 1, 9, 2, 9]


PASSED_ON = """
func.func @main(%k: tensor<i32>, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2x2xf32>
  %1 = "stablehlo.case"(%k) ({
    %t = stablehlo.negate %0 : tensor<2x2xf32>
    stablehlo.return %t : tensor<2x2xf32>
  }, {
    stablehlo.return %0 : tensor<2x2xf32>
  }, {
    stablehlo.return %x : tensor<2x2xf32>
  }) : (tensor<i32>) -> tensor<2x2xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}"""


@pytest.mark.parametrize(("branch", "factor"), [(0, -2), (1, 2), (2, 1), (7, 1)])
def test_a_branch_that_passes_a_value_on(run, branch, factor):
    x = np.array([[1, 2], [3, 4]], "float32")
    (found,) = run(PASSED_ON, np.int32(branch), x)
    np.testing.assert_array_equal(found, factor * x.T)


CONTROL_FLOW = """
func.func @main(%n: tensor<ui32>, %x: tensor<3xf32>) -> (tensor<ui32>, tensor<3xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<ui32>
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<ui32>, tensor<3xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %k = stablehlo.convert %i : (tensor<ui32>) -> tensor<i32>
      %b = "stablehlo.case"(%k) ({
        %t = stablehlo.add %a, %a : tensor<3xf32>
        stablehlo.return %t : tensor<3xf32>
      }, {
        %t = stablehlo.negate %a : tensor<3xf32>
        stablehlo.return %t : tensor<3xf32>
      }, {
        %t = stablehlo.reverse %a, dims = [0] : tensor<3xf32>
        stablehlo.return %t : tensor<3xf32>
      }) : (tensor<i32>) -> tensor<3xf32>
      %j = stablehlo.add %i, %one : tensor<ui32>
      stablehlo.return %j, %b : tensor<ui32>, tensor<3xf32>
    }
  %c = stablehlo.compare EQ, %0#0, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %1 = "stablehlo.if"(%c) ({
    %t = stablehlo.constant dense<7.0> : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }, {
    %t = stablehlo.constant dense<8.0> : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0#0, %0#1, %1 : tensor<ui32>, tensor<3xf32>, tensor<f32>
}"""


@pytest.mark.parametrize(
    ("trips", "line", "number"),
    [(0, [1, 2, 3], 7), (1, [2, 4, 6], 8), (2, [-2, -4, -6], 8), (4, [-2, -4, -6], 8)],
)
def test_control_flow(run, trips, line, number):
    """An index beyond the last branch takes the last one: four trips reverse twice."""
    count, array, chosen = run(CONTROL_FLOW, np.uint32(trips), np.array([1, 2, 3], np.float32))
    assert (int(count), array.tolist(), float(chosen)) == (trips, line, number)


EMPTY = """
func.func @main(%x: tensor<2x3xf32>, %e: tensor<2x0xf32>, %i: tensor<i32>) -> ({types}) {{
  %z = stablehlo.constant dense<5.0> : tensor<f32>
  %0 = stablehlo.slice %x [0:2, 3:3] : (tensor<2x3xf32>) -> tensor<2x0xf32>
  %1 = stablehlo.concatenate %x, %0, dim = 1 : (tensor<2x3xf32>, tensor<2x0xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.add %e, %0 : tensor<2x0xf32>
  %3 = stablehlo.pad %2, %z, low = [0, 1], high = [0, 2], interior = [0, 0]
    : (tensor<2x0xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = stablehlo.dynamic_update_slice %x, %2, %i, %i
    : (tensor<2x3xf32>, tensor<2x0xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %5 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<2x0xf32>, tensor<f32>) -> tensor<2xf32>
  %6:2 = stablehlo.while(%k = %i, %a = %2) : tensor<i32>, tensor<2x0xf32>
    cond {{
      %c = stablehlo.constant dense<0> : tensor<i32>
      %p = stablehlo.compare GT, %k, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %c = stablehlo.constant dense<1> : tensor<i32>
      %l = stablehlo.subtract %k, %c : tensor<i32>
      %b = stablehlo.add %a, %a : tensor<2x0xf32>
      stablehlo.return %l, %b : tensor<i32>, tensor<2x0xf32>
    }}
  %7 = stablehlo.dot_general %e, %e, contracting_dims = [1] x [1]
    : (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4, %5, %6#0, %6#1, %7 : {types}
}}"""


def test_tensors_without_elements(run):
    whole, empty = "tensor<2x3xf32>", "tensor<2x0xf32>"
    types = [empty, whole, empty, whole, whole, "tensor<2xf32>", "tensor<i32>", empty]
    text = EMPTY.format(types=", ".join([*types, "tensor<2x2xf32>"]))
    array, nothing = np.ones((2, 3), np.float32), np.ones((2, 0), np.float32)
    found = run(text, array, nothing, np.int32(3))
    fives = np.full((2, 3), 5)
    wanted = [nothing, array, nothing, fives, array, fives[:, 0], 0, nothing, np.zeros((2, 2))]
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_reductions_along_nothing(run):
    text = """
func.func @main(%x: tensor<3xf32>, %z: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = []
    : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
    (found,) = run(text, np.array([1, 2, 3], np.float32), np.float32(10))
    assert found.tolist() == [11, 12, 13]


@pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux tells what memory is held")
def test_memory_is_given_back(context, jit):
    """A loop whose every trip needs a megabyte, for 2000 trips."""
    text = """
func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %1 = stablehlo.add %0, %x : tensor<512x512xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}"""
    program = jit.compile(parse(text, context))
    array = np.ones((512, 512), np.float32)
    program.run([[array]])
    before = resident_bytes(jit.process_id)
    for _ in range(60):
        program.run([[array]])
    assert resident_bytes(jit.process_id) - before < 20 * array.nbytes


def resident_bytes(process_id: int) -> int:
    with open(f"/proc/{process_id}/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_arguments_stay_what_they_are(context, jit):
    """Devices may share an array; an update in its place would show on the next one."""
    text = """
func.func @main(%a: tensor<3xf32>, %i: tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<1xf32>
  %0 = stablehlo.dynamic_update_slice %a, %one, %i
    : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
  %1 = stablehlo.add %0, %0 : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}"""
    shared = np.zeros(3, np.float32)
    program = jit.compile(parse(text, context))
    found = program.run([[shared, np.int32(0)], [shared, np.int32(2)]])
    assert [updated.tolist() for updated, _ in found] == [[1, 0, 0], [0, 0, 1]]
    assert [twice.tolist() for _, twice in found] == [[2, 0, 0], [0, 0, 2]]


def test_what_cannot_be_compiled_is_a_diagnostic(run):
    text = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
    with pytest.raises(
        ExecutionError, match=r"p\.mlir:3:8: error: the JIT compiler failed: .*custom_call"
    ) as failure:
        run(text, np.ones(2, np.float32))
    assert "'sdy-run --custom-call=f=FILE:FUNCTION'" in str(failure.value)
    identity = "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}"
    assert run(identity, np.float32(3)) == [3]


ROOTS = """
func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.cbrt %x : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}"""


def test_the_interpreter_runs_what_cannot_be_compiled(context):
    engine = local_engine("jit", CompileOptions(optimization=0))
    program = engine.compile(parse(ROOTS, context, "p.mlir"))
    with collect() as told:
        for _ in range(2):
            assert program.run([[np.array([1, 8], np.complex64)]])[0][0].tolist() == [1, 2]
    (warning,) = told
    assert warning.severity is Severity.WARNING
    assert str(warning.location) == "p.mlir:3:8"
    assert "the JIT compiler failed: " in warning.message
    assert "stablehlo.cbrt" in warning.message
    assert warning.message.endswith("the reference interpreter runs this part of the program")


def test_what_nobody_can_run(context):
    call = ROOTS.replace(
        "stablehlo.cbrt %x :", "stablehlo.custom_call @f(%x) : (tensor<2xcomplex<f32>>) ->"
    )
    program = local_engine("jit").compile(parse(call, context, "p.mlir"))
    with pytest.raises(ExecutionError, match=r"p\.mlir:3:8: error: the JIT compiler failed"):
        program.run([[np.ones(2, np.complex64)]])


@pytest.mark.parametrize("optimization", [1, 3])
def test_levels_of_optimisation(context, optimization):
    engine = JitEngine(CompileOptions(optimization=optimization))
    try:
        program = engine.compile(parse(CONTROL_FLOW, context))
        _, array, _ = program.run([[np.uint32(1), np.array([1, 2, 3], np.float32)]])[0]
        assert array.tolist() == [2, 4, 6]
    finally:
        engine.close()
