# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results stay on the devices, and go in again from there."""

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError
from pyshardy.api import propagate
from pyshardy.backends import CompileOptions
from pyshardy.backends.xla.program import DeviceColumn, XlaProcess
from pyshardy.program import partition

TEXT = """
sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(
    %a: tensor<4x6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}, %s: tensor<f32>)
    -> (tensor<4x6xf32> {{sdy.sharding = #sdy.sharding<@mesh, {out}>}}) {{
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  %0 = stablehlo.add %a, %b : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}}"""
SAME, OTHER = '[{"x"}, {}]', '[{}, {"x"}]'

BACKENDS = [("xla", None), ("jit", CompileOptions(optimization=0)), ("interpreter", None)]


@pytest.fixture
def step(context):
    def make(out):
        module = parse(TEXT.format(out=out), context)
        propagate(module)
        return partition(module)

    return make


@pytest.mark.parametrize(("backend", "options"), BACKENDS)
@pytest.mark.parametrize("out", [SAME, OTHER])
def test_steps(step, backend, options, out):
    program = step(out)
    start = np.arange(24, dtype=np.float32).reshape(4, 6)
    state = start
    for _ in range(3):
        (state,) = program.run_sharded([state, np.float32(2)], backend, options)
        assert [part.shape for part in state.parts] == [program.outputs[0].local_spec.shape] * 6
    np.testing.assert_array_equal(state.gather(), start + 6)
    assert np.sum(state) == start.sum() + 6 * 24  # NumPy takes it as it is
    assert state.shape == (4, 6)


@pytest.mark.parametrize("out", [SAME, OTHER])
def test_what_fits_is_not_fetched(step, monkeypatch, out):
    program = step(out)
    asked = []
    answer = XlaProcess.answer
    monkeypatch.setattr(
        XlaProcess,
        "answer",
        lambda process, request, *more: (
            asked.append(request["do"]) or answer(process, request, *more)
        ),
    )
    state = np.zeros((4, 6), np.float32)
    for _ in range(3):
        (state,) = program.run_sharded([state, np.float32(1)], "xla")
    fetches = 0 if out == SAME else 2
    assert (asked.count("run"), asked.count("fetch")) == (3, fetches)


def test_what_nobody_needs_is_dropped(step):
    program = step(SAME)
    state = np.zeros((4, 6), np.float32)
    names = []
    for _ in range(3):
        (state,) = program.run_sharded([state, np.float32(1)], "xla")
        names.append(state.parts.name)
    process = state.parts.process
    program.run_sharded([state, np.float32(1)], "xla")  # says what is dropped
    gone = DeviceColumn(process, names[0], np.dtype("f4"), 6)
    with pytest.raises(Exception, match=f"XLA failed: {names[0]}"):
        gone[0]
    assert (state.gather() == 3).all()


def test_another_backend_gets_the_numbers(step):
    program = step(SAME)
    (state,) = program.run_sharded([np.ones((4, 6), np.float32), np.float32(1)], "xla")
    (found,) = program.run([state, np.float32(1)], "interpreter")
    assert (found == 3).all()


def test_a_wrong_number_of_arrays(step):
    with pytest.raises(UsageError, match="the program takes 2 arrays, but got 1"):
        step(SAME).run_sharded([np.ones((4, 6), np.float32)])
