# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter in its child process: values, failures, restarts."""

import os
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from mlir_sdy.assembly import parse
from pyshardy.backends.arrays.comparison import random_inputs
from pyshardy.backends.interpreter.engine import InterpreterEngine
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import TensorSpec

EXACT = ["i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64"]
COMPLEX = ["complex<f32>", "complex<f64>"]


def identity(spec: TensorSpec) -> str:
    return f"func.func @main(%x: {spec}) -> {spec} {{\n  return %x : {spec}\n}}"


@st.composite
def values(draw, elements):
    shape = draw(npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    spec = TensorSpec(shape, draw(st.sampled_from(elements)))
    return spec, draw(npst.arrays(spec.dtype, shape))


@given(values(EXACT + COMPLEX))
@settings(deadline=None, max_examples=150)
def test_values_go_in_and_out_unchanged(context, engine, value):
    spec, array = value
    program = engine.compile(parse(identity(spec), context))
    (result,) = program.run([[array]])[0]
    assert result.dtype == array.dtype
    assert result.shape == array.shape
    np.testing.assert_array_equal(result, array)


@pytest.mark.parametrize(
    ("element", "given_value", "wanted"),
    [
        ("bf16", 1.00390625, 1.0),
        ("bf16", 1.01171875, 1.015625),
        ("f8E4M3FN", 1.06, 1.0),
        ("f8E5M2", 3.4, 3.5),
        ("f4E2M1FN", 2.4, 2.0),
        ("i4", -8, -8),
        ("ui4", 15, 15),
        ("i2", -2, -2),
    ],
)
def test_values_of_narrow_types_are_rounded_to_them(context, engine, element, given_value, wanted):
    spec = TensorSpec((2,), element)
    program = engine.compile(parse(identity(spec), context))
    (result,) = program.run([[np.full(2, given_value, spec.dtype)]])[0]
    assert result.tolist() == [wanted] * 2


def test_narrow_and_complex_values_keep_their_places(context, engine):
    text = """
func.func @main(%a: tensor<i4>, %b: tensor<complex<f32>>, %c: tensor<f32>)
    -> (tensor<f32>, tensor<complex<f32>>, tensor<i4>) {
  return %c, %b, %a : tensor<f32>, tensor<complex<f32>>, tensor<i4>
}"""
    program = engine.compile(parse(text, context))
    inputs = [np.int8(-3), np.complex64(1 + 2j), np.float32(4)]
    assert program.run([inputs]) == [[4, 1 + 2j, -3]]


def test_several_runs_at_once(context, engine):
    text = identity(TensorSpec((), "f32"))
    program = engine.compile(parse(text, context))
    assert program.run([[np.float32(value)] for value in range(5)]) == [[v] for v in range(5)]
    assert program.run([]) == []


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("stablehlo.custom_call @f(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>", "custom_call"),
        (
            "stablehlo.dot %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>",
            "stablehlo.dot",
        ),
        ("arith.addf %x, %x : tensor<2x2xf32>", "arith.addf"),
    ],
)
def test_what_cannot_run_is_found_before(context, engine, operation, name):
    text = f"""func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {{
  %0 = {operation}
  return %0 : tensor<2x2xf32>
}}"""
    with pytest.raises(ExecutionError) as failure:
        engine.compile(parse(text, context, "f.mlir"))
    (diagnostic,) = failure.value.diagnostics
    assert name in diagnostic.message
    assert str(diagnostic.location) == "f.mlir:2:8"
    assert diagnostic.notes[0].message


FFT = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [2] : (tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}"""


@pytest.mark.parametrize("element", ["f32", "bf16", "i8", "ui8", "complex<f32>"])
def test_products_over_no_elements_are_zero(context, engine, element):
    a, b, c = (TensorSpec(shape, element) for shape in ((2, 3, 0), (2, 0, 4), (2, 3, 4)))
    text = f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : ({a}, {b}) -> {c}
  return %0 : {c}
}}"""
    program = engine.compile(parse(text, context))
    ((result,),) = program.run([[np.zeros(a.shape, a.dtype), np.zeros(b.shape, b.dtype)]])
    assert result.dtype == c.dtype
    np.testing.assert_array_equal(result, np.zeros(c.shape, c.dtype))


