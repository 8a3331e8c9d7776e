# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices that are the replicas of one program, in the reference interpreter's own threads."""

import re

import numpy as np

from mlir_sdy.assembly import asm, parse
from mlir_sdy.host import ir, stablehlo
from pyshardy.pipeline import run_pipeline

TEXT = """
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<4x4xi64> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>},
                %b: tensor<4x4xi64> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>})
    -> (tensor<4x4xi64> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>},
        tensor<4x4xi64> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>},
        tensor<4x4xi64> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>}
      : tensor<4x4xi64>
  return %0, %b, %a : tensor<4x4xi64>, tensor<4x4xi64>, tensor<4x4xi64>
}"""

PROGRAM = """
func.func @main(%a0: {0}, %b0: {0}, %a1: {0}, %b1: {0}) -> ({1}, {1}, {2}, {1}, {1}, {2}) {{
  %r:6 = "interpreter.run_parallel"(%a0, %b0, %a1, %b1) {{programs = [[@device], [@device]]}}
      : ({0}, {0}, {0}, {0}) -> ({1}, {1}, {2}, {1}, {1}, {2})
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : {1}, {1}, {2}, {1}, {1}, {2}
}}"""

RUNS = 100


def test_collectives_of_replicas_do_not_race(context):
    """One device may get to the next collective before another has left the first."""
    module = parse(TEXT, context)
    run_pipeline(module, "sdy-partition-pipeline{replica-count=2}")
    device = re.search(r"func\.func @main.*\n  \}", asm(module), re.DOTALL)[0]
    types = "tensor<2x4xi64>", "tensor<4x4xi64>", "tensor<4x2xi64>"
    text = device.replace("@main", "@device") + PROGRAM.format(*types)
    with context, ir.Location.unknown():
        stablehlo.register_interpreter_dialect(context)
        program = ir.Module.parse(text)
        a, b = np.arange(16).reshape(4, 4), np.arange(100, 116).reshape(4, 4)
        inputs = list(map(ir.DenseElementsAttr.get, (a[:2], b[:2], a[2:], b[2:])))
        for _ in range(RUNS):
            results = list(map(np.array, stablehlo.eval_module(program, inputs)))
            for found, wanted in zip(results, (-a, b, a[:, :2], -a, b, a[:, 2:]), strict=True):
                np.testing.assert_array_equal(found, wanted)
