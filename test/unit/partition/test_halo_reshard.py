# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How wide a tensor is made for a reshard whose pieces are not of one size."""

import random

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.assembly import asm, parse
from mlir_sdy.model import AxisRef, Mesh, MeshAxis, TensorSharding
from pyshardy.partition.halo.reshard import wide_shape
from pyshardy.program import partition

MESH = Mesh((MeshAxis("x", 2), MeshAxis("y", 2), MeshAxis("z", 3)))


def sharding(*dims: str) -> TensorSharding:
    return TensorSharding.from_axes("mesh", [tuple(map(AxisRef, axes)) for axes in dims])


@pytest.mark.parametrize(
    ("shape", "source", "target", "wide"),
    [
        ((10,), ("x",), ("xy",), (12,)),  # the worked example
        ((10,), ("xy",), ("x",), (12,)),
        ((12,), ("x",), ("xy",), (12,)),  # even
        ((7,), ("x",), ("xy",), (7,)),  # padded to 8 in both
        ((10,), ("",), ("xy",), (10,)),  # whole before
        ((10,), ("xy",), ("",), (10,)),  # whole afterwards
        ((10,), ("x",), ("yx",), (10,)),  # no part of one is divided
        ((10, 5), ("x", "y"), ("xy", ""), (12, 5)),
        ((10, 7), ("x", "yz"), ("x", "y"), (10, 12)),
        ((5, 10), ("x", "y"), ("x", "yz"), (5, 12)),
    ],
)
def test_wide_shape(shape, source, target, wide):
    assert wide_shape(shape, sharding(*source), sharding(*target), MESH) == wide


MESHES = {
    '<["x"=2, "y"=2]>': ('{"x"}', '{"x", "y"}', '{"y", "x"}', "{}"),
    '<["x"=8]>': ('{"x":(1)2}', '{"x":(1)4}', '{"x"}', '{"x":(4)2}'),
    '<["x"=3, "y"=2]>': ('{"x"}', '{"x", "y"}', '{"y"}', '{"y", "x"}'),
    '<["x"=2, "y"=3], device_ids=[4, 2, 0, 5, 1, 3]>': ('{"x"}', '{"x", "y"}', '{"y"}'),
}


def random_reshards(rng: random.Random) -> str:
    """A value that is resharded twice, with an operation between that holds it where it is."""
    mesh = rng.choice([*MESHES])
    dims = [f"<@mesh, [{{}}, {dim}]>" for dim in rng.choices(MESHES[mesh], k=3)]
    tensor = f"tensor<2x{rng.randint(4, 20)}xf32>"
    lines = [
        f"  %r{at} = sdy.reshard %s{at} {dim} : {tensor}\n"
        f"  %s{at + 1} = stablehlo.cosine %r{at} "
        f"{{sdy.sharding = #sdy.sharding_per_value<[{dim}]>}} : {tensor}\n"
        for at, dim in enumerate(dims)
    ]
    return (
        f"sdy.mesh @mesh = {mesh}\nfunc.func @main(%s0: {tensor}) -> {tensor} {{\n"
        f"{''.join(lines)}  return %s3 : {tensor}\n}}"
    )


def test_random_reshards(context):
    rng = random.Random("reshards")
    num_exchanging = 0
    for _ in range(40):
        module = parse(random_reshards(rng), context)
        program = partition(module)
        kinds = {collective.kind for collective in program.collectives}
        num_exchanging += "collective_permute" in kinds
        value = np.linspace(-2, 2, np.prod(program.inputs[0].spec.shape), dtype=np.float32)
        value = value.reshape(program.inputs[0].spec.shape)
        (result,) = program.run([value])
        expected = np.cos(np.cos(np.cos(value)))
        assert np.abs(result - expected).max() < 1e-5, asm(program.module)
    assert num_exchanging


def test_one_row_is_sent(context):
    """Halves of 5 rows each become parts of 3, 3, 3 and 1."""
    module = parse(
        """
        sdy.mesh @mesh = <["x"=2, "y"=2]>
        func.func @main(%a: tensor<10x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                        %b: tensor<4x4xf32>) -> tensor<10x4xf32> {
          %0 = sdy.reshard %a <@mesh, [{"x", "y"}, {}]> : tensor<10x4xf32>
          %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]
              : (tensor<10x4xf32>, tensor<4x4xf32>) -> tensor<10x4xf32>
          return %1 : tensor<10x4xf32>
        }""",
        context,
    )
    program = sdy.partition(module)
    first, *_ = program.collectives
    assert (first.kind, first.nbytes) == ("collective_permute", 16)
