# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives in lockstep against the interpreter's own parallel execution.

It runs as many processes at a time as there are processors, so groups of two need two.
"""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import pickle, sys
from mlir_sdy.host import ir, load_stablehlo, stablehlo
from pyshardy.local_program.values import array_of, attribute_of
text, inputs = pickle.load(sys.stdin.buffer)
context = ir.Context()
load_stablehlo(context)
stablehlo.register_interpreter_dialect(context)
with context, ir.Location.unknown():
    results = stablehlo.eval_module(ir.Module.parse(text), list(map(attribute_of, inputs)))
    pickle.dump(list(map(array_of, results)), sys.stdout.buffer)
"""

SUM = """({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %s = stablehlo.add %p, %q : tensor<f32>
  stablehlo.return %s : tensor<f32> })"""
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
GROUPS = "replica_groups = dense<[[1, 0], [3, 2]]> : tensor<2x2xi64>"

CASES = {
    "all_gather": ("", f"all_gather_dim = 0 : i64, {GROUPS}", "8x4", True),
    "all_reduce": (SUM, GROUPS, "4x4", True),
    "reduce_scatter": (SUM, f"scatter_dimension = 0 : i64, {GROUPS}", "2x4", True),
    "all_to_all": (
        "",
        f"split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, {GROUPS}",
        "2x8",
        False,
    ),
    "collective_broadcast": ("", GROUPS, "4x4", False),
    "collective_permute": (
        "",
        "source_target_pairs = dense<[[0, 1], [1, 0], [2, 3]]> : tensor<3x2xi64>",
        "4x4",
        False,
    ),
}


# macOS doesn't tell which processors a process may use.
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.mark.skipif(PROCESSORS < 2, reason="needs two processors")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("partitions", [True, False])
def test_agreement(run_local, name, partitions):
    from pyshardy.local_program.process_groups import Layout  # noqa: PLC0415

    body, attributes, result, has_global_ids = CASES[name]
    if partitions:
        attributes += f", {CHANNEL}" + (", use_global_device_ids" if has_global_ids else "")
    one, out = "tensor<4x4xf32>", f"tensor<{result}xf32>"
    function = (
        f"(%x: {one}) -> {out} {{\n"
        f'  %0 = "stablehlo.{name}"(%x) {body} {{{attributes}}} : ({one}) -> {out}\n'
        f"  return %0 : {out}\n}}"
    )
    devices = "[[@dev, @dev, @dev, @dev]]" if partitions else "[[@dev], [@dev], [@dev], [@dev]]"
    names = ", ".join(f"%{device}" for device in "abcd")
    types = ", ".join([out] * 4)
    parallel = (
        f"func.func private @dev{function}\n"
        f"func.func @main({', '.join(f'%{device}: {one}' for device in 'abcd')}) -> ({types}) {{\n"
        f'  %r:4 = "interpreter.run_parallel"({names}) {{programs = {devices}}} : '
        f"({', '.join([one] * 4)}) -> ({types})\n"
        f"  return %r#0, %r#1, %r#2, %r#3 : {types}\n}}"
    )
    random = np.random.default_rng(0)
    inputs = [random.standard_normal((4, 4)).astype(np.float32) for _ in range(4)]
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=pickle.dumps((parallel, inputs)),
        stdout=subprocess.PIPE,
        check=True,
    )
    layout = Layout(1, 4) if partitions else Layout(4, 1)
    found = run_local(f"func.func @main{function}", [[x] for x in inputs], layout)
    for wanted, (array,) in zip(pickle.loads(answer.stdout), found, strict=True):
        np.testing.assert_array_equal(array, wanted)
