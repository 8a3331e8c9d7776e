# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How wide both sides of a reshape are made so that shards hold the same data."""

import math
import random

import numpy as np
import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.model import AxisRef, Mesh, MeshAxis
from pyshardy.partition.halo.reshape import wide_shapes
from pyshardy.partition.types.reshapes import Side, images, pads_alike, shapes_between
from pyshardy.program import partition

MESH = Mesh((MeshAxis("x", 4), MeshAxis("y", 2)))


def axes(*dims: str):
    return tuple(tuple(map(AxisRef, names)) for names in dims)


@pytest.mark.parametrize(
    ("source_shape", "target_shape", "source", "target", "wide"),
    [
        ((20,), (10, 2), ("x",), ("x", ""), ((24,), (12, 2))),  # the worked example
        ((10, 2), (20,), ("x", ""), ("x",), ((12, 2), (24,))),
        ((3, 20), (3, 10, 2), ("y", "x"), ("y", "x", ""), ((3, 24), (3, 12, 2))),
        ((20,), (10, 2), ("x",), ("", "x"), None),  # by columns
        ((20,), (10, 2), ("x",), ("y", ""), None),
        ((20,), (10, 2), ("xy",), ("x", "y"), None),
        ((4, 15), (6, 10), ("x", ""), ("x", ""), None),  # neither split nor merged
        ((4, 15), (6, 10), ("x", "y"), ("x", "y"), None),
        ((20, 1), (10, 2), ("x", ""), ("x", ""), ((24, 1), (12, 2))),
    ],
)
def test_wide_shapes(source_shape, target_shape, source, target, wide):
    sides = Side(source_shape, axes(*source)), Side(target_shape, axes(*target))
    found = wide_shapes(*sides, MESH)
    assert found == wide


@pytest.mark.parametrize(
    ("source", "wide_source", "target", "wide_target", "are"),
    [
        ((6,), (8,), (3, 2), (4, 2), True),  # the worked example
        ((10,), (12,), (5, 2), (8, 2), False),
        ((5, 32), (8, 32), (10, 16), (16, 16), True),  # 160 of 256 elements on both sides
        ((2, 3), (2, 4), (6,), (8,), False),  # holes on one side
        ((1, 6), (1, 8), (3, 1, 2), (4, 1, 2), True),
        ((1, 6), (2, 6), (6,), (12,), False),
        ((6, 5), (8, 5), (6, 5), (8, 5), True),
        ((6, 5), (8, 5), (6, 5), (6, 5), False),
    ],
)
def test_pads_alike(source, wide_source, target, wide_target, are):
    assert pads_alike(source, wide_source, target, wide_target) is are
    if are:
        values = np.full(math.prod(wide_source), -1).reshape(wide_source)
        values[tuple(map(slice, source))] = np.arange(math.prod(source)).reshape(source)
        found = values.reshape(wide_target)[tuple(map(slice, target))]
        assert (found.ravel() == np.arange(math.prod(source))).all()


@pytest.mark.parametrize(
    ("shape", "held", "other", "found"),
    [
        ((8, 6), ("x", "y"), (4, 2, 2, 3), [("x", "", "y", "")]),  # the worked example
        ((16,), ("x",), (2, 8), [(AxisRef.sub("x", 1, 2), AxisRef.sub("x", 2, 2)), ("x", "")]),
        ((12,), ("x",), (6, 2), [(AxisRef.sub("x", 1, 2), ""), ("x", "")]),  # a part, or uneven
        ((5,), ("x",), (5, 1), [("x", "")]),
        ((3, 8), ("", "x"), (24,), [("",)]),  # strided
    ],
)
def test_images(shape, held, other, found):
    group = range(len(shape)), range(len(other))
    expected = [
        tuple((each,) if isinstance(each, AxisRef) else axes(each)[0] for each in image)
        for image in found
    ]
    assert images(axes(*held), shape, group, other, MESH) == expected


def test_shapes_between():
    """The dimensions of both sides, and those that axes cut."""
    sides = axes("x"), (16,), axes("", "x"), (4, 4)
    assert list(shapes_between(*sides, MESH)) == [(4, 4)]
    sides = axes("x"), (16,), axes("", "y"), (4, 4)
    assert list(shapes_between(*sides, MESH)) == [(4, 4), (4, 2, 2)]
    sides = axes("x", ""), (8, 3), axes("", ""), (2, 12)
    assert list(shapes_between(*sides, MESH)) == [(2, 4, 3), (2, 2, 2, 3)]
    # Rows of 15 and rows of 10 have no common parts: only one side may be sharded.
    sides = axes("x", ""), (8, 15), axes("", ""), (12, 10)
    assert list(shapes_between(*sides, MESH)) == [(8, 15)]
    sides = axes("x", ""), (8, 15), axes("x", ""), (12, 10)
    assert not list(shapes_between(*sides, MESH))


MESHES = {
    '<["x"=4]>': ('{"x"}',),
    '<["x"=8]>': ('{"x"}', '{"x":(1)2}', '{"x":(2)4}'),
    '<["x"=2, "y"=3], device_ids=[4, 2, 0, 5, 1, 3]>': ('{"y"}', '{"y", "x"}'),
}


def random_reshape(rng: random.Random) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """A program that splits or merges a sharded dimension, the shapes before and afterwards."""
    mesh = rng.choice([*MESHES])
    axes = rng.choice(MESHES[mesh])
    batch = rng.choice([(), (2,)])
    several = (rng.randint(5, 15), *rng.choices((1, 2, 3), k=rng.randint(1, 2)))
    shapes = [(*batch, math.prod(several)), (*batch, *several)]
    rng.shuffle(shapes)
    tensors = ["x".join(map(str, (*shape, "f32"))) for shape in shapes]
    per_value = [
        "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, ["
        + ", ".join(axes if dim == len(batch) else "{}" for dim in range(len(shape)))
        + "]>]>}"
        for shape in shapes
    ]
    text = f"""
    sdy.mesh @mesh = {mesh}
    func.func @main(%a: tensor<{tensors[0]}>) -> tensor<{tensors[1]}> {{
      %0 = stablehlo.cosine %a {per_value[0]} : tensor<{tensors[0]}>
      %1 = stablehlo.reshape %0 {per_value[1]} : (tensor<{tensors[0]}>) -> tensor<{tensors[1]}>
      %2 = stablehlo.cosine %1 {per_value[1]} : tensor<{tensors[1]}>
      return %2 : tensor<{tensors[1]}>
    }}"""
    return text, *shapes


def test_random_reshapes(context):
    rng = random.Random("reshapes")
    num_exchanging = 0
    for _ in range(40):
        text, before, after = random_reshape(rng)
        program = partition(parse(text, context))
        kinds = {collective.kind for collective in program.collectives}
        num_exchanging += "collective_permute" in kinds
        value = np.linspace(-2, 2, math.prod(before), dtype=np.float32).reshape(before)
        (result,) = program.run([value])
        expected = np.cos(np.cos(value)).reshape(after)
        assert np.abs(result - expected).max() < 1e-5, asm(program.module)
    assert num_exchanging
