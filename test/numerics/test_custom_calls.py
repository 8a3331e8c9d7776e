# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose custom calls Python functions do compute the same on all backends."""

import threading

import numpy as np
import pytest

import pyshardy as sdy
from pyshardy.backends.arrays.comparison import random_inputs
from pyshardy.backends.xla.program import local_xla_program
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.process_groups import Layout
from pyshardy.program import partition, run_unpartitioned

ELEMENTS = ("f32", "f16", "bf16", "f8E5M2", "i32", "ui8", "i4", "i1", "complex<f32>")
CASES = [
    *((backend, element) for backend in ("interpreter", "jit", "xla") for element in ELEMENTS),
    *(("iree", element) for element in ("f32", "bf16")),
]

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(
    %a: tensor<4x7xELEMENT> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %count: tensor<i32>)
    -> (tensor<4x7xELEMENT>, tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<4x7xELEMENT> cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %turned = stablehlo.custom_call @turn(%v, %next) {
      backend_config = "7", sdy.sharding_rule = #sdy.op_sharding_rule<
        ([i, j], [])->([i, j]) {i=4, j=7} need_replication={j}, custom>
    } : (tensor<4x7xELEMENT>, tensor<i32>) -> tensor<4x7xELEMENT>
    stablehlo.return %next, %turned : tensor<i32>, tensor<4x7xELEMENT>
  }
  %counts:2 = stablehlo.custom_call @count(%r#1) {
    sdy.sharding_rule = #sdy.op_sharding_rule<
      ([i, j])->([i, j], [i]) {i=4, j=7} need_replication={j}, custom>
  } : (tensor<4x7xELEMENT>) -> (tensor<4x7xELEMENT>, tensor<4xi32>)
  return %counts#0, %counts#1 : tensor<4x7xELEMENT>, tensor<4xi32>
}
"""


def turn(rows, by, *, call):
    """Each row turned around by some places."""
    assert rows.shape[1] == int(call.config)
    return np.roll(rows, int(by), axis=1)


def count(rows):
    """The rows, and how many of each aren't zero."""
    return rows[:, ::-1], np.count_nonzero(rows, axis=1).astype(np.int32)


OPTIONS = sdy.CompileOptions(optimization=0, custom_calls={"turn": turn, "count": count})


def partitioned(text, context):
    module = sdy.parse(text, context)
    sdy.propagate(module)
    return partition(module)


@pytest.mark.parametrize(("backend", "element"), CASES)
def test_numbers(backend, element, context):
    text = PROGRAM.replace("ELEMENT", element)
    program = partitioned(text, context)
    assert any(each.kind == "all_gather" for each in program.collectives)
    a = random_inputs([program.inputs[0].spec], seed=3)[0]
    if element in ("bf16", "f8E5M2"):
        a = np.round(a * 4) / 4
    turned = np.roll(a, 1 + 2 + 3, axis=1)
    found = program.run([a, 3], backend, OPTIONS)
    whole = run_unpartitioned(sdy.parse(text, context), [a, 3], backend, OPTIONS)
    for rows, counts in (found, whole):
        np.testing.assert_array_equal(rows, turned[:, ::-1])
        np.testing.assert_array_equal(counts, np.count_nonzero(turned, axis=1))


# --- XLA asks this process ----------------------------------------------------------------------

SCALE = """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.custom_call @scale(%a) {
    sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=16}, custom>
  } : (tensor<16xf32>) -> tensor<16xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<16xf32>, tensor<f32>
}
"""
A = np.arange(16, dtype=np.float32)


def with_scale(function):
    return sdy.CompileOptions(custom_calls={"scale": function})


def test_functions_are_called_in_this_process(context):
    """They may be closures, and keep what they see."""
    program = partitioned(SCALE, context)
    seen = []

    def scale(part):
        assert threading.current_thread() is threading.main_thread()
        seen.append(part.tolist())
        return part * 3

    scaled, total = program.run([A], "xla", with_scale(scale))
    np.testing.assert_array_equal(scaled, A * 3)
    assert total == 3 * A.sum()
    assert sorted(seen) == A.reshape(8, 2).tolist()


def test_programs_that_differ_in_functions_only(context):
    program = partitioned(SCALE, context)
    for factor in (2, 5):
        scaled, _ = program.run([A], "xla", with_scale(lambda part, factor=factor: part * factor))
        np.testing.assert_array_equal(scaled, A * factor)


def test_a_failure_leaves_what_is_on_devices(context):
    """The devices meet at the all-reduce, though one of them had no result for it."""
    program = partitioned(SCALE, context)

    def scale(part):
        if part[0] == 6:
            raise KeyError("six")
        return part + 1

    fine = with_scale(lambda part: part + 1)
    kept, _ = program.run_sharded([A], "xla", fine)
    with pytest.raises(ExecutionError, match=r":6:8: error: .*'@scale' failed: KeyError: 'six'"):
        program.run([A], "xla", with_scale(scale))
    np.testing.assert_array_equal(program.run([kept], "xla", fine)[0], A + 2)


def test_a_function_that_runs_a_program(context):
    """The process that asks can't be asked meanwhile; others can."""
    program = partitioned(SCALE, context)
    triple = with_scale(lambda part: part * 3)

    def run_on(backend):
        return lambda _: program.run([A], backend, triple)[0][:2]

    found, _ = program.run([A], "xla", with_scale(run_on("interpreter")))
    np.testing.assert_array_equal(found, np.tile(A[:2] * 3, 8))
    with pytest.raises(ExecutionError, match="use another backend"):
        program.run([A], "xla", with_scale(run_on("xla")))
    np.testing.assert_array_equal(program.run([A], "xla", triple)[0], A * 3)


def test_an_effect_without_results(context):
    program = partitioned(
        """
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
          stablehlo.custom_call @keep(%a) {
            has_side_effect = true
          } : (tensor<4xf32>) -> ()
          return
        }""",
        context,
    )
    seen = []
    options = sdy.CompileOptions(custom_calls={"keep": lambda a: seen.append(a.tolist())})
    assert program.run([A[:4]], "xla", options) == []
    assert seen == [[0, 1, 2, 3]] * 2, "no rule says that a part would do"


def test_what_xla_measures_and_keeps(context, tmp_path):
    """Programs that call back aren't kept in files: another process couldn't answer."""
    module = partitioned(SCALE, context).module
    functions = {"scale": lambda part: part * 2}
    program = local_xla_program(module, Layout(1, 8), "cpu", str(tmp_path), functions)
    assert program.seconds([[part] for part in A.reshape(8, 2)], runs=2) > 0
    assert list(tmp_path.iterdir()) == []


def test_where_xla_cannot_call_back(context):
    program = partitioned(
        """
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
            -> tensor<4xf32> {
          %z = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.reduce(%a init: %z) across dimensions = [1]
            : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
            reducer(%l: tensor<f32>, %r: tensor<f32>) {
              %c = stablehlo.custom_call @join(%l, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>
              stablehlo.return %c : tensor<f32>
            }
          return %0 : tensor<4xf32>
        }""",
        context,
    )
    options = sdy.CompileOptions(custom_calls={"join": np.add})
    with pytest.raises(
        ExecutionError, match=r":9:20: error: .*not supported inside 'stablehlo.reduce'"
    ):
        program.run([np.zeros((4, 3), np.float32)], "xla", options)


def test_what_xla_does_not_know(context):
    program = partitioned(SCALE, context)
    with pytest.raises(ExecutionError, match=r":6:8: error: XLA failed: .*\n.*custom_calls="):
        program.run([A], "xla")
