# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`stablehlo-to-shard` and back: the same numbers, whatever the groups."""

import random

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from pyshardy.backends import spmd_program
from pyshardy.irtools.modules import copy_of
from pyshardy.local_program.process_groups import Layout
from pyshardy.pipeline import run_pipeline

DEVICES = 6
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>"


def program(groups, pairs):
    """One of each collective; of other devices than along axes if the groups say so."""
    count = len(groups[0])
    shape = f"tensor<{len(groups)}x{count}xi64>"
    literal = str([list(group) for group in groups])
    regular = f"replica_groups = dense<{literal}> : {shape}"

    def collective(number, name, attributes, result, body="", flattened=True):
        global_ids = ", use_global_device_ids" if flattened else ""
        return (
            f'  %{number} = "stablehlo.{name}"(%a) {body}'
            f"{{{attributes}, {CHANNEL.format(number + 1)}{global_ids}}} : ({piece}) -> {result}"
        )

    piece = f"tensor<{2 * count}x{3 * count}xf32>"
    body = (
        "({\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
        "    %s = stablehlo.maximum %x, %y : tensor<f32>\n"
        "    stablehlo.return %s : tensor<f32>\n  }) "
    )
    gathered = f"tensor<{2 * count}x{3 * count * count}xf32>"
    scattered = f"tensor<2x{3 * count}xf32>"
    moved = f"tensor<{2 * count * count}x3xf32>"
    exchange = "split_dimension = 1 : i64, concat_dimension = 0 : i64"
    permutation = f"source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>"
    lines = [
        collective(0, "all_gather", f"all_gather_dim = 1 : i64, {regular}", gathered),
        collective(1, "all_reduce", regular, piece, body),
        collective(2, "reduce_scatter", f"scatter_dimension = 0 : i64, {regular}", scattered, body),
        collective(
            3,
            "all_to_all",
            f"{exchange}, split_count = {count} : i64, {regular}",
            moved,
            flattened=False,
        ),
        collective(4, "collective_permute", permutation, piece, flattened=False),
        collective(5, "collective_broadcast", regular, piece, flattened=False),
    ]
    types = ", ".join([gathered, piece, scattered, moved, piece, piece])
    names = ", ".join(f"%{number}" for number in range(len(lines)))
    newline = "\n"
    text = f"func.func @main(%a: {piece}) -> ({types}) {{\n{newline.join(lines)}\n"
    return text + f"  return {names} : {types}\n}}\n", (2 * count, 3 * count)


CASES = {
    "along an axis": [[0, 3], [1, 4], [2, 5]],
    "along all": [[0, 1, 2, 3, 4, 5]],
    "alone": [[device] for device in range(DEVICES)],
    "in another order": [[3, 0], [4, 1], [5, 2]],
    "each in its own order": [[0, 1, 2], [5, 3, 4]],
    "along no axis": [[0, 4], [1, 3], [5, 2]],
    "along no axis, in pairs of three": [[4, 0, 2], [5, 1, 3]],
}


@pytest.mark.parametrize("name", CASES)
def test_numbers(name, context):
    rng = random.Random(name)
    receivers = rng.sample(range(DEVICES), 4)
    pairs = [list(pair) for pair in zip(rng.sample(range(DEVICES), 4), receivers, strict=True)]
    text, shape = program(CASES[name], pairs)
    module = parse(text, context)
    converted = copy_of(module)
    run_pipeline(converted, f"stablehlo-to-shard{{devices={DEVICES}}}")
    remaining = [line for line in str(converted).splitlines() if "channel_handle" in line]
    assert remaining == []
    run_pipeline(converted, "shard-to-stablehlo")
    numbers = np.random.default_rng(0)
    inputs = [[numbers.integers(-9, 9, shape).astype(np.float32)] for _ in range(DEVICES)]
    expected, found = (
        spmd_program("interpreter", each, Layout(1, DEVICES)).run(inputs)
        for each in (module, converted)
    )
    for ours, wanted in zip(found, expected, strict=True):
        for result, (one, other) in enumerate(zip(ours, wanted, strict=True)):
            np.testing.assert_array_equal(one, other, err_msg=str(result))
