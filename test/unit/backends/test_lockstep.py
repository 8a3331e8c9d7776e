# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs cut at their collectives: control flow, calls, device ids, sharing of work."""

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError
from pyshardy.backends.interpreter.engine import InterpreterEngine
from pyshardy.backends.lockstep.backend import LockstepProgram
from pyshardy.local_program.process_groups import Layout

TOTAL = """
func.func private @total(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
    : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""

LOOP = (
    TOTAL
    + """
func.func @main(%x: tensor<f32>, %count: tensor<i32>) -> (tensor<i32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<f32> cond {
    %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %sum = func.call @total(%v) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %next, %sum : tensor<i32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<f32>
}
"""
)


def numbers(values, dtype=np.float32) -> list[np.ndarray]:
    return [np.array(value, dtype) for value in values]


def test_a_loop_with_a_collective(run_local):
    inputs = zip(numbers([1, 2, 3, 4]), numbers([2] * 4, np.int32), strict=True)
    found = run_local(LOOP, list(map(list, inputs)))
    assert [(int(count), float(value)) for count, value in found] == [
        *[(2, 6.0), (2, 6.0)],
        *[(2, 14.0), (2, 14.0)],
    ]


def test_groups_may_loop_unlike_often(run_local):
    inputs = zip(numbers([1, 2, 3, 4]), numbers([0, 0, 3, 3], np.int32), strict=True)
    found = run_local(LOOP, list(map(list, inputs)))
    assert [(int(count), float(value)) for count, value in found] == [
        *[(0, 1.0), (0, 2.0)],
        *[(3, 28.0), (3, 28.0)],
    ]


def test_members_of_a_group_must_loop_equally_often(run_local):
    inputs = zip(numbers([1, 2, 3, 4]), numbers([1, 2, 1, 1], np.int32), strict=True)
    message = r"p.mlir:3:8: .*not all devices reach.*device 1 .*device 0 does not"
    with pytest.raises(SdyError, match=message):
        run_local(LOOP, list(map(list, inputs)))


BRANCHES = (
    TOTAL
    + """
func.func @main(%x: tensor<f32>, %which: tensor<i32>) -> tensor<f32> {
  %r = "stablehlo.case"(%which) ({
    %0 = func.call @total(%x) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }, {
    %0 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %r : tensor<f32>
}
"""
)


@pytest.mark.parametrize(
    ("which", "wanted"),
    [
        ([0, 0, 0, 0], [3, 3, 7, 7]),
        ([0, 0, 1, 1], [3, 3, -3, -4]),
        ([-1, 9, 1, 1], [-1, -2, -3, -4]),
    ],
)
def test_branches_with_a_collective(run_local, which, wanted):
    inputs = zip(numbers([1, 2, 3, 4]), numbers(which, np.int32), strict=True)
    assert [float(out[0]) for out in run_local(BRANCHES, list(map(list, inputs)))] == wanted


def test_if_with_a_collective(run_local):
    text = (
        BRANCHES.replace("stablehlo.case", "stablehlo.if")
        .replace("%which: tensor<i32>", "%which: tensor<i1>")
        .replace(
            "(tensor<i32>) -> tensor<f32>\n  return %r", "(tensor<i1>) -> tensor<f32>\n  return %r"
        )
    )
    inputs = zip(numbers([1, 2, 3, 4]), numbers([1, 1, 0, 0], np.bool_), strict=True)
    assert [float(out[0]) for out in run_local(text, list(map(list, inputs)))] == [3, 3, -3, -4]


def test_members_of_a_group_must_take_one_branch(run_local):
    inputs = zip(numbers([1, 2, 3, 4]), numbers([0, 1, 0, 0], np.int32), strict=True)
    with pytest.raises(SdyError, match="not all devices reach"):
        run_local(BRANCHES, list(map(list, inputs)))


def test_device_ids_at_any_depth(run_local):
    text = """
func.func @main(%x: tensor<ui32>) -> (tensor<ui32>, tensor<ui32>, tensor<ui32>) {
  %0 = stablehlo.partition_id : tensor<ui32>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %1 = "stablehlo.if"(%yes) ({
    %r = stablehlo.replica_id : tensor<ui32>
    %s = stablehlo.add %r, %x : tensor<ui32>
    stablehlo.return %s : tensor<ui32>
  }, {
    stablehlo.return %x : tensor<ui32>
  }) : (tensor<i1>) -> tensor<ui32>
  %2 = func.call @inner() : () -> tensor<ui32>
  return %0, %1, %2 : tensor<ui32>, tensor<ui32>, tensor<ui32>
}
func.func private @inner() -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.add %0, %0 : tensor<ui32>
  return %1 : tensor<ui32>
}
"""
    found = run_local(text, [[np.uint32(10)]] * 6, Layout(2, 3))
    assert [tuple(map(int, row)) for row in found] == [
        (partition, 10 + replica, 2 * partition) for replica in range(2) for partition in range(3)
    ]


def test_calls_without_collectives_stay_whole(run_local):
    text = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @outer(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @outer(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @twice(%x) : (tensor<f32>) -> tensor<f32>
  %1 = func.call @twice(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
"""
    assert [float(out[0]) for out in run_local(text, [[x] for x in numbers([1, 2])])] == [4, 8]


def test_arguments_constants_and_repeated_results(run_local):
    text = """
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %c = stablehlo.constant dense<5.0> : tensor<f32>
  return %x, %c, %x : tensor<f32>, tensor<f32>, tensor<f32>
}
"""
    assert run_local(text, [[x] for x in numbers([1, 2])]) == [[1, 5, 1], [2, 5, 2]]


def test_chlo_is_lowered(run_local):
    text = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = chlo.sinh %x : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}
"""
    assert run_local(text, [[np.float32(1)]])[0][0] == pytest.approx(np.sinh(1))


def test_a_collective_in_a_reduction_is_refused(run_local):
    body = TOTAL.split("{\n", 1)[1].rsplit("return", 1)[0]
    text = f"""
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %m = "stablehlo.map"(%x) ({{ ^bb0(%x1: tensor<f32>):
{body.replace("(%x)", "(%x1)")}
    stablehlo.return %0 : tensor<f32>
  }}) {{dimensions = array<i64: 0>}} : (tensor<4xf32>) -> tensor<4xf32>
  return %m : tensor<4xf32>
}}"""
    with pytest.raises(SdyError, match=r"is not supported inside 'stablehlo\.map'"):
        run_local(text, [[np.zeros(4, np.float32)]] * 4)


class CountingEngine(InterpreterEngine):
    """Counts the runs that it is asked for."""

    def __init__(self):
        super().__init__()
        self.batches: list[int] = []

    def evaluate(self, program, batch):
        self.batches.append(len(batch))
        return super().evaluate(program, batch)


def test_work_is_shared(context):
    text = (
        TOTAL
        + """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  %1 = func.call @total(%0) : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.add %1, %1 : tensor<f32>
  return %2 : tensor<f32>
}
"""
    )
    engine = CountingEngine()
    try:
        program = LockstepProgram(parse(text, context), engine, Layout(1, 4))
        found = program.run([[x] for x in numbers([1, 2, 3, 4])])
        assert [float(out[0]) for out in found] == [12, 12, 28, 28]
        # All four devices before the all-reduce; after it, those of a group hold the same array.
        assert engine.batches == [4, 2]
        # Both pieces have the same text, and so are one program.
        assert len(engine.compiled) == 1
    finally:
        engine.close()
