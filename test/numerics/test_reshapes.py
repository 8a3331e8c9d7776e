# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshapes of values that are sharded in any way on both sides: numbers, and what is sent."""

import math
import random

import numpy as np
import pytest
from case_counts import cases
from programs import random_reshape, tensor
from small_programs import random_sharding

import pyshardy as sdy
from mlir_sdy.model import DimensionSharding, Mesh, MeshAxis, TensorSharding
from pyshardy.program import run_unpartitioned

MESHES = [(4,), (8,), (6,), (2, 2), (4, 2), (2, 4), (2, 3), (2, 2, 2), (3, 4)]
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)


def random_shape(rng):
    while True:
        shape = tuple(rng.choices(SIZES, k=rng.randint(1, 4)))
        if math.prod(shape) <= 768:
            return shape


def with_axes(rng, shape, mesh):
    """A sharding of dimensions that are not smaller than their number of shards, or little."""
    drawn = random_sharding(rng, len(shape), mesh, "mesh", unreduced=False)
    return TensorSharding(
        "mesh",
        tuple(
            DimensionSharding(dim.axes if mesh.axes_size(dim.axes) <= 2 * size else (), True)
            for dim, size in zip(drawn.dim_shardings, shape, strict=True)
        ),
    )


def constrained(name, value, sharding, shape):
    dims = str(sharding).partition("<")[2].removesuffix(">") if sharding else ""
    return f"%{name} = sdy.sharding_constraint {value} <{dims}> : {tensor(shape)}"


def program(rng):
    """A chain of reshapes between operations, with constraints on some of the values."""
    sizes = rng.choice(MESHES)
    mesh = Mesh(tuple(map(MeshAxis, "xyz", sizes)))
    shapes = [random_shape(rng)]
    lines = []
    value = "%a"
    for index in range(rng.randint(1, 3)):
        shape = shapes[-1]
        lines.append(f"%n{index} = stablehlo.negate {value} : {tensor(shape)}")
        value = f"%n{index}"
        if rng.random() < 0.8:
            lines.append(constrained(f"c{index}", value, with_axes(rng, shape, mesh), shape))
            value = f"%c{index}"
        shapes.append(random_reshape(rng, shape))
        lines.append(
            f"%r{index} = stablehlo.reshape {value} : ({tensor(shape)}) -> {tensor(shapes[-1])}"
        )
        value = f"%r{index}"
        if rng.random() < 0.7:
            sharding = with_axes(rng, shapes[-1], mesh)
            lines.append(constrained(f"d{index}", value, sharding, shapes[-1]))
            value = f"%d{index}"
    lines.append(f"%e = stablehlo.negate {value} : {tensor(shapes[-1])}")
    axes = ", ".join(f'"{axis.name}"={axis.size}' for axis in mesh.axes)
    body = "\n  ".join(lines)
    text = f"""
sdy.mesh @mesh = <[{axes}]>
func.func @main(%a: {tensor(shapes[0])}) -> {tensor(shapes[-1])} {{
  {body}
  return %e : {tensor(shapes[-1])}
}}"""
    return text, shapes[0], shapes[-1], len(shapes)


@pytest.mark.parametrize("batch", range(cases(2)))
def test_random_reshapes(batch):
    for seed in range(30 * batch, 30 * batch + 30):
        text, before, after, count = program(random.Random(seed))
        module = sdy.parse(text, sdy.Context())
        sdy.propagate(module)
        value = np.arange(math.prod(before), dtype=np.float32).reshape(before)
        (found,) = sdy.partition(module).run([value])
        assert (found == (-1) ** count * value.reshape(after)).all(), f"{seed}: {text}"


