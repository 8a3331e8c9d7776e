# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a local program communicates: axes, bytes, reductions, and how often."""

import itertools
import random

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.model import AxisRef, Mesh, MeshAxis, ordered_refs, replica_groups, sort_and_merge
from pyshardy.local_program.communication import (
    Collective,
    axes_of_groups,
    axes_of_moves,
    collectives_of,
)

SUM = """({ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32> })"""
GROUPS = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids"
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
MESH = Mesh.of({"x": 2, "y": 2})


def mesh(*sizes: int, device_ids: tuple[int, ...] = ()) -> Mesh:
    return Mesh(tuple(map(MeshAxis, "xyz", sizes)), device_ids)


# --- Axes ---------------------------------------------------------------------------------------


def test_axes_of_the_groups_of_the_docstring():
    groups = ((0, 2), (1, 3), (4, 6), (5, 7))
    assert axes_of_groups(groups, mesh(2, 4)) == (AxisRef.sub("y", 1, 2),)


@pytest.mark.parametrize("sizes", [(2, 4), (4, 6), (3,), (12, 2), (2, 6, 3), (8, 4, 2)])
def test_axes_come_back_from_their_groups(sizes):
    rng = random.Random(0)
    shuffled = list(range(len(list(itertools.product(*map(range, sizes))))))
    rng.shuffle(shuffled)
    for devices in (mesh(*sizes), mesh(*sizes, device_ids=tuple(shuffled))):
        for _ in range(30):
            atoms = [
                part
                for axis in devices.axes
                for part in ordered_refs(
                    devices,
                    [AxisRef.sub(axis.name, 1, rng.choice(divisors(axis.size)))]
                    if divisors(axis.size)
                    else [],
                )
                if part.name == axis.name
            ]
            axes = rng.sample(atoms, rng.randint(1, len(atoms)))
            found = axes_of_groups(replica_groups(devices, axes), devices)
            assert found == sort_and_merge(axes, devices)


def divisors(size: int) -> list[int]:
    return [part for part in range(2, size) if size % part == 0]


def test_groups_along_no_axes():
    assert axes_of_groups(((0, 3), (1, 2)), mesh(2, 2)) is None
    assert axes_of_groups(((0, 1, 2), (3,)), mesh(2, 2)) is None
    assert axes_of_groups(((0, 1, 3), (2, 4, 5)), mesh(6)) is None


@pytest.mark.parametrize(
    ("moves", "axes"),
    [
        ([(0, 1), (2, 3)], '"y":(4)2'),  # within pairs
        ([(0, 4), (4, 0)], '"y":(1)2'),  # between halves
        ([(0, 2), (2, 4)], '"y":(1)4'),  # over the middle, odd ones stay odd
        ([(3, 4)], '"y"'),
        ([(0, 8)], '"x"'),
        ([], ""),
    ],
)
def test_axes_of_moves(moves, axes):
    assert ", ".join(map(str, axes_of_moves(moves, mesh(2, 8)))) == axes


def test_many_devices_are_no_trouble():
    """Without a search of all sets of axes, which would not end."""
    many = Mesh(tuple(MeshAxis(f"a{index}", 2) for index in range(12)), ())
    axes = [AxisRef(f"a{index}") for index in (1, 4, 5, 9)]
    groups = replica_groups(many, axes)
    assert axes_of_groups(groups, many) == tuple(axes)


# --- Bytes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "group", "sent"),
    [
        ("all_gather", 4, 300),
        ("all_reduce", 4, 150),
        ("all_reduce", 3, 134),  # 133 1/3
        ("all_reduce", 1, 0),
        ("reduce_scatter", 4, 75),
        ("all_to_all", 4, 75),
        ("collective_permute", 2, 100),
        ("collective_permute", 0, 0),
        ("collective_broadcast", 4, 100),
    ],
)
def test_bytes_sent(kind, group, sent):
    assert Collective(kind, 100, group, None, None).nbytes_sent == sent


# --- Programs -----------------------------------------------------------------------------------


def read(text: str, context) -> list[Collective]:
    return list(collectives_of(parse(text, context, "p.mlir"), MESH))


@pytest.mark.parametrize(
    ("body", "reduction"),
    [("add", "sum"), ("maximum", "max"), ("minimum", "min"), ("multiply", "product")],
)
def test_what_a_collective_reduces_by(context, body, reduction):
    (found,) = read(
        f"""
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {{
  %0 = "stablehlo.all_reduce"(%a) {SUM.replace("add", body)} {{{GROUPS}, {CHANNEL}}}
      : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}}""",
        context,
    )
    assert (found.kind, found.reduction, found.axes) == ("all_reduce", reduction, ("y",))
    assert (found.nbytes, found.nbytes_sent, found.group_size) == (32, 32, 2)
    assert found.repetitions == 1
    assert str(found.location) == "p.mlir:3:8"


LOOP = f"""
func.func private @inner(%a: tensor<8xf32>) -> tensor<8xf32> {{
  %0 = "stablehlo.all_reduce"(%a) {SUM} {{{GROUPS}, {CHANNEL}}} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}}
func.func @main(%a: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {{
  %first = func.call @inner(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %start = stablehlo.constant dense<2> : tensor<i32>
  %step = stablehlo.constant dense<3> : tensor<i32>
  %end = stablehlo.constant dense<9> : tensor<i32>
  %r:2 = stablehlo.while(%i = %start, %p = %first) : tensor<i32>, tensor<8xf32> cond {{
    %more = stablehlo.compare DIRECTION, %i, BOUND : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %next = stablehlo.add %i, %step : tensor<i32>
    %q = func.call @inner(%p) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %next, %q : tensor<i32>, tensor<8xf32>
  }}
  return %r#1 : tensor<8xf32>
}}"""


@pytest.mark.parametrize(
    ("direction", "bound", "repetitions"),
    [
        ("LT", "%end", 1 + 3),  # 2, 5, 8
        ("LT", "%start", 1 + 0),
        ("LE", "%start", 1 + 1),
        ("NE", "%end", None),
        ("LT", "%n", None),
    ],
)
def test_how_often_a_collective_is_carried_out(context, direction, bound, repetitions):
    text = LOOP.replace("DIRECTION", direction).replace("BOUND", bound)
    (found,) = read(text, context)
    assert found.repetitions == repetitions


def test_what_is_never_called_communicates_nothing(context):
    text = LOOP.replace("func.call @inner(%a)", "func.call @other(%a)")
    text = text.replace("DIRECTION", "LT").replace("BOUND", "%start")
    other = """
func.func private @other(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}"""
    (found,) = read(other + text, context)
    assert found.repetitions == 0
