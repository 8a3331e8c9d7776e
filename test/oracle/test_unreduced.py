# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explicit reshards around unreduced values, against C++ Shardy."""

import itertools
import random

import pytest
from shardy import ShardyAborted, ShardyRefused

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from pyshardy.pipeline import run_pipeline

MESH = 'sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>\n'
T = "tensor<16x16xf32>"

SHARDINGS = (
    "[{}, {}]",
    '[{"a"}, {}]',
    '[{"a", "b"}, {}]',
    '[{"c"}, {"a"}]',
    '[{}, {}], unreduced={"a"}',
    '[{"b"}, {}], unreduced={"a"}',
    '[{"b"}, {"c"}], unreduced={"a"}',
    '[{"b"}, {}], unreduced={"a", "c"}',
    '[{"c":(1)2}, {}], unreduced={"c":(2)2}',
    '[{}, {}], unreduced=max{"a"}',
)


def argument(name, sharding):
    return f"%{name}: {T} {{sdy.sharding = #sdy.sharding<@m, {sharding}>}}"


def per_value(*shardings):
    listed = ", ".join(f"<@m, {sharding}>" for sharding in shardings)
    return f"{{sdy.sharding = #sdy.sharding_per_value<[{listed}]>}}"


def reshard(given, wanted, result):
    return f"""{MESH}
    func.func @main({argument("x", given)})
        -> ({T} {{sdy.sharding = #sdy.sharding<@m, {result}>}}) {{
      %0 = sdy.reshard %x <@m, {wanted}> : {T}
      return %0 : {T}
    }}"""


def add(left, right, result):
    return f"""{MESH}
    func.func @main({argument("x", left)}, {argument("y", right)})
        -> ({T} {{sdy.sharding = #sdy.sharding<@m, {result}>}}) {{
      %0 = stablehlo.add %x, %y {per_value(result)} : {T}
      %1 = stablehlo.negate %0 {per_value(left)} : {T}
      return %1 : {T}
    }}"""


def dot(left, right, result):
    return f"""{MESH}
    func.func @main({argument("x", left)}, {argument("y", right)}) -> {T} {{
      %0 = stablehlo.dot %x, %y {per_value(result)} : ({T}, {T}) -> {T}
      return %0 : {T}
    }}"""


def barrier(left, right, result):
    return f"""{MESH}
    func.func @main({argument("x", left)}, {argument("y", right)}) -> {T} {{
      %0:2 = stablehlo.optimization_barrier {per_value(result, right)} %x, %y : {T}, {T}
      return %0#0 : {T}
    }}"""


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("write", [reshard, add, dot, barrier], ids=lambda write: write.__name__)
def test_unreduced(shardy, context, write, full):
    option = str(full).lower()
    pipeline = f"func.func(sdy-insert-explicit-reshards{{enable-full-version={option}}})"
    cases = list(itertools.product(SHARDINGS, repeat=3))
    random.Random(write.__name__).shuffle(cases)
    num_compared = 0
    for case in cases[:120]:
        text = write(*case)
        try:
            module = parse(text, context)
        except SdyError:
            continue
        try:
            expected = shardy.run(asm(module), f"builtin.module({pipeline})")
        except (ShardyAborted, ShardyRefused):
            continue
        run_pipeline(module, pipeline)
        assert asm(module) == asm(parse(expected, context)), text
        num_compared += 1
    assert num_compared > 20