@pytest.mark.parametrize("element", ["i8", "i32", "i64", "ui8", "ui64"])
def test_divisions_by_zero_are_those_of_xla(context, engine, element):
    spec = TensorSpec((4,), element)
    text = f"""func.func @main(%a: {spec}, %b: {spec}) -> ({spec}, {spec}) {{
  %0 = stablehlo.divide %a, %b : {spec}
  %1 = stablehlo.remainder %a, %b : {spec}
  return %0, %1 : {spec}, {spec}
}}"""
    least = np.iinfo(spec.dtype).min
    a, b = (np.array(each, spec.dtype) for each in ([7, 0, 7, least], [0, 0, 2, 0]))
    ((quotient, rest),) = engine.compile(parse(text, context)).run([[a, b]])
    all_bits = np.bitwise_not(np.zeros((), spec.dtype))
    np.testing.assert_array_equal(quotient, np.array([all_bits, all_bits, 3, all_bits]))
    np.testing.assert_array_equal(rest, np.array([7, 0, 1, least], spec.dtype))


@pytest.fixture
def own_engine():
    engine = InterpreterEngine()
    yield engine
    engine.close()


def test_an_abort_is_a_diagnostic_and_the_engine_goes_on(context, own_engine, monkeypatch):
    monkeypatch.setattr("pyshardy.backends.interpreter.engine.check_supported", lambda _: None)
    call = FFT.replace(
        "stablehlo.fft %x, type = RFFT, length = [2]", "stablehlo.custom_call @f(%x)"
    )
    program = own_engine.compile(parse(call, context, "f.mlir"))
    good = own_engine.compile(parse(identity(TensorSpec((), "f32")), context))
    assert good.run([[np.float32(1)]]) == [[1]]
    before = own_engine.process_id
    with pytest.raises(
        ExecutionError, match=r"f\.mlir:2:8: error: .*Unsupported op: .*custom_call"
    ):
        program.run([[np.zeros(2, np.float32)]])
    assert good.run([[np.float32(2)]]) == [[2]]
    assert own_engine.process_id != before


def test_a_killed_process_is_a_diagnostic(context, own_engine):
    good = own_engine.compile(parse(identity(TensorSpec((), "f32")), context))
    good.run([[np.float32(1)]])
    os.kill(own_engine.process_id, signal.SIGKILL)
    with pytest.raises(ExecutionError, match="SIGKILL"):
        good.run([[np.float32(1)]])
    assert good.run([[np.float32(2)]]) == [[2]]


def test_values_without_arrays(context, engine):
    text = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}"
    with pytest.raises(
        Exception, match=r"f.mlir:1:1: error: there is no NumPy array for .*tensor<\?xf32>"
    ):
        engine.compile(parse(text, context, "f.mlir"))


@pytest.mark.parametrize("element", [*EXACT, *COMPLEX, "bf16", "f8E4M3FN", "i4", "ui2"])
def test_random_inputs(element):
    spec = TensorSpec((50,), element)
    (array,), (again,) = random_inputs([spec], 1), random_inputs([spec], 1)
    np.testing.assert_array_equal(array, again)
    assert (array.dtype, array.shape) == (spec.dtype, spec.shape)
    assert len(np.unique(array)) > 1
    assert np.abs(array).max() < 8


def test_bytes():
    assert TensorSpec((3, 5), "bf16").nbytes == 30
    assert TensorSpec((3,), "complex<f32>").nbytes == 24
    assert TensorSpec((3,), "i4").nbytes == 2
    assert TensorSpec((3,), "f8E4M3FN").nbytes == 3
    assert TensorSpec((3,), "i1").nbytes == 3
    assert TensorSpec((0,), "f64").nbytes == 0
