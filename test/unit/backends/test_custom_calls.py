# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls that Python functions implement: what these get, and what they may return."""

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SourceLocation
from pyshardy.backends import CompileOptions, local_engine
from pyshardy.backends.custom_calls import results_of
from pyshardy.backends.lockstep.backend import LockstepProgram
from pyshardy.backends.registry import spmd_program
from pyshardy.local_program.custom_calls import CustomCall, calls_to, described, take_plain_arrays
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.tensor_spec import TensorSpec

PAIR = TensorSpec((2,), "f32")
PLACE = SourceLocation("p.mlir", 3, 8)
ARRAY = np.array([1, 2], np.float32)


def call_with(*results, config=""):
    return CustomCall("f", config, (PAIR, PAIR), results, PLACE)


# --- Functions ----------------------------------------------------------------------------------


def test_an_array_for_each_operand():
    assert results_of(np.multiply, call_with(PAIR), [ARRAY, ARRAY])[0].tolist() == [1, 4]


@pytest.mark.parametrize(
    ("returned", "results"),
    [
        (None, ()),
        ((), ()),
        (ARRAY, (PAIR,)),
        ([ARRAY], (PAIR,)),
        ((ARRAY, np.int32(3)), (PAIR, TensorSpec((), "i32"))),
        (np.float32(3), (TensorSpec((), "f32"),)),
        (np.zeros(0, bool), (TensorSpec((0,), "i1"),)),
    ],
)
def test_what_a_function_may_return(returned, results):
    found = results_of(lambda *_: returned, call_with(*results), [ARRAY, ARRAY])
    assert [(array.shape, array.dtype) for array in found] == [
        (spec.shape, spec.dtype) for spec in results
    ]


def test_a_function_may_ask_for_the_call():
    def scaled(x, y, *, call):
        assert call.results == (PAIR,)
        return (x + y) * np.float32(call.config["by"])

    (found,) = results_of(scaled, call_with(PAIR, config={"by": 10}), [ARRAY, ARRAY])
    assert found.tolist() == [20, 40]


def test_an_operand_of_the_name_call_is_an_operand():
    (found,) = results_of(lambda x, call: x - call, call_with(PAIR), [ARRAY, ARRAY * 3])
    assert found.tolist() == [-2, -4]


def test_results_are_copies():
    kept = ARRAY.copy()
    (found,) = results_of(lambda *_: kept, call_with(PAIR), [ARRAY, ARRAY])
    kept[:] = 7
    assert found.tolist() == [1, 2]
    assert found.flags.writeable


def test_operands_are_not_written():
    given = ARRAY.copy()

    def writing(x, y):
        x += y
        return x

    with pytest.raises(ExecutionError, match=r"ValueError: .*read-only"):
        results_of(writing, call_with(PAIR), [given, given])
    assert given.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, r"0 arrays, but the results are 1: tensor<2xf32>$"),
        ((ARRAY, ARRAY), r"2 arrays, but the results are 1: tensor<2xf32>$"),
        (ARRAY[:1], r"float32 of shape \(1,\) for result 0, which is tensor<2xf32>: float32 of"),
        (ARRAY.astype(np.float64), r"float64 of shape \(2,\).*\n.*note: .*astype\(numpy.float32\)"),
        ("text", r"<U4 of shape \(\)"),
    ],
)
def test_what_a_function_must_not_return(returned, message):
    with pytest.raises(ExecutionError, match=rf"^p\.mlir:3:8: error: .*'@f' returned {message}"):
        results_of(lambda *_: returned, call_with(PAIR), [ARRAY, ARRAY])


def test_a_failure_has_both_places():
    with pytest.raises(ExecutionError) as failed:
        results_of(lambda x, _: x.tolist()[5], call_with(PAIR), [ARRAY, ARRAY])
    (diagnostic,) = failed.value.diagnostics
    assert diagnostic.location == PLACE
    assert diagnostic.message.endswith("failed: IndexError: list index out of range")
    assert diagnostic.notes[0].location.filename == __file__
    assert isinstance(failed.value.__cause__, IndexError)


def test_a_function_of_other_arguments():
    with pytest.raises(
        ExecutionError, match=r"TypeError: .* takes 1 positional argument"
    ) as failed:
        results_of(lambda x: x, call_with(PAIR), [ARRAY, ARRAY])
    assert not failed.value.diagnostics[0].notes, "nothing of it was run"


