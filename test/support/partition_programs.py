# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random reshards, and random programs of one operation whose tensors are sharded anyhow."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from programs import Shape, random_reshape, random_shape, tensor

from mlir_sdy.model import AxisRef, AxisTuple, Mesh, MeshAxis, TensorSharding

POWERS_OF_TWO = ((2, 2, 2), (4, 2), (8, 2), (4, 4, 2))
OTHER_SIZES = ((2, 3), (6, 2), (4, 6), (2, 6, 3), (12,))
SIZES = (4, 8, 16)

AxesPerDim = tuple[AxisTuple, ...]


def random_mesh(rng: random.Random, mesh_sizes: Sequence[Shape] = POWERS_OF_TWO) -> Mesh:
    """A mesh of one of the given sizes, with axes a, b, c, ..."""
    return Mesh(tuple(map(MeshAxis, "abcd", rng.choice(mesh_sizes))))


def random_axes(rng: random.Random, mesh: Mesh, rank: int, unused: float = 0.3) -> AxesPerDim:
    """Axes and sub-axes for each dimension, each used once.

    Args:
        rng: the source of randomness.
        mesh: the mesh.
        rank: the number of dimensions.
        unused: how probable it is that an axis is not used at all.
    """
    refs: list[AxisRef] = []
    for axis in mesh.axes:
        if rng.random() < unused:
            continue
        divisors = [size for size in range(2, axis.size) if axis.size % size == 0]
        if divisors and rng.random() < 0.4:
            major = rng.choice(divisors)
            parts = [
                AxisRef.sub(axis.name, 1, major),
                AxisRef.sub(axis.name, major, axis.size // major),
            ]
            refs += rng.sample(parts, rng.randint(1, 2))
        else:
            refs.append(AxisRef(axis.name))
    rng.shuffle(refs)
    dims: list[list[AxisRef]] = [[] for _ in range(rank)]
    for ref in refs if rank else ():
        dim = rng.choice(dims)
        if not (dim and dim[-1].can_merge(ref)):
            dim.append(ref)
    return tuple(map(tuple, dims))


@dataclass(frozen=True)
class Program:
    """A program in which refs to axes stand at several places.

    Attributes:
        text: the program.
        operation: the name of the operation in question.
        refs: the axes of all its shardings.
    """

    text: str
    operation: str
    refs: tuple[AxisRef, ...]

    @property
    def refs_coexist(self) -> bool:
        """Whether one cut of each axis serves all refs: Shardy assumes so."""
        return all(ref.can_coexist(other) for ref in self.refs for other in self.refs)


def random_reshard(rng: random.Random, mesh_sizes: Sequence[Shape] = POWERS_OF_TWO) -> Program:
    """A reshard of a tensor of one to three dimensions, between shardings on one mesh."""
    mesh = random_mesh(rng, mesh_sizes)
    shape = tuple(rng.choice((8, 16, 24, 144)) for _ in range(rng.randint(1, 3)))
    source, target = (random_axes(rng, mesh, len(shape)) for _ in range(2))
    text = f"""sdy.mesh @mesh = {mesh}
func.func @main(%arg0: {tensor(shape)} {{{sharding_text(source)}}}) -> {tensor(shape)} {{
  %0 = sdy.reshard %arg0 {TensorSharding.from_axes("mesh", target)} : {tensor(shape)}
  return %0 : {tensor(shape)}
}}
"""
    return Program(text, "reshard", tuple(ref for axes in (*source, *target) for ref in axes))


def random_reshards(rng: random.Random, mesh_sizes: Sequence[Shape]) -> str:
    """Reshards of one tensor, one after the other, on two meshes of the same devices."""
    mesh = random_mesh(rng, mesh_sizes)
    device_ids = list(range(mesh.total_size))
    rng.shuffle(device_ids)
    shape = tuple(rng.choice((6, 7, 12, 20, 24)) for _ in range(rng.randint(1, 3)))

    def sharding() -> TensorSharding:
        name = rng.choice(("mesh", "mesh", "shuffled"))
        return TensorSharding.from_axes(name, random_axes(rng, mesh, len(shape), unused=0.25))

    count = rng.randint(2, 6)
    lines = "\n  ".join(
        f"%{number + 1} = sdy.reshard %{number} {sharding()} : {tensor(shape)}"
        if rng.random() < 0.75
        else f"%{number + 1} = stablehlo.negate %{number} "
        f"{{sdy.sharding = #sdy.sharding_per_value<[{sharding()}]>}} : {tensor(shape)}"
        for number in range(count)
    )
    return f"""sdy.mesh @mesh = {mesh}
sdy.mesh @shuffled = {Mesh(mesh.axes, tuple(device_ids))}
func.func @main(%0: {tensor(shape)} {{sdy.sharding = #sdy.sharding{sharding()}}})
    -> ({tensor(shape)} {{sdy.sharding = #sdy.sharding{sharding()}}}) {{
  {lines}
  return %{count} : {tensor(shape)}
}}
"""


@dataclass(frozen=True)
class Operation:
    """One operation in the middle of a program.

    Attributes:
        name: what it does.
        operand_shapes: the shapes of its operands.
        result_shape: the shape of its result.
        text: its assembly, `%arg0` being the first operand, with `{sharding}` for its attributes.
    """

    name: str
    operand_shapes: tuple[Shape, ...]
    result_shape: Shape
    text: str


def random_operation(rng: random.Random) -> Operation:
    """An operation of one of the families that have a local form."""
    families = [_negate, _add, _transpose, _broadcast, _dot_general, _reduce, _reshape]
    return rng.choice(families)(rng)


def _shape(rng: random.Random, low: int, high: int) -> Shape:
    return tuple(rng.choice(SIZES) for _ in range(rng.randint(low, high)))


def _negate(rng: random.Random) -> Operation:
    shape = random_shape(rng, sizes=SIZES)
    text = f"stablehlo.negate %arg0 {{sharding}} : {tensor(shape)}"
    return Operation("negate", (shape,), shape, text)


def _add(rng: random.Random) -> Operation:
    shape = random_shape(rng, sizes=SIZES)
    text = f"stablehlo.add %arg0, %arg1 {{sharding}} : {tensor(shape)}"
    return Operation("add", (shape, shape), shape, text)


def _transpose(rng: random.Random) -> Operation:
    shape = _shape(rng, 2, 3)
    order = list(range(len(shape)))
    rng.shuffle(order)
    result = tuple(shape[dim] for dim in order)
    text = (
        f"stablehlo.transpose %arg0, dims = {order} {{sharding}} : "
        f"({tensor(shape)}) -> {tensor(result)}"
    )
    return Operation("transpose", (shape,), result, text)


def _broadcast(rng: random.Random) -> Operation:
    result = _shape(rng, 2, 3)
    dims = sorted(rng.sample(range(len(result)), rng.randint(0, len(result) - 1)))
    shape = tuple(1 if rng.random() < 0.2 else result[dim] for dim in dims)
    text = (
        f"stablehlo.broadcast_in_dim %arg0, dims = {dims} {{sharding}} : "
        f"({tensor(shape)}) -> {tensor(result)}"
    )
    return Operation("broadcast_in_dim", (shape,), result, text)


def _dot_general(rng: random.Random) -> Operation:
    batch, inner = _shape(rng, 0, 1), _shape(rng, 1, 2)
    left, right = _shape(rng, 0, 1), _shape(rng, 0, 1)
    lhs, rhs = (*batch, *left, *inner), (*batch, *inner, *right)
    result = (*batch, *left, *right)
    lhs_inner = [len(batch) + len(left) + index for index in range(len(inner))]
    rhs_inner = [len(batch) + index for index in range(len(inner))]
    batching = "batching_dims = [0] x [0], " if batch else ""
    text = (
        f"stablehlo.dot_general %arg0, %arg1, {batching}contracting_dims = {lhs_inner} x "
        f"{rhs_inner} {{sharding}} : ({tensor(lhs)}, {tensor(rhs)}) -> {tensor(result)}"
    )
    return Operation("dot_general", (lhs, rhs), result, text)


def _reduce(rng: random.Random) -> Operation:
    shape = _shape(rng, 1, 3)
    dims = sorted(rng.sample(range(len(shape)), rng.randint(1, len(shape))))
    result = tuple(size for dim, size in enumerate(shape) if dim not in dims)
    text = (
        f"stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = {dims} "
        f"{{sharding}} : ({tensor(shape)}, tensor<f32>) -> {tensor(result)}"
    )
    return Operation("reduce", (shape,), result, text)


def _reshape(rng: random.Random) -> Operation:
    shape = _shape(rng, 1, 3)
    result = random_reshape(rng, shape)
    text = f"stablehlo.reshape %arg0 {{sharding}} : ({tensor(shape)}) -> {tensor(result)}"
    return Operation("reshape", (shape,), result, text)


def sharding_text(axes: AxesPerDim, *, per_value: bool = False) -> str:
    """`sdy.sharding = ...` for the given axes, closed, on the mesh @mesh."""
    body = TensorSharding.from_axes("mesh", axes)
    if per_value:
        return f"sdy.sharding = #sdy.sharding_per_value<[{body}]>"
    return f"sdy.sharding = #sdy.sharding{body}"


def one_operation_program(
    rng: random.Random, mesh_sizes: Sequence[Shape] = POWERS_OF_TWO, *, divisible: bool = False
) -> Program:
    """A function of one operation; arguments, the operation and the result are sharded anyhow.

    Args:
        rng: the source of randomness.
        mesh_sizes: the meshes to choose from.
        divisible: whether axes must divide the dimensions that they shard.
    """
    mesh = random_mesh(rng, mesh_sizes)
    operation = random_operation(rng)
    refs: list[AxisRef] = []

    def attribute(shape: Shape, *, per_value: bool = False) -> str:
        axes_per_dim = random_axes(rng, mesh, len(shape))
        if divisible:
            axes_per_dim = tuple(
                axes if size % mesh.axes_size(axes) == 0 else ()
                for axes, size in zip(axes_per_dim, shape, strict=True)
            )
        refs.extend(ref for axes in axes_per_dim for ref in axes)
        return f"{{{sharding_text(axes_per_dim, per_value=per_value)}}}"

    arguments = ", ".join(
        f"%arg{index}: {tensor(shape)} {attribute(shape)}"
        for index, shape in enumerate(operation.operand_shapes)
    )
    result = operation.result_shape
    body = operation.text.replace("{sharding}", attribute(result, per_value=True))
    text = f"""sdy.mesh @mesh = {mesh}
func.func @main({arguments}) -> ({tensor(result)} {attribute(result)}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = {body}
  return %0 : {tensor(result)}
}}
"""
    return Program(text, operation.name, tuple(refs))
