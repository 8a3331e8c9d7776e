# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of one operation that is sharded where it needs data of other shards."""

import random
from dataclasses import dataclass, field

from halo_programs import body_of, selecting, tensor

Shape = list[int]

# Meshes, with lists of axes that don't divide most sizes.
MESHES = {
    '<["x"=2, "y"=2]>': ('"x"', '"x", "y"', '"y", "x"'),
    '<["x"=4, "y"=2]>': ('"x"', '"x":(2)2, "y"', '"y", "x":(1)2'),
    '<["x"=3]>': ('"x"',),
    '<["x"=2, "y"=3], device_ids=[4, 2, 0, 5, 1, 3]>': ('"y"', '"x", "y"'),
}
BODIES = ("add", "multiply", "maximum", "minimum")
NEUTRAL = {"add": "0.0", "multiply": "1.0", "maximum": "0xFF800000", "minimum": "0x7F800000"}


@dataclass(frozen=True)
class Operation:
    """An operation of a random program.

    Attributes:
        text: how it is written, without its types.
        operands: the shapes of its operands: arguments of the program, or constants.
        result: the shape of its result.
        sharded: the dimensions to be sharded, by the position of their tensor; -1 is the result.
        before: what stands in front of it, and makes operands that are no arguments.
        arguments: the shapes of the arguments, if they are not the operands.
    """

    text: str
    operands: list[Shape]
    result: Shape
    sharded: dict[int, int]
    before: str = ""
    arguments: list[Shape] = field(default_factory=list)


def random_program(family: str, rng: random.Random) -> str:
    """A program whose operation is of a family of `FAMILIES`."""
    mesh = rng.choice([*MESHES])
    axes = rng.choice(MESHES[mesh])
    operation = FAMILIES[family](rng)
    arguments = operation.arguments or operation.operands
    written = [
        f"%{index}: {type_of(shape)}{_sharding(shape, operation.sharded.get(index), axes)}"
        for index, shape in enumerate(arguments)
    ]
    result = type_of(operation.result)
    dim = operation.sharded[-1] if rng.random() < 0.8 else None
    return (
        f"sdy.mesh @mesh = {mesh}\n"
        f"func.func @main({', '.join(written)})\n"
        f"    -> ({result}{_sharding(operation.result, dim, axes)}) {{\n"
        f"{operation.before}  %r = {operation.text}\n"
        f"      : ({', '.join(map(type_of, operation.operands))}) -> {result}\n"
        f"  return %r : {result}\n}}"
    )


def type_of(shape: Shape) -> str:
    return tensor("x".join(map(str, shape)))


def _sharding(shape: Shape, dim: int | None, axes: str) -> str:
    if dim is None:
        return ""
    dims = ", ".join(f"{{{axes}}}" if at == dim else "{}" for at in range(len(shape)))
    return f" {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"


def integers(numbers: list[int]) -> str:
    return f"array<i64: {', '.join(map(str, numbers))}>"


def shape_around(rng: random.Random, largest: int) -> tuple[Shape, int]:
    """A shape, and the dimension of it that is larger than the others."""
    shape = [rng.randint(1, 5) for _ in range(rng.choice([1, 2]))]
    dim = rng.randrange(len(shape))
    shape[dim] = rng.randint(4, largest)
    return shape, dim


def slice_text(operand: str, starts: Shape, limits: Shape, strides: Shape) -> str:
    return (
        f'"stablehlo.slice"({operand}) <{{start_indices = {integers(starts)}, '
        f"limit_indices = {integers(limits)}, strides = {integers(strides)}}}>"
    )