# --- Calls of a program -------------------------------------------------------------------------


def test_the_description_of_a_call(context):
    module = parse(
        """
        func.func @main(%x: tensor<2xf32>, %y: tensor<bf16>) {
          %0 = stablehlo.custom_call @f(%x, %y) {api_version = 4 : i32, backend_config = {
            a = 1 : i64, b = 2.5 : f32, c = "text", d = true, e = [1 : i8, "x"],
            f = array<i64: 3, 4>, g = {h = array<i32>}, i = tensor<2xf32>}}
            : (tensor<2xf32>, tensor<bf16>) -> tensor<3xi4>
          stablehlo.custom_call @g() {backend_config = "opaque"} : () -> ()
          return
        }""",
        context,
        "p.mlir",
    )
    first, second = map(described, calls_to({"f", "g"}, module))
    assert first.operands == (PAIR, TensorSpec((), "bf16"))
    assert first.results == (TensorSpec((3,), "i4"),)
    assert first.place == SourceLocation("p.mlir", 3, 16)
    assert first.config == {
        "a": 1,
        "b": 2.5,
        "c": "text",
        "d": True,
        "e": [1, "x"],
        "f": [3, 4],
        "g": {"h": []},
        "i": "tensor<2xf32>",
    }
    assert (second.target, second.config, second.operands) == ("g", "opaque", ())


def test_types_that_numpy_lacks_are_converted_around_calls(context):
    module = parse(
        """
        func.func @main(%x: tensor<2xbf16>, %y: tensor<2xi32>) -> tensor<2xi4> {
          %0 = stablehlo.custom_call @f(%x, %y) : (tensor<2xbf16>, tensor<2xi32>) -> tensor<2xi4>
          %1 = stablehlo.custom_call @g(%0) : (tensor<2xi4>) -> tensor<2xi4>
          return %1 : tensor<2xi4>
        }""",
        context,
    )
    take_plain_arrays(module, {"f"})
    names = [view.operation.name for view in module.body.operations[0].regions[0].blocks[0]]
    assert names == [
        "stablehlo.convert",
        "stablehlo.custom_call",
        "stablehlo.convert",
        "stablehlo.custom_call",
        "func.return",
    ]
    f, g = map(described, calls_to({"f", "g"}, module))
    assert [spec.element for spec in (*f.operands, *f.results)] == ["f32", "i32", "i8"]
    assert [spec.element for spec in (*g.operands, *g.results)] == ["i4", "i4"]


# --- In lockstep --------------------------------------------------------------------------------

SUM = """
  ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
    : (tensor<f32>) -> tensor<f32>
"""

LOOP = f"""
func.func private @step(%x: tensor<f32>) -> tensor<f32> {{
  %0 = stablehlo.custom_call @f(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.all_reduce"(%0) {SUM}
  return %1 : tensor<f32>
}}
func.func @main(%x: tensor<f32>, %count: tensor<i32>) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<f32> cond {{
    %more = stablehlo.custom_call @less(%i, %count) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %next = stablehlo.add %i, %one : tensor<i32>
    %stepped = func.call @step(%v) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %next, %stepped : tensor<i32>, tensor<f32>
  }}
  return %r#1 : tensor<f32>
}}
"""


def run(text, context, engine, inputs, **functions):
    module = parse(text, context, "p.mlir")
    layout = Layout(1, len(inputs))
    return LockstepProgram(module, engine, layout, functions).run(inputs)


def scalars(*values, dtype=np.float32):
    return [np.array(value, dtype) for value in values]


def test_in_loops_and_functions(context, engine):
    count = np.array(3, np.int32)
    inputs = [[x, count] for x in scalars(1, 2)]
    found = run(LOOP, context, engine, inputs, f=lambda x: x * 2 + 1, less=np.less)
    # 1, 2 -> 3 + 5 -> 17 + 17 -> 69 + 69
    assert [float(value) for (value,) in found] == [138, 138]


