# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each collective, run as a program, against a definition element by element.

The definitions here are for processes (replica, partition) as StableHLO's specification has them,
and share nothing with the implementation.
"""

import itertools

import numpy as np
import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.process_groups import Layout, process_groups

ONE_BY_N = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
GLOBAL_IDS = f"{ONE_BY_N}, use_global_device_ids"

LAYOUTS = [
    (4, [[0, 1, 2, 3]]),
    (4, [[2, 0], [1, 3]]),
    (8, [[0, 4], [1, 5], [2, 6], [3, 7]]),
    (8, [[3, 1, 0, 2], [7, 5, 6, 4]]),
    (6, [[5, 0, 3], [1, 4, 2]]),
    (3, [[0], [1], [2]]),
]

SUM = """({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %s = stablehlo.add %p, %q : tensor<f32>
  stablehlo.return %s : tensor<f32> })"""


def operands(count: int, shape: tuple[int, ...]) -> list[np.ndarray]:
    size = int(np.prod(shape))
    return [
        (np.arange(size, dtype=np.float32) + 100 * device).reshape(shape) for device in range(count)
    ]


def program(operation: str, attributes: str, shape: str, result: str, body: str = "") -> str:
    return (
        f"func.func @main(%x: tensor<{shape}xf32>) -> tensor<{result}xf32> {{\n"
        f'  %0 = "stablehlo.{operation}"(%x) {body} {{{attributes}}} : '
        f"(tensor<{shape}xf32>) -> tensor<{result}xf32>\n"
        f"  return %0 : tensor<{result}xf32>\n}}"
    )


def dense(groups: list[list[int]]) -> str:
    return f"replica_groups = dense<{groups}> : tensor<{len(groups)}x{len(groups[0])}xi64>"


def layouts_of(count: int, with_global_ids: bool):
    """The two ways to lay out `count` processes, and the attributes for ids of processes."""
    return [
        (Layout(1, count), f", {GLOBAL_IDS if with_global_ids else ONE_BY_N}"),
        (Layout(count, 1), ""),
    ]


def group_of(groups: list[list[int]], device: int) -> list[int]:
    return next(group for group in groups if device in group)


@pytest.mark.parametrize(("count", "groups"), LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1])
def test_all_gather(run_local, count, groups, dim):
    inputs = operands(count, (2, 3))
    shape = [2, 3]
    shape[dim] *= len(groups[0])
    result = "x".join(map(str, shape))
    for layout, channel in layouts_of(count, True):
        attributes = f"all_gather_dim = {dim} : i64, {dense(groups)}{channel}"
        text = program("all_gather", attributes, "2x3", result)
        outputs = run_local(text, [[x] for x in inputs], layout)
        for device in range(count):
            group = group_of(groups, device)
            for index in np.ndindex(*shape):
                part, inner = divmod(index[dim], (2, 3)[dim])
                where = [*index]
                where[dim] = inner
                assert outputs[device][0][index] == inputs[group[part]][tuple(where)]


@pytest.mark.parametrize(("count", "groups"), LAYOUTS)
def test_all_reduce(run_local, count, groups):
    inputs = operands(count, (2, 3))
    for layout, channel in layouts_of(count, True):
        text = program("all_reduce", dense(groups) + channel, "2x3", "2x3", SUM)
        outputs = run_local(text, [[x] for x in inputs], layout)
        for device, index in itertools.product(range(count), np.ndindex(2, 3)):
            total = sum(float(inputs[member][index]) for member in group_of(groups, device))
            assert outputs[device][0][index] == total


@pytest.mark.parametrize(("count", "groups"), LAYOUTS)
def test_reduce_scatter(run_local, count, groups):
    size = len(groups[0])
    inputs = operands(count, (2, 2 * size))
    for layout, channel in layouts_of(count, True):
        attributes = f"scatter_dimension = 1 : i64, {dense(groups)}{channel}"
        text = program("reduce_scatter", attributes, f"2x{2 * size}", "2x2", SUM)
        outputs = run_local(text, [[x] for x in inputs], layout)
        for device, (row, column) in itertools.product(range(count), np.ndindex(2, 2)):
            group = group_of(groups, device)
            column_of_whole = 2 * group.index(device) + column
            total = sum(float(inputs[member][row, column_of_whole]) for member in group)
            assert outputs[device][0][row, column] == total


@pytest.mark.parametrize(("count", "groups"), LAYOUTS)
@pytest.mark.parametrize(("split", "concat"), [(0, 1), (1, 0), (0, 0)])
def test_all_to_all(run_local, count, groups, split, concat):
    size = len(groups[0])
    shape = [2, 3]
    shape[split] *= size
    result = [*shape]
    result[split] //= size
    result[concat] *= size
    inputs = operands(count, tuple(shape))
    for layout, channel in layouts_of(count, False):
        attributes = (
            f"split_dimension = {split} : i64, concat_dimension = {concat} : i64, "
            f"split_count = {size} : i64, {dense(groups)}{channel}"
        )
        texts = ["x".join(map(str, sizes)) for sizes in (shape, result)]
        outputs = run_local(
            program("all_to_all", attributes, *texts), [[x] for x in inputs], layout
        )
        piece = [*shape]
        piece[split] //= size
        for device in range(count):
            group = group_of(groups, device)
            for index in np.ndindex(*result):
                sender, inner = divmod(index[concat], piece[concat])
                where = [*index]
                where[concat] = inner
                where[split] += piece[split] * group.index(device)
                assert outputs[device][0][index] == inputs[group[sender]][tuple(where)]


@pytest.mark.parametrize(("count", "groups"), LAYOUTS)
def test_collective_broadcast(run_local, count, groups):
    inputs = operands(count, (3,))
    for layout, channel in layouts_of(count, False):
        text = program("collective_broadcast", dense(groups) + channel, "3", "3")
        outputs = run_local(text, [[x] for x in inputs], layout)
        for device in range(count):
            assert (outputs[device][0] == inputs[group_of(groups, device)[0]]).all()


@pytest.mark.parametrize(
    ("count", "pairs"),
    [(4, [[0, 1], [1, 2], [2, 3], [3, 0]]), (4, [[0, 3], [2, 2]]), (8, [[7, 0], [3, 5]])],
)
def test_collective_permute(run_local, count, pairs):
    inputs = operands(count, (3,))
    sources = {target: source for source, target in pairs}
    pairs_text = f"source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>"
    for layout, channel in layouts_of(count, False):
        text = program("collective_permute", pairs_text + channel, "3", "3")
        outputs = run_local(text, [[x] for x in inputs], layout)
        for device in range(count):
            wanted = inputs[sources[device]] if device in sources else np.zeros(3)
            assert (outputs[device][0] == wanted).all()


# --- Processes in both dimensions -----------------------------------------------------------


def reduced_members(run_local, attributes: str, layout: Layout) -> list[set[int]]:
    """Which processes each process gets the sum of, by adding one bit for each."""
    inputs = [[np.array([2.0**process], np.float32)] for process in range(layout.size)]
    text = program("all_reduce", attributes, "1", "1", SUM)
    outputs = run_local(text, inputs, layout)
    return [
        {process for process in range(layout.size) if int(out[0][0]) >> process & 1}
        for out in outputs
    ]


def test_groups_of_replicas_are_per_partition(run_local):
    members = reduced_members(run_local, dense([[0, 1]]), Layout(2, 3))
    assert members == [{0, 3}, {1, 4}, {2, 5}, {0, 3}, {1, 4}, {2, 5}]


def test_groups_with_a_channel_join_all_partitions(run_local):
    members = reduced_members(run_local, f"{dense([[0], [1]])}, {ONE_BY_N}", Layout(2, 3))
    assert members == [{0, 1, 2}] * 3 + [{3, 4, 5}] * 3


def test_global_ids_are_processes(run_local):
    groups = dense([[0, 5], [1, 3], [2, 4]])
    members = reduced_members(run_local, f"{groups}, {GLOBAL_IDS}", Layout(2, 3))
    assert members == [{0, 5}, {1, 3}, {2, 4}, {1, 3}, {2, 4}, {0, 5}]


def test_groups_of_unlike_sizes(run_local):
    members = reduced_members(run_local, f"{dense([[0, 2], [1, -1]])}, {GLOBAL_IDS}", Layout(1, 3))
    assert members == [{0, 2}, {1}, {0, 2}]


@pytest.mark.parametrize(
    ("axes", "wanted"),
    [
        ('#stablehlo.axis_ref<name = "y">', [{0, 1, 2, 3}] * 4 + [{4, 5, 6, 7}] * 4),
        ('#stablehlo.axis_ref<name = "x">', [{0, 4}, {1, 5}, {2, 6}, {3, 7}] * 2),
        (
            '#stablehlo.axis_ref<name = "y", sub_axis_info = (2)2>',
            [{0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}, {6, 7}, {6, 7}],
        ),
    ],
)
def test_groups_along_axes(run_local, axes, wanted):
    mesh = (
        '#stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, '
        '#stablehlo.mesh_axis<name = "y", size = 4>]>'
    )
    groups = f"replica_groups = #stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [{axes}]>"
    assert reduced_members(run_local, f"{groups}, {GLOBAL_IDS}", Layout(1, 8)) == wanted


def test_groups_along_axes_of_a_declared_mesh(context):
    axes = '#stablehlo.axis_ref<name = "x">'
    groups = f"replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [{axes}]>"
    text = program("all_reduce", f"{groups}, {GLOBAL_IDS}", "1", "1", SUM)
    module = parse(f'sdy.mesh @mesh = <["x"=2, "y"=2]>\n{text}', context)
    (collective,) = operations_named({"stablehlo.all_reduce"}, module)
    assert process_groups(collective, Layout(1, 4)) == ((0, 2), (1, 3))


def test_a_device_that_there_is_not(run_local):
    text = program("all_reduce", f"{dense([[0, 1, 2]])}, {GLOBAL_IDS}", "1", "1", SUM)
    with pytest.raises(SdyError, match=r"p.mlir:2:8: .* is out of range of 2 devices"):
        run_local(text, [[np.zeros(1, np.float32)]] * 2)


# --- Bodies of reductions -------------------------------------------------------------------


def reduction(operations: str, element: str) -> str:
    return f"""func.func @main(%x: tensor<3x{element}>) -> tensor<3x{element}> {{
  %0 = "stablehlo.all_reduce"(%x) ({{ ^bb0(%p: tensor<{element}>, %q: tensor<{element}>):
    {operations}
    stablehlo.return %s : tensor<{element}>
  }}) {{{dense([[0, 1, 2]])}, {GLOBAL_IDS}}} : (tensor<3x{element}>) -> tensor<3x{element}>
  return %0 : tensor<3x{element}>
}}"""


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("add", [1 + 4 + 7, 2 + 5 + 8, 3 + 6 + 9]),
        ("multiply", [1 * 4 * 7, 2 * 5 * 8, 3 * 6 * 9]),
        ("maximum", [7, 8, 9]),
        ("minimum", [1, 2, 3]),
        ("and", [1 & 4 & 7, 2 & 5 & 8, 3 & 6 & 9]),
        ("or", [1 | 4 | 7, 2 | 5 | 8, 3 | 6 | 9]),
        ("xor", [1 ^ 4 ^ 7, 2 ^ 5 ^ 8, 3 ^ 6 ^ 9]),
    ],
)
def test_well_known_bodies(run_local, name, wanted):
    text = reduction(f"%s = stablehlo.{name} %q, %p : tensor<i32>", "i32")
    rows = [[np.array(row, np.int32)] for row in ([1, 2, 3], [4, 5, 6], [7, 8, 9])]
    assert [list(out[0]) for out in run_local(text, rows)] == [wanted] * 3


def test_any_other_body_is_evaluated(run_local):
    body = (
        "%d = stablehlo.multiply %p, %q : tensor<i32>\n"
        "%e = stablehlo.add %p, %q : tensor<i32>\n"
        "%s = stablehlo.add %d, %e : tensor<i32>"
    )
    rows = [[np.array(row, np.int32)] for row in ([1, 2, 3], [4, 5, 6], [7, 8, 9])]
    # p*q + p + q = (p + 1)*(q + 1) - 1
    wanted = [2 * 5 * 8 - 1, 3 * 6 * 9 - 1, 4 * 7 * 10 - 1]
    assert [list(out[0]) for out in run_local(reduction(body, "i32"), rows)] == [wanted] * 3


def test_arithmetic_on_the_same_argument_twice_is_no_sum(run_local):
    text = reduction("%s = stablehlo.add %q, %q : tensor<i32>", "i32")
    rows = [[np.array(row, np.int32)] for row in ([1, 2, 3], [4, 5, 6], [7, 8, 9])]
    assert [list(out[0]) for out in run_local(text, rows)] == [[14, 16, 18]] * 3


def test_sums_of_narrow_floats_are_rounded(run_local):
    text = reduction("%s = stablehlo.add %p, %q : tensor<bf16>", "bf16")
    rows = [[np.full(3, value, np.float32)] for value in (256, 1, 1)]
    # 257 has no bf16: each of the two sums rounds to the even neighbour.
    assert run_local(text, rows)[0][0].tolist() == [256.0] * 3
