# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partial results that are completed by reduce-scatters, and resharded: numbers, and bytes."""

import random

import numpy as np
import pytest
from programs import random_sharding

import pyshardy as sdy
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.program import run_unpartitioned

MESH = Mesh((MeshAxis("x", 4), MeshAxis("y", 2)))


def products(wanted):
    """Return a product for each sharding that is wanted, contracted along both axes."""
    lines = [
        f"%{at} = stablehlo.dot_general %a, %b, contracting_dims = [0, 1] x [0, 1]"
        " {sdy.factor_axes = #sdy<list_of_axis_ref_lists"
        '[{}, {}, {"x"}, {"y"}]>,'
        f" sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}"
        " : (tensor<8x4x8xf32>, tensor<8x4x16xf32>) -> tensor<8x16xf32>"
        for at, sharding in enumerate(wanted)
    ]
    given = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}'
    types = ", ".join("tensor<8x16xf32>" for _ in wanted)
    returned = ", ".join(
        f"tensor<8x16xf32> {{sdy.sharding = #sdy.sharding{sharding}}}" for sharding in wanted
    )
    results = ", ".join(f"%{at}" for at in range(len(wanted)))
    return sdy.parse(
        f'sdy.mesh @mesh = <["x"=4, "y"=2]>\n'
        f"func.func @main(%a: tensor<8x4x8xf32> {given}, %b: tensor<8x4x16xf32> {given})"
        f" -> ({returned}) {{\n  " + "\n  ".join(lines) + f"\n  return {results} : {types}\n}}",
        sdy.Context(),
    )


@pytest.mark.parametrize("seed", range(2))
def test_numbers(seed):
    draw = random.Random(seed)
    wanted = [str(random_sharding(draw, 2, MESH, "mesh")) for _ in range(6)]
    program = sdy.partition(products(wanted))
    numbers = np.random.default_rng(seed)
    inputs = [numbers.standard_normal((8, 4, size), np.float32) for size in (8, 16)]
    for own, other in zip(
        program.run(inputs), run_unpartitioned(products(wanted), inputs), strict=True
    ):
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        ('[{"x"}, {"y"}]', {"reduce_scatter": 448}),
        ('[{"x"}, {}]', {"reduce_scatter": 448, "all_gather": 64}),
        ('[{}, {"y", "x"}]', {"reduce_scatter": 448}),
        ('[{"y"}, {}]', {"reduce_scatter": 448, "all_gather": 192}),
        ("[{}, {}]", {"all_reduce": 896}),
    ],
)
def test_bytes(wanted, sent):
    """The partial result has 512 bytes."""
    collectives = sdy.partition(products([f"<@mesh, {wanted}>"]), hardware="h100").collectives
    assert {each.kind: each.nbytes_sent for each in collectives} == sent