def test_in_the_branch_that_a_device_takes(context, engine):
    text = """
    func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
      %0 = "stablehlo.if"(%p) ({
        %1 = stablehlo.custom_call @f(%x) : (tensor<f32>) -> tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }, {
        stablehlo.return %x : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    seen = []

    def negated(x):
        seen.append(float(x))
        return -x

    inputs = [[x, np.array(x > 1)] for x in scalars(1, 2, 3)]
    found = run(text, context, engine, inputs, f=negated)
    assert [float(value) for (value,) in found] == [1, -2, -3]
    assert seen == [2, 3]


def test_an_effect_takes_place_on_each_device(context, engine):
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      stablehlo.custom_call @print(%x) {has_side_effect = true} : (tensor<f32>) -> ()
      return %x : tensor<f32>
    }"""
    seen = []
    run(text, context, engine, [[x] for x in scalars(4, 5)], print=lambda x: seen.append(float(x)))
    assert seen == [4, 5]


def test_results_are_rounded_to_narrow_types(context, engine):
    text = """
    func.func @main(%x: tensor<2xbf16>) -> (tensor<2xbf16>, tensor<2xi4>) {
      %0:2 = stablehlo.custom_call @f(%x) : (tensor<2xbf16>) -> (tensor<2xbf16>, tensor<2xi4>)
      return %0#0, %0#1 : tensor<2xbf16>, tensor<2xi4>
    }"""
    third = np.float32(1) / 3
    ((narrow, small),) = run(
        text, context, engine, [[ARRAY]], f=lambda x: (x * third, x.astype(np.int8))
    )
    assert narrow.tolist() == [0.333984375, 0.66796875]
    assert small.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("outer", "around"),
    [
        (
            "stablehlo.reduce",
            """%z = stablehlo.constant dense<0.0> : tensor<f32>
            %0 = stablehlo.reduce(%x init: %z) across dimensions = [0]
              : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
              reducer(%a: tensor<f32>, %b: tensor<f32>) {
                CALL stablehlo.return %c : tensor<f32>
              }""",
        ),
        (
            "stablehlo.reduce_scatter",
            """%0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              CALL stablehlo.return %c : tensor<f32> })
            {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}
              : (tensor<4xf32>) -> tensor<2xf32>""",
        ),
    ],
)
def test_a_body_of_another_operation_calls_no_function(context, engine, outer, around):
    call = "%c = stablehlo.custom_call @f(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
    body = around.replace("CALL", call)
    text = f"func.func @main(%x: tensor<4xf32>) {{ {body}\n return }}"
    message = rf"error: 'stablehlo.custom_call' is not supported inside '{outer}'\n.*note: "
    with pytest.raises(ExecutionError, match=message):
        run(text, context, engine, [[np.zeros(4, np.float32)]] * 2, f=np.add)


def test_values_that_arrays_cannot_stand_for(context, engine):
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.custom_call @f(%x) : (tensor<f32>) -> tuple<tensor<f32>>
      return %x : tensor<f32>
    }"""
    with pytest.raises(Exception, match=r"p\.mlir:3:12: error: there is no NumPy array for"):
        run(text, context, engine, [scalars(1)], f=np.add)


# --- Options ------------------------------------------------------------------------------------


def test_options_with_equal_functions_are_equal():
    options = CompileOptions(custom_calls={"f": np.add})
    assert options == CompileOptions(custom_calls={"f": np.add})
    assert hash(options) == hash(CompileOptions(custom_calls={"f": np.add}))
    assert options != CompileOptions(custom_calls={"f": np.multiply})


def test_options_keep_what_they_were_given():
    given = {"f": np.add}
    options = CompileOptions(custom_calls=given)
    given["g"] = np.multiply
    assert dict(options.custom_calls) == {"f": np.add}


def test_functions_need_no_engine_of_their_own():
    engine = local_engine("interpreter", CompileOptions(custom_calls={"f": np.add}))
    assert engine is local_engine("interpreter")


def test_what_nobody_implements_is_said_how_to(context):
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.custom_call @f(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    module = parse(text, context, "p.mlir")
    message = (
        r"p\.mlir:3:12: note: implement it by a Python function .* CompileOptions\(custom_calls="
    )
    options = CompileOptions(optimization=0, custom_calls={"g": np.add})
    for backend in ("interpreter", "jit"):
        with pytest.raises(ExecutionError, match=message):
            spmd_program(backend, module, Layout(1, 1), options).run([scalars(1)])