def sent(mesh, source, source_dims, target, target_dims):
    """Return the bytes that a device sends for a reshape between shardings, and the collectives.

    The value is made on the devices: an argument would be sharded as it is wanted.
    """
    before, after = ("x".join(map(str, (*shape, "f32"))) for shape in (source, target))
    module = sdy.parse(
        f"""
        sdy.mesh @mesh = {mesh}
        func.func @main(%a: tensor<{before}>) -> tensor<{after}> {{
          %0 = sdy.sharding_constraint %a <@mesh, {source_dims}> : tensor<{before}>
          %1 = stablehlo.reshape %0 : (tensor<{before}>) -> tensor<{after}>
          %2 = sdy.sharding_constraint %1 <@mesh, {target_dims}> : tensor<{after}>
          %3 = stablehlo.negate %2 : tensor<{after}>
          return %3 : tensor<{after}>
        }}""",
        sdy.Context(),
    )
    sdy.propagate(module)
    program = sdy.partition(module)
    value = np.arange(math.prod(source), dtype=np.float32).reshape(source)
    assert (program.run([value])[0] == -value.reshape(target)).all()
    found = [(each.kind, each.nbytes_sent) for each in program.collectives]
    if program.collectives and found[-1][0] == "all_gather":
        del found[-1]  # of the result, for the user
    return found


@pytest.mark.parametrize(
    ("mesh", "source", "source_dims", "target", "target_dims", "expected"),
    [
        # Padding agrees: nothing is sent.
        ('["x"=4]', (16, 3, 2), '[{}, {"x"}, {}]', (16, 6), '[{}, {"x"}]', []),
        ('["y"=2, "x"=4]', (3, 2, 16), '[{"x"}, {}, {}]', (6, 16), '[{"x"}, {}]', []),
        ('["x"=8]', (5, 32, 3), '[{"x"}, {}, {}]', (10, 16, 3), '[{"x"}, {}, {}]', []),
        # The same elements in another order of devices: a permute.
        (
            '["x"=2, "y"=2]',
            (16,),
            '[{"x", "y"}]',
            (2, 2, 4),
            '[{"y"}, {"x"}, {}]',
            [("collective_permute", 16)],
        ),
        (
            '["x"=8]',
            (64,),
            '[{"x"}]',
            (2, 2, 2, 8),
            '[{"x":(4)2}, {"x":(2)2}, {"x":(1)2}, {}]',
            [("collective_permute", 32)],
        ),
        # Parts of elements go to another dimension.
        ('["x"=4]', (64,), '[{"x"}]', (8, 8), '[{}, {"x"}]', [("all_to_all", 48)]),
        # The negation takes the sharding before, as the result is gathered in any case.
        ('["x"=4]', (16,), '[{"x"}]', (4, 4), '[{"x":(1)2}, {"x":(2)2}]', []),
        # A result whose axes have no place in the operand is sliced.
        ('["x"=4]', (64, 5, 3), "[{}, {}, {}]", (64, 15), '[{}, {"x"}]', []),
    ],
)
def test_what_is_sent(mesh, source, source_dims, target, target_dims, expected):
    assert sent(f"<{mesh}>", source, source_dims, target, target_dims) == expected


def test_of_a_head_in_an_attention_layer():
    """3 heads of 2 channels on 4 devices: only the sum is completed."""
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<16x8xf32>, %w: tensor<8x3x2xf32>) -> tensor<f32> {
      %0 = stablehlo.reshape %w : (tensor<8x3x2xf32>) -> tensor<8x6xf32>
      %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x6xf32>
      %2 = stablehlo.dot_general %a, %1, contracting_dims = [1] x [0]
        : (tensor<16x8xf32>, tensor<8x6xf32>) -> tensor<16x6xf32>
      %3 = stablehlo.tanh %2 : tensor<16x6xf32>
      %4 = stablehlo.reshape %3 : (tensor<16x6xf32>) -> tensor<16x3x2xf32>
      %5 = sdy.sharding_constraint %4 <@mesh, [{}, {"x"}, {}]> : tensor<16x3x2xf32>
      %6 = stablehlo.exponential %5 : tensor<16x3x2xf32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %7 = stablehlo.reduce(%6 init: %z) applies stablehlo.add across dimensions = [0, 1, 2]
        : (tensor<16x3x2xf32>, tensor<f32>) -> tensor<f32>
      return %7 : tensor<f32>
    }"""
    module = sdy.parse(text, sdy.Context())
    sdy.propagate(module)
    made = sdy.partition(module)
    inputs = [
        np.random.default_rng(0).uniform(-1, 1, port.spec.shape).astype("f4")
        for port in made.inputs
    ]
    np.testing.assert_allclose(made.run(inputs)[0], run_unpartitioned(module, inputs)[0], rtol=1e-5)
    assert [each.kind for each in made.collectives] == ["all_reduce"]
