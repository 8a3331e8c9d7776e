"""Random shardings and small programs with them, for comparison with another implementation."""

import math
import random
from dataclasses import dataclass

from mlir_sdy.model import AxisRef, Mesh, MeshAxis, TensorSharding

POWERS_OF_TWO = ((2, 2, 2), (4, 2), (8, 2), (4, 4, 2))


def random_mesh(chooser: random.Random, shapes=POWERS_OF_TWO) -> Mesh:
    """A mesh of one of the given shapes, with axes a, b, c, ..."""
    sizes = chooser.choice(shapes)
    return Mesh(tuple(MeshAxis(name, size) for name, size in zip("abcd", sizes, strict=False)))


def random_axes(chooser: random.Random, mesh: Mesh, rank: int, unused: float = 0.3):
    """Axes and sub-axes for each dimension, each used once."""
    refs: list[AxisRef] = []
    for axis in mesh.axes:
        if chooser.random() < unused:
            continue
        divisors = [d for d in range(2, axis.size) if axis.size % d == 0]
        if divisors and chooser.random() < 0.4:
            major = chooser.choice(divisors)
            parts = [
                AxisRef.sub(axis.name, 1, major),
                AxisRef.sub(axis.name, major, axis.size // major),
            ]
            refs += chooser.sample(parts, chooser.randint(1, 2))
        else:
            refs.append(AxisRef(axis.name))
    chooser.shuffle(refs)
    dims: list[list[AxisRef]] = [[] for _ in range(rank)]
    for ref in refs if rank else ():
        dim = dims[chooser.randrange(rank)]
        if not (dim and dim[-1].can_merge(ref)):
            dim.append(ref)
    return tuple(map(tuple, dims))


def divisible_axes(chooser: random.Random, mesh: Mesh, shape, unused: float = 0.3):
    """As `random_axes`, but no dimension has axes that don't divide it."""
    return tuple(
        axes if size % mesh.axes_size(axes) == 0 else ()
        for axes, size in zip(random_axes(chooser, mesh, len(shape), unused), shape, strict=True)
    )


def tensor(shape, element="f32") -> str:
    """The type of a tensor."""
    return f"tensor<{'x'.join(map(str, (*shape, element)))}>"


@dataclass
class Operation:
    """One operation in the middle of a program: its text around operands, and its types."""

    name: str
    operand_shapes: tuple[tuple[int, ...], ...]
    result_shape: tuple[int, ...]
    text: str
    """With `{0}`, `{1}` for operands and `{sharding}` for the attribute dictionary."""


SIZES = (4, 8, 16)


def random_operation(chooser: random.Random) -> Operation:
    """An operation of one of the families that the partitioner knows."""
    return chooser.choice([_negate, _add, _transpose, _broadcast, _dot_general, _reduce, _reshape])(
        chooser
    )


def _shape(chooser: random.Random, low: int = 1, high: int = 3) -> tuple[int, ...]:
    return tuple(chooser.choice(SIZES) for _ in range(chooser.randint(low, high)))


def _negate(chooser: random.Random) -> Operation:
    shape = _shape(chooser)
    text = f"stablehlo.negate {{0}} {{sharding}} : {tensor(shape)}"
    return Operation("negate", (shape,), shape, text)


def _add(chooser: random.Random) -> Operation:
    shape = _shape(chooser)
    text = f"stablehlo.add {{0}}, {{1}} {{sharding}} : {tensor(shape)}"
    return Operation("add", (shape, shape), shape, text)


def _transpose(chooser: random.Random) -> Operation:
    shape = _shape(chooser, 2)
    order = list(range(len(shape)))
    chooser.shuffle(order)
    result = tuple(shape[dim] for dim in order)
    text = (
        f"stablehlo.transpose {{0}}, dims = {order} {{sharding}} : "
        f"({tensor(shape)}) -> {tensor(result)}"
    )
    return Operation("transpose", (shape,), result, text)


def _broadcast(chooser: random.Random) -> Operation:
    result = _shape(chooser, 2)
    dims = sorted(chooser.sample(range(len(result)), chooser.randint(0, len(result) - 1)))
    shape = tuple(1 if chooser.random() < 0.2 else result[dim] for dim in dims)
    text = (
        f"stablehlo.broadcast_in_dim {{0}}, dims = {dims} {{sharding}} : "
        f"({tensor(shape)}) -> {tensor(result)}"
    )
    return Operation("broadcast_in_dim", (shape,), result, text)


def _dot_general(chooser: random.Random) -> Operation:
    batch = _shape(chooser, 0, 1)
    left, right, inner = _shape(chooser, 0, 1), _shape(chooser, 0, 1), _shape(chooser, 1, 2)
    b, n = len(batch), len(inner)
    lhs, rhs = (*batch, *left, *inner), (*batch, *inner, *right)
    result = (*batch, *left, *right)
    lhs_inner = [b + len(left) + i for i in range(n)]
    rhs_inner = [b + i for i in range(n)]
    batching = f"batching_dims = {list(range(b))} x {list(range(b))}, " if b else ""
    text = (
        f"stablehlo.dot_general {{0}}, {{1}}, {batching}contracting_dims = {lhs_inner} x "
        f"{rhs_inner} {{sharding}} : ({tensor(lhs)}, {tensor(rhs)}) -> {tensor(result)}"
    )
    return Operation("dot_general", (lhs, rhs), result, text)


def _reduce(chooser: random.Random) -> Operation:
    shape = _shape(chooser, 1)
    dims = sorted(chooser.sample(range(len(shape)), chooser.randint(1, len(shape))))
    result = tuple(size for dim, size in enumerate(shape) if dim not in dims)
    text = (
        f"stablehlo.reduce({{0}} init: %zero) applies stablehlo.add across dimensions = {dims} "
        f"{{sharding}} : ({tensor(shape)}, tensor<f32>) -> {tensor(result)}"
    )
    return Operation("reduce", (shape,), result, text)


def _reshape(chooser: random.Random) -> Operation:
    shape = _shape(chooser, 1)
    rest = math.prod(shape)
    result: list[int] = []
    while rest > 1 and len(result) < 3:
        size = chooser.choice([s for s in (2, 4, 8, 16, rest) if rest % s == 0])
        result.append(size)
        rest //= size
    if rest > 1:
        result[-1] *= rest
    text = f"stablehlo.reshape {{0}} {{sharding}} : ({tensor(shape)}) -> {tensor(result)}"
    return Operation("reshape", (shape,), tuple(result), text)


def sharding_text(axes, *, per_value: bool = False) -> str:
    """`sdy.sharding = ...` for the given axes, closed, on the mesh @mesh."""
    body = TensorSharding.from_axes("mesh", axes)
    if per_value:
        return f"sdy.sharding = #sdy.sharding_per_value<[{body}]>"
    return f"sdy.sharding = #sdy.sharding{body}"


def one_operation_program(chooser: random.Random, shapes=POWERS_OF_TWO, *, divisible=False) -> str:
    """A function of one operation; arguments, the operation and the result are sharded anyhow."""
    mesh = random_mesh(chooser, shapes)
    operation = random_operation(chooser)

    def axes(shape):
        if divisible:
            return divisible_axes(chooser, mesh, shape)
        return random_axes(chooser, mesh, len(shape))

    arguments = [
        f"%arg{i}: {tensor(shape)} {{{sharding_text(axes(shape))}}}"
        for i, shape in enumerate(operation.operand_shapes)
    ]
    result = operation.result_shape
    attribute = f"{{{sharding_text(axes(result), per_value=True)}}}"
    names = [f"%arg{i}" for i in range(len(arguments))]
    text = operation.text.replace("{sharding}", "<<>>").format(*names).replace("<<>>", attribute)
    return f"""sdy.mesh @mesh = {mesh}
func.func @main({", ".join(arguments)}) -> ({tensor(result)} {{{sharding_text(axes(result))}}}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = {text}
  return %0 : {tensor(result)}
}}
"""