def slice_(rng: random.Random) -> Operation:
    shape, dim = shape_around(rng, 24)
    starts = [rng.randrange(size) for size in shape]
    limits = [rng.randint(start + 1, size) for start, size in zip(starts, shape, strict=True)]
    strides = [rng.choice([1, 1, 2, 3]) for _ in shape]
    columns = zip(starts, limits, strides, strict=True)
    result = [-(-(limit - start) // stride) for start, limit, stride in columns]
    text = slice_text("%0", starts, limits, strides)
    return Operation(text, [shape], result, {0: dim, -1: dim})


def pad(rng: random.Random) -> Operation:
    shape, dim = shape_around(rng, 16)
    while True:
        low, high = ([rng.randint(-4, 6) for _ in shape] for _ in range(2))
        interior = [rng.choice([0, 0, 1, 2]) for _ in shape]
        columns = zip(shape, low, high, interior, strict=True)
        result = [size + (size - 1) * hole + a + b for size, a, b, hole in columns]
        if min(result) > 0:
            break
    text = (
        f'"stablehlo.pad"(%0, %1) <{{edge_padding_low = {integers(low)}, '
        f"edge_padding_high = {integers(high)}, interior_padding = {integers(interior)}}}>"
    )
    return Operation(text, [shape, []], result, {0: dim, -1: dim})


def reverse(rng: random.Random) -> Operation:
    shape, dim = shape_around(rng, 20)
    text = f'"stablehlo.reverse"(%0) <{{dimensions = {integers([dim])}}}>'
    return Operation(text, [shape], shape, {0: dim, -1: dim})


def concatenate(rng: random.Random) -> Operation:
    """Arguments, or slices of them along the same dimension."""
    shape, dim = shape_around(rng, 12)
    arguments = [[*shape[:dim], rng.randint(1, 12), *shape[dim + 1 :]] for _ in range(2)]
    before, names, operands = "", [], []
    for index in range(rng.randint(1, 4)):
        source = rng.randrange(2)
        whole = arguments[source]
        start = rng.randrange(whole[dim])
        limit = rng.randint(start + 1, whole[dim])
        starts, limits, part = [0] * len(whole), list(whole), list(whole)
        starts[dim], limits[dim], part[dim] = start, limit, limit - start
        cut = slice_text(f"%{source}", starts, limits, [1] * len(whole))
        before += f"  %s{index} = {cut} : ({type_of(whole)}) -> {type_of(part)}\n"
        is_part = rng.random() < 0.8
        names.append(f"%s{index}" if is_part else f"%{source}")
        operands.append(part if is_part else whole)
    result = list(shape)
    result[dim] = sum(operand[dim] for operand in operands)
    text = f'"stablehlo.concatenate"({", ".join(names)}) <{{dimension = {dim} : i64}}>'
    return Operation(text, operands, result, {0: dim, 1: dim, -1: dim}, before, arguments)


def convolution(rng: random.Random) -> Operation:
    """One or two spatial dimensions with everything that they can have, and feature groups."""
    count, groups = rng.choice([1, 2]), rng.choice([1, 1, 2])
    batch, features, output = rng.randint(1, 3), groups * rng.randint(1, 2), groups
    while True:
        sizes = [rng.randint(3, 14) for _ in range(count)]
        kernel = [rng.randint(1, 8 if rng.random() < 0.3 else 3) for _ in range(count)]
        strides, dilations, holes = (
            [rng.choice([1, 1, 2]) for _ in range(count)] for _ in range(3)
        )
        padding = [[rng.randint(-1, 3), rng.randint(-1, 3)] for _ in range(count)]
        columns = zip(sizes, kernel, strides, dilations, holes, padding, strict=True)
        left = [
            ((size - 1) * hole + 1 + sum(around) - (length - 1) * dilation - 1, stride)
            for size, length, stride, dilation, hole, around in columns
        ]
        if all(rest >= 0 for rest, _ in left):
            break
    spatial = ", ".join(map(str, range(count)))
    text = (
        f'"stablehlo.convolution"(%0, %1) <{{window_strides = {integers(strides)}, '
        f"lhs_dilation = {integers(holes)}, rhs_dilation = {integers(dilations)}, "
        f"padding = dense<{padding}> : tensor<{count}x2xi64>, "
        f"batch_group_count = 1 : i64, feature_group_count = {groups} : i64, dimension_numbers = "
        f"#stablehlo.conv<[b, {spatial}, f]x[{spatial}, i, o]->[b, {spatial}, f]>}}>"
    )
    operands = [[batch, *sizes, features], [*kernel, features // groups, output]]
    result = [batch, *(rest // stride + 1 for rest, stride in left), output]
    dim = rng.randrange(count)
    sharded = {0: dim + 1, -1: dim + 1}
    if rng.random() < 0.3:
        sharded[1] = dim
    return Operation(text, operands, result, sharded)


def windows(rng: random.Random) -> Operation:
    shape, dim = shape_around(rng, 18)
    while True:
        sizes = [rng.randint(1, 4) if at == dim else 1 for at in range(len(shape))]
        strides, dilations, holes = ([rng.choice([1, 1, 2, 3]) for _ in shape] for _ in range(3))
        padding = [[rng.randint(-1, 3), rng.randint(-1, 3)] for _ in shape]
        columns = zip(shape, sizes, strides, dilations, holes, padding, strict=True)
        left = [
            ((size - 1) * hole + 1 + sum(around) - (length - 1) * dilation - 1, stride)
            for size, length, stride, dilation, hole, around in columns
        ]
        if all(rest >= 0 for rest, _ in left):
            break
    text = (
        f'"stablehlo.reduce_window"(%0, %1) <{{window_dimensions = {integers(sizes)}, '
        f"window_strides = {integers(strides)}, base_dilations = {integers(holes)}, "
        f"window_dilations = {integers(dilations)}, padding = dense<{padding}> : "
        f"tensor<{len(shape)}x2xi64>}}> {body_of(rng.choice(BODIES))}"
    )
    result = [rest // stride + 1 for rest, stride in left]
    return Operation(text, [shape, []], result, {0: dim, -1: dim})


def cumulative(rng: random.Random) -> Operation:
    shape, dim = shape_around(rng, 18)
    sizes, padding = [1] * len(shape), [[0, 0] for _ in shape]
    sizes[dim] = shape[dim]
    padding[dim] = rng.choice([[shape[dim] - 1, 0], [0, shape[dim] - 1]])
    body = rng.choice(BODIES)
    text = (
        f'"stablehlo.reduce_window"(%0, %i) <{{window_dimensions = {integers(sizes)}, '
        f"padding = dense<{padding}> : tensor<{len(shape)}x2xi64>}}> {body_of(body)}"
    )
    before = f"  %i = stablehlo.constant dense<{NEUTRAL[body]}> : tensor<f32>\n"
    return Operation(text, [shape, []], shape, {0: dim, -1: dim}, before, [shape])


def gradient_of_windows(rng: random.Random) -> Operation:
    shape, dim = shape_around(rng, 18)
    while True:
        sizes = [rng.randint(1, 4) if at == dim else 1 for at in range(len(shape))]
        strides = [rng.choice([1, 2, 3]) for _ in shape]
        padding = [[rng.randrange(size), rng.randrange(size)] for size in sizes]
        columns = zip(shape, sizes, padding, strict=True)
        left = [size + sum(around) - length for size, length, around in columns]
        if min(left) >= 0:
            break
    source = [rest // stride + 1 for rest, stride in zip(left, strides, strict=True)]
    comparison = rng.choice(["GE", "GT", "LE", "LT"])
    text = (
        f'"stablehlo.select_and_scatter"(%0, %1, %i) <{{window_dimensions = {integers(sizes)}, '
        f"window_strides = {integers(strides)}, padding = dense<{padding}> : "
        f"tensor<{len(shape)}x2xi64>}}> {selecting(comparison, 'add')}"
    )
    before = "  %i = stablehlo.constant dense<0.0> : tensor<f32>\n"
    sharded = {0: dim, 1: dim, -1: dim}
    return Operation(text, [shape, source, []], shape, sharded, before, [shape, source])


FAMILIES = {
    "slice": slice_,
    "pad": pad,
    "reverse": reverse,
    "concatenate": concatenate,
    "convolution": convolution,
    "windows": windows,
    "cumulative": cumulative,
    "gradient of windows": gradient_of_windows,
}
