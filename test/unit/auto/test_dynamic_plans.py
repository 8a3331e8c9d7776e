# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding of programs with dynamic sizes, at their hints."""

import re

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError

PROGRAM = """
module attributes {sdy.symbols = {b = {min = 8, multiple_of = 8, hint = 64}}} {
  sdy.mesh @mesh = <["x"=8]>
  func.func @main(%x: tensor<?x32xf32> {sdy.sizes = ["b", ""]}, %w: tensor<32x8xf32>
      {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<?x8xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<?x32xf32>, tensor<32x8xf32>) -> tensor<?x8xf32>
    %1 = stablehlo.tanh %0 : tensor<?x8xf32>
    return %1 : tensor<?x8xf32>
  }
}"""


def test_plan_of_a_dynamic_program():
    plan = sdy.auto_shard(sdy.parse(PROGRAM), hints={"b": 4096})
    assert plan.notes[0].startswith("the bounds are for b = 4096: 'plan.check_sizes' compares")
    assert plan.program.inputs[0].spec.shape == (4096, 32)
    assert "sdy.number" not in str(plan.program.module)
    assert "sdy.number" not in str(plan.module)
    sdy.propagate(plan.module)
    program = sdy.partition(plan.module)
    assert program.hints == {"b": 4096}
    assert [(port.kind, port.axes) for port in program.at(b=4096).collectives] == [
        (each.kind, each.axes) for each in plan.program.collectives
    ]
    x = np.random.default_rng(0).standard_normal((16, 32)).astype("float32")
    w = np.ones((32, 8), "float32")
    np.testing.assert_allclose(program.run([x, w])[0], np.tanh(x @ w), rtol=1e-4, atol=1e-5)


def test_check_sizes():
    large = re.sub("32x|8x", "4096x", PROGRAM)
    plan = sdy.auto_shard(sdy.parse(large), hints={"b": 65536})
    checked = plan.check_sizes({"b": [8, 65536]})
    assert [each.values["b"] for each in checked.columns] == [8, 65536]
    small, large = checked.columns
    assert small.loss > 0.1
    assert large.loss == pytest.approx(0, abs=0.01)
    assert checked.advice[0].endswith("% less time: sdy.auto_shard(module, hints={'b': 8})")
    with pytest.raises(UsageError, match="b = 12 is no multiple of 8; use b = 8 or 16"):
        plan.check_sizes({"b": [12]})
    static = "module { sdy.mesh @m = <['x'=2]> func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>"
    static = sdy.parse(static.replace("'", '"') + " { return %x : tensor<4xf32> } }")
    with pytest.raises(UsageError, match="no dynamic sizes, so it takes no 'sizes'"):
        sdy.auto_shard(static).check_sizes({"b": [8]})
    with pytest.raises(UsageError, match="no dynamic sizes, so it takes no 'hints'"):
        sdy.auto_shard(static, hints={"b": 8})
