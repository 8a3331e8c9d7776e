# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations to compare sharding rules on: random ones of each family, and all examples.

A case is a function `func.func @f(...) { ... }` without a name yet: `module_of` gives names and
puts many together, as one call of C++ Shardy for all is quick.
"""

import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from programs import random_reshape, random_shape, tensor

from pyshardy.rules import registered_names, registered_rule, registered_targets
from pyshardy.rules.registry import CUSTOM_CALL, RegisteredRule

Shape = tuple[int, ...]


def case(body: str, *types: str) -> str:
    """A function of arguments %a, %b, ... of the given types."""
    arguments = ", ".join(f"%{chr(ord('a') + at)}: {kind}" for at, kind in enumerate(types))
    return f"({arguments}) {{\n  {body}\n  return\n}}"


def module_of(cases: Iterable[str]) -> str:
    return "\n".join(f"func.func @f{index}{text}" for index, text in enumerate(cases))


# --- Examples in docstrings ----------------------------------------------------------------------


def examples_of(docstring: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The operations in a docstring, each with its rules: the plain one is that of key ""."""
    _, found, text = docstring.partition("Example:\n")
    operation: list[str] = []
    rules: list[str] = []
    for line in (*text.splitlines(), "end") if found else ():
        if line.strip().startswith("//     "):
            rules[-1] += line.strip()[2:].replace("     ", " ")
        elif line.strip().startswith("// "):
            rules.append(line.strip()[3:])
        elif line.strip():
            if rules:
                yield (
                    " ".join(operation),
                    {kind.strip(" :"): rule for kind, rule in map(_kind_and_rule, rules)},
                )
                operation, rules = [], []
            operation.append(line.strip())


def _kind_and_rule(line: str) -> tuple[str, str]:
    kind, parenthesis, rest = line.partition("(")
    return kind, parenthesis + rest


def example_case(operation: str) -> str:
    """The function around an operation on %a, %b, ..., whose types are read off its own."""
    operands = sorted(set(re.findall(r"%([a-h])\b", operation)))
    types = operation.rpartition(" : ")[2].partition(" -> ")[0]
    if types.startswith("("):
        return case(operation, *_TYPE.findall(types))
    return case(operation, *[types] * len(operands))


_TYPE = re.compile(r"tensor<(?:[^<>]|<[^<>]*>)*>")


def registrations() -> list[RegisteredRule]:
    """All that the project registers, each function once; tests may have added rules of users."""
    found = [registered_rule(name) for name in registered_names()]
    found += [registered_rule(CUSTOM_CALL, target) for target in registered_targets()]
    functions = {entry.function: entry for entry in found if entry and entry.function}
    return [
        entry
        for function, entry in functions.items()
        if str(function.__module__).startswith("pyshardy.rules")
    ]


# --- Shapes --------------------------------------------------------------------------------------


def some_shape(rng: random.Random, low: int = 1, high: int = 4) -> Shape:
    return tuple(rng.choice((1, 2, 3, 4, 6, 8)) for _ in range(rng.randint(low, high)))


def array(numbers: Iterable[int]) -> str:
    listed = ", ".join(map(str, numbers))
    return f"array<i64: {listed}>" if listed else "array<i64>"


def types_of(shapes: Sequence[Shape]) -> str:
    return f"({', '.join(tensor(shape) for shape in shapes)})"


def body_of(operation: str, count: int = 2) -> str:
    """A region that computes `operation` of its first two scalars, or returns the second."""
    names = [f"%p{at}" for at in range(count)]
    arguments = ", ".join(f"{name}: tensor<f32>" for name in names)
    if operation == "second":
        return f"({{ ^bb0({arguments}): stablehlo.return {names[1]} : tensor<f32> }})"
    return (
        f"({{ ^bb0({arguments}): %r = stablehlo.{operation} {names[0]}, {names[1]} : tensor<f32> "
        "stablehlo.return %r : tensor<f32> })"
    )


COMPARE = (
    "({{ ^bb0({arguments}): %r = stablehlo.compare {how}, %p0, %p1 : (tensor<f32>, tensor<f32>) "
    "-> tensor<i1> stablehlo.return %r : tensor<i1> }})"
)


def comparison(count: int, how: str = "LT") -> str:
    arguments = ", ".join(f"%p{at}: tensor<f32>" for at in range(count))
    return COMPARE.format(arguments=arguments, how=how)


# --- Layout --------------------------------------------------------------------------------------


def transpose(rng: random.Random) -> str:
    shape = some_shape(rng)
    dims = rng.sample(range(len(shape)), len(shape))
    result = tuple(shape[dim] for dim in dims)
    return case(
        f"stablehlo.transpose %a, dims = {dims} : ({tensor(shape)}) -> {tensor(result)}",
        tensor(shape),
    )


def reverse(rng: random.Random) -> str:
    shape = some_shape(rng)
    dims = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
    return case(f"stablehlo.reverse %a, dims = {dims} : {tensor(shape)}", tensor(shape))


def broadcast_in_dim(rng: random.Random) -> str:
    result = some_shape(rng)
    dims = rng.sample(range(len(result)), rng.randint(0, len(result)))
    shape = tuple(rng.choice((result[dim], result[dim], 1)) for dim in dims)
    return case(
        f"stablehlo.broadcast_in_dim %a, dims = {dims} : ({tensor(shape)}) -> {tensor(result)}",
        tensor(shape),
    )


def reshape(rng: random.Random) -> str:
    shape = random_shape(rng, 4)
    result = random_reshape(rng, shape)
    return case(f"stablehlo.reshape %a : ({tensor(shape)}) -> {tensor(result)}", tensor(shape))


def bitcast_convert(rng: random.Random) -> str:
    shape = some_shape(rng, 0, 3)
    kinds = [
        (tensor(shape), tensor(shape, "i32")),
        (tensor(shape), tensor((*shape, 4), "i8")),
        (tensor((*shape, 2), "i16"), tensor(shape)),
    ]
    operand, result = rng.choice(kinds)
    return case(f"stablehlo.bitcast_convert %a : ({operand}) -> {result}", operand)


# --- Slices --------------------------------------------------------------------------------------


def slice_(rng: random.Random) -> str:
    shape = some_shape(rng)
    ranges, result = [], []
    for size in shape:
        start, step = rng.randint(0, size - 1), rng.choice((1, 1, 2))
        stop = rng.randint(start + 1, size)
        if rng.random() < 0.4:
            start, stop, step = 0, size, 1
        ranges.append(f"{start}:{stop}:{step}")
        result.append(math.ceil((stop - start) / step))
    return case(
        f"stablehlo.slice %a [{', '.join(ranges)}] : ({tensor(shape)}) -> {tensor(tuple(result))}",
        tensor(shape),
    )


def pad(rng: random.Random) -> str:
    shape = some_shape(rng)
    low, high = ([rng.choice((0, 0, 1, -1)) for _ in shape] for _ in range(2))
    interior = [rng.choice((0, 0, 1)) for _ in shape]
    result = tuple(
        max(size + inner * (size - 1) + left + right, 0)
        for size, left, right, inner in zip(shape, low, high, interior, strict=True)
    )
    low = [
        left + max(0, -(size + inner * (size - 1) + left + right))
        for size, left, right, inner in zip(shape, low, high, interior, strict=True)
    ]
    return case(
        f"stablehlo.pad %a, %b, low = {low}, high = {high}, interior = {interior} : "
        f"({tensor(shape)}, tensor<f32>) -> {tensor(result)}",
        tensor(shape),
        "tensor<f32>",
    )


def smaller(rng: random.Random, shape: Shape) -> Shape:
    return tuple(rng.choice((size, rng.randint(1, size))) for size in shape)


def dynamic_slice(rng: random.Random) -> str:
    shape = some_shape(rng)
    sizes = smaller(rng, shape)
    starts = ", ".join(["%b"] * len(shape))
    types = ", ".join([tensor(shape), *["tensor<i32>"] * len(shape)])
    return case(
        f"stablehlo.dynamic_slice %a, {starts}, sizes = {list(sizes)} : ({types}) -> "
        f"{tensor(sizes)}",
        tensor(shape),
        "tensor<i32>",
    )


def dynamic_update_slice(rng: random.Random) -> str:
    shape = some_shape(rng)
    update = smaller(rng, shape)
    starts = [rng.choice(("%k", "%k", "%c")) for _ in shape]
    types = ", ".join([tensor(shape), tensor(update), *["tensor<i32>"] * len(shape)])
    return case(
        f"%k = stablehlo.constant dense<0> : tensor<i32>\n"
        f"  stablehlo.dynamic_update_slice %a, %b, {', '.join(starts)} : ({types}) -> "
        f"{tensor(shape)}",
        tensor(shape),
        tensor(update),
        "tensor<i32>",
    )


def concatenate(rng: random.Random) -> str:
    shape = some_shape(rng)
    dim = rng.randrange(len(shape))
    lines, operands, shapes = [], [], []
    for index in range(rng.randint(1, 3)):
        source = rng.choice(("%a", "%b"))
        if rng.random() < 0.6:
            stop = rng.randint(1, shape[dim])
            ranges = [f"0:{stop if at == dim else size}" for at, size in enumerate(shape)]
            part = (*shape[:dim], stop, *shape[dim + 1 :])
            lines.append(
                f"%s{index} = stablehlo.slice {source} [{', '.join(ranges)}] : "
                f"({tensor(shape)}) -> {tensor(part)}"
            )
            operands.append(f"%s{index}")
            shapes.append(part)
        else:
            operands.append(source)
            shapes.append(shape)
    result = (*shape[:dim], sum(part[dim] for part in shapes), *shape[dim + 1 :])
    lines.append(
        f"stablehlo.concatenate {', '.join(operands)}, dim = {dim} : {types_of(shapes)} -> "
        f"{tensor(result)}"
    )
    return case("\n  ".join(lines), tensor(shape), tensor(shape))


# --- Products ------------------------------------------------------------------------------------


def dot_general(rng: random.Random) -> str:
    batch, contracting = some_shape(rng, 0, 2), some_shape(rng, 0, 2)
    left, right = some_shape(rng, 0, 2), some_shape(rng, 0, 2)

    def shuffled(free: Shape) -> tuple[Shape, list[int], list[int]]:
        sizes = [*batch, *contracting, *free]
        order = rng.sample(range(len(sizes)), len(sizes))
        where = {origin: at for at, origin in enumerate(order)}
        return (
            tuple(sizes[origin] for origin in order),
            [where[at] for at in range(len(batch))],
            [where[len(batch) + at] for at in range(len(contracting))],
        )

    lhs, lhs_batch, lhs_contracting = shuffled(left)
    rhs, rhs_batch, rhs_contracting = shuffled(right)
    of_lhs = [size for at, size in enumerate(lhs) if at not in (*lhs_batch, *lhs_contracting)]
    of_rhs = [size for at, size in enumerate(rhs) if at not in (*rhs_batch, *rhs_contracting)]
    numbers = (
        f"lhs_batching_dimensions = {lhs_batch}, rhs_batching_dimensions = {rhs_batch}, "
        f"lhs_contracting_dimensions = {lhs_contracting}, "
        f"rhs_contracting_dimensions = {rhs_contracting}"
    )
    return case(
        f'"stablehlo.dot_general"(%a, %b) <{{dot_dimension_numbers = #stablehlo.dot<{numbers}>}}> '
        f": {types_of([lhs, rhs])} -> {tensor((*batch, *of_lhs, *of_rhs))}",
        tensor(lhs),
        tensor(rhs),
    )


def convolution(rng: random.Random) -> str:
    spatial = rng.randint(0, 2)
    groups = rng.choice(((1, 1), (1, 1), (2, 1), (1, 2), (1, 3)))
    batch_groups, feature_groups = groups
    batch = batch_groups * rng.choice((1, 2, 3))
    kernel_inputs = rng.choice((1, 2, 5))
    features = batch_groups * feature_groups * rng.choice((1, 2, 3))
    strides = [rng.choice((1, 2, 3)) for _ in range(spatial)]
    kernel = [rng.choice((1, 2, 3, 5)) for _ in range(spatial)]
    inputs = [rng.randint(size, 12) for size in kernel]
    pads = [(rng.choice((0, 1)), rng.choice((0, 1))) for _ in range(spatial)]
    outputs = [
        (size + sum(pad) - window) // stride + 1
        for size, window, stride, pad in zip(inputs, kernel, strides, pads, strict=True)
    ]

    def laid_out(first: int, second: int, names: str, rest: list[int]) -> tuple[str, Shape]:
        dims = [(names[0], first), (names[1], second), *((str(i), n) for i, n in enumerate(rest))]
        rng.shuffle(dims)
        return f"[{', '.join(name for name, _ in dims)}]", tuple(size for _, size in dims)

    lhs_text, lhs = laid_out(batch, kernel_inputs * feature_groups, "bf", inputs)
    rhs_text, rhs = laid_out(kernel_inputs, features, "io", kernel)
    out_text, out = laid_out(batch // batch_groups, features, "bf", outputs)
    window = f"stride = {strides}, pad = {[list(pad) for pad in pads]}" if spatial else ""
    return case(
        f"stablehlo.convolution(%a, %b) dim_numbers = {lhs_text}x{rhs_text}->{out_text}, "
        f"window = {{{window}}} {{batch_group_count = {batch_groups} : i64, "
        f"feature_group_count = {feature_groups} : i64}} : {types_of([lhs, rhs])} -> {tensor(out)}",
        tensor(lhs),
        tensor(rhs),
    )


# --- Reductions and windows ----------------------------------------------------------------------


def reduce(rng: random.Random) -> str:
    shape = some_shape(rng)
    dims = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
    result = tuple(size for dim, size in enumerate(shape) if dim not in dims)
    return case(
        f"stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = {dims} : "
        f"({tensor(shape)}, tensor<f32>) -> {tensor(result)}",
        tensor(shape),
        "tensor<f32>",
    )


def window_attributes(rng: random.Random, shape: Shape) -> tuple[str, Shape]:
    """Attributes of a window, and how many of them fit."""
    windows = [rng.choice((1, 1, min(size, 2), min(size, 3))) for size in shape]
    strides = [rng.choice((1, 1, 2)) for _ in shape]
    pads = [(rng.choice((0, 0, 1)), rng.choice((0, 0, 1))) for _ in shape]
    if rng.random() < 0.3:
        pads = [(0, 0)] * len(shape)
    if rng.random() < 0.3:
        strides = [1] * len(shape)
    counts = tuple(
        (size + sum(pad) - window) // stride + 1
        for size, window, stride, pad in zip(shape, windows, strides, pads, strict=True)
    )
    parts = [f"window_dimensions = {array(windows)}"]
    if set(strides) != {1} or rng.random() < 0.5:
        parts.append(f"window_strides = {array(strides)}")
    if set(pads) != {(0, 0)} or rng.random() < 0.5:
        listed = [list(pad) for pad in pads]
        parts.append(f"padding = dense<{listed}> : tensor<{len(shape)}x2xi64>")
    return ", ".join(parts), counts


def reduce_window(rng: random.Random) -> str:
    shape = some_shape(rng)
    attributes, result = window_attributes(rng, shape)
    return case(
        f'"stablehlo.reduce_window"(%a, %b) <{{{attributes}}}> {body_of("maximum")} : '
        f"({tensor(shape)}, tensor<f32>) -> {tensor(result)}",
        tensor(shape),
        "tensor<f32>",
    )


def select_and_scatter(rng: random.Random) -> str:
    shape = some_shape(rng)
    attributes, source = window_attributes(rng, shape)
    return case(
        f'"stablehlo.select_and_scatter"(%a, %b, %c) <{{{attributes}}}> '
        f"({comparison(2, 'GE')[1:-1]}, {body_of('add')[1:-1]}) : "
        f"({tensor(shape)}, {tensor(source)}, tensor<f32>) -> {tensor(shape)}",
        tensor(shape),
        tensor(source),
        "tensor<f32>",
    )


# --- Gather and scatter --------------------------------------------------------------------------


def indexed(rng: random.Random) -> tuple[dict[str, object], Shape, Shape, Shape, Shape]:
    """Dimension numbers, then the shapes of input, indices and slices, and the sizes of slices."""
    inputs = some_shape(rng, 1, 4)
    dims = rng.sample(range(len(inputs)), len(inputs))
    batching = dims[: rng.choice((0, 0, 1)) if len(dims) > 1 else 0]
    collapsed = sorted(dims[len(batching) :][: rng.randint(0, len(dims) - len(batching))])
    indexed_dims = [dim for dim in dims if dim not in batching]
    indexed_dims = indexed_dims[: rng.randint(1, len(indexed_dims))]
    sizes = tuple(
        1 if dim in (*batching, *collapsed) else rng.choice((size, size, rng.randint(1, size), 1))
        for dim, size in enumerate(inputs)
    )
    batch = [*(inputs[dim] for dim in batching), *some_shape(rng, 0, 2)]
    vector_dim = rng.randint(0, len(batch))
    implicit = len(indexed_dims) == 1 and rng.random() < 0.3
    if implicit:
        indices, vector_dim = tuple(batch), len(batch)
    else:
        indices = (*batch[:vector_dim], len(indexed_dims), *batch[vector_dim:])
    indices_batching = [
        at if implicit or at < vector_dim else at + 1 for at in range(len(batching))
    ]
    window = [size for dim, size in enumerate(sizes) if dim not in (*batching, *collapsed)]
    offsets = sorted(rng.sample(range(len(window) + len(batch)), len(window)))
    from_window, from_batch = iter(window), iter(batch)
    slices = tuple(
        next(from_window if at in offsets else from_batch) for at in range(len(window) + len(batch))
    )
    pairs = sorted(zip(batching, indices_batching, strict=True))
    numbers: dict[str, object] = {
        "window": offsets,
        "collapsed": collapsed,
        "input_batching": [pair[0] for pair in pairs],
        "indices_batching": [pair[1] for pair in pairs],
        "indexed": indexed_dims,
        "vector_dim": vector_dim,
    }
    return numbers, inputs, indices, slices, sizes


def gather(rng: random.Random) -> str:
    numbers, inputs, indices, result, sizes = indexed(rng)
    attribute = (
        "#stablehlo.gather<offset_dims = {window}, collapsed_slice_dims = {collapsed}, "
        "operand_batching_dims = {input_batching}, "
        "start_indices_batching_dims = {indices_batching}, "
        "start_index_map = {indexed}, index_vector_dim = {vector_dim}>"
    ).format_map(numbers)
    return case(
        f'"stablehlo.gather"(%a, %b) <{{dimension_numbers = {attribute}, '
        f"slice_sizes = {array(sizes)}}}> : ({tensor(inputs)}, {tensor(indices, 'i32')}) -> "
        f"{tensor(result)}",
        tensor(inputs),
        tensor(indices, "i32"),
    )


def scatter(rng: random.Random) -> str:
    numbers, inputs, indices, updates, _ = indexed(rng)
    attribute = (
        "#stablehlo.scatter<update_window_dims = {window}, inserted_window_dims = {collapsed}, "
        "input_batching_dims = {input_batching}, "
        "scatter_indices_batching_dims = {indices_batching}, "
        "scatter_dims_to_operand_dims = {indexed}, index_vector_dim = {vector_dim}>"
    ).format_map(numbers)
    body = body_of(rng.choice(("add", "multiply", "maximum", "minimum", "subtract", "second")))
    return case(
        f'"stablehlo.scatter"(%a, %b, %c) <{{scatter_dimension_numbers = {attribute}}}> {body} : '
        f"({tensor(inputs)}, {tensor(indices, 'i32')}, {tensor(updates)}) -> {tensor(inputs)}",
        tensor(inputs),
        tensor(indices, "i32"),
        tensor(updates),
    )


SCATTER_BODIES = (
    ("f32", "%r0 = stablehlo.add %p0, %p2 : {t}", "%r1 = stablehlo.add %p3, %p1 : {t}"),
    ("f32", "%r0 = stablehlo.add %p0, %p2 : {t}", "%r1 = stablehlo.multiply %p1, %p3 : {t}"),
    ("f32", "%r0 = stablehlo.add %p0, %p1 : {t}", "%r1 = stablehlo.add %p2, %p3 : {t}"),
    ("f32", "%r0 = stablehlo.add %p0, %p0 : {t}", "%r1 = stablehlo.add %p1, %p3 : {t}"),
    ("i1", "%r0 = stablehlo.and %p0, %p2 : {t}", "%r1 = stablehlo.and %p1, %p3 : {t}"),
    ("i1", "%r0 = stablehlo.or %p0, %p2 : {t}", "%r1 = stablehlo.or %p1, %p3 : {t}"),
    ("i1", "%r0 = stablehlo.xor %p0, %p2 : {t}", "%r1 = stablehlo.xor %p1, %p3 : {t}"),
    ("i8", "%r0 = stablehlo.and %p0, %p2 : {t}", "%r1 = stablehlo.and %p1, %p3 : {t}"),
)
"""Element type and what is computed of two old values and two updates."""


def scatters_of_two() -> Iterator[str]:
    for element, first, second in SCATTER_BODIES:
        scalar = f"tensor<{element}>"
        arguments = ", ".join(f"%p{at}: {scalar}" for at in range(4))
        lines = " ".join((first, second)).format(t=scalar)
        types = [tensor((4, 6), element), tensor((2, 1), "i32"), tensor((2, 6), element)]
        yield case(
            '%r:2 = "stablehlo.scatter"(%a, %a, %b, %c, %c) <{scatter_dimension_numbers = '
            "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> "
            f"({{ ^bb0({arguments}): {lines} "
            f"stablehlo.return %r0, %r1 : {scalar}, {scalar} }}) : "
            f"({types[0]}, {types[0]}, {types[1]}, {types[2]}, {types[2]}) -> "
            f"({types[0]}, {types[0]})",
            *types,
        )


# --- Sorting, transforms, matrices ---------------------------------------------------------------


def sort(rng: random.Random) -> str:
    shape, count = some_shape(rng), rng.randint(1, 2)
    types = ", ".join([tensor(shape)] * count)
    return case(
        f'%r:{count} = "stablehlo.sort"({", ".join(["%a"] * count)}) '
        f"<{{dimension = {rng.randrange(len(shape))} : i64}}> {comparison(2 * count)} : "
        f"({types}) -> ({types})",
        tensor(shape),
    )


def fft(rng: random.Random) -> str:
    *batch, last = some_shape(rng)
    count = rng.randint(1, min(3, len(batch) + 1))
    kind = rng.choice(("FFT", "IFFT", "RFFT", "IRFFT"))
    real, half = tensor((*batch, last)), tensor((*batch, last // 2 + 1), "complex<f32>")
    whole = tensor((*batch, last), "complex<f32>")
    operand, result = {"RFFT": (real, half), "IRFFT": (half, real)}.get(kind, (whole, whole))
    lengths = [*batch, last][-count:]
    return case(
        f"stablehlo.fft %a, type = {kind}, length = {lengths} : ({operand}) -> {result}", operand
    )


def cholesky(rng: random.Random) -> str:
    shape = (*some_shape(rng, 0, 2), 3, 3)
    return case(f"stablehlo.cholesky %a, lower = true : {tensor(shape)}", tensor(shape))


def triangular_solve(rng: random.Random) -> str:
    batch, left = some_shape(rng, 0, 2), rng.random() < 0.5
    a, b = (*batch, 3, 3), (*batch, 3, 5) if left else (*batch, 5, 3)
    how = rng.choice(("TRANSPOSE", "NO_TRANSPOSE", "ADJOINT"))
    return case(
        f'"stablehlo.triangular_solve"(%a, %b) <{{left_side = {str(left).lower()}, lower = true, '
        f"unit_diagonal = false, transpose_a = #stablehlo<transpose {how}>}}> : "
        f"{types_of([a, b])} -> {tensor(b)}",
        tensor(a),
        tensor(b),
    )


def batch_norm_inference(rng: random.Random) -> str:
    shape = some_shape(rng)
    feature = rng.randrange(len(shape))
    vector = (shape[feature],)
    return case(
        '"stablehlo.batch_norm_inference"(%a, %b, %b, %b, %b) <{epsilon = 0.0 : f32, '
        f"feature_index = {feature} : i64}}> : {types_of([shape, *[vector] * 4])} -> "
        f"{tensor(shape)}",
        tensor(shape),
        tensor(vector),
    )


def rng_bit_generator(rng: random.Random) -> str:
    output = tensor(some_shape(rng, 0), "ui32")
    return case(
        "stablehlo.rng_bit_generator %a, algorithm = DEFAULT : (tensor<2xui64>) -> "
        f"(tensor<2xui64>, {output})",
        "tensor<2xui64>",
    )


# --- Collectives ---------------------------------------------------------------------------------

GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"


def all_gather(rng: random.Random) -> str:
    shape, count = some_shape(rng), rng.randint(1, 2)
    dim = rng.randrange(len(shape))
    result = tuple(size * (2 if at == dim else 1) for at, size in enumerate(shape))
    return case(
        f'%r:{count} = "stablehlo.all_gather"({", ".join(["%a"] * count)}) '
        f"<{{all_gather_dim = {dim} : i64, {GROUPS}}}> : "
        f"{types_of([shape] * count)} -> {types_of([result] * count)}",
        tensor(shape),
    )


def reduce_scatter(rng: random.Random) -> str:
    result = some_shape(rng)
    dim = rng.randrange(len(result))
    shape = tuple(size * (2 if at == dim else 1) for at, size in enumerate(result))
    return case(
        f'"stablehlo.reduce_scatter"(%a) <{{scatter_dimension = {dim} : i64, {GROUPS}}}> '
        f"{body_of('add')} : ({tensor(shape)}) -> {tensor(result)}",
        tensor(shape),
    )


def all_to_all(rng: random.Random) -> str:
    shape = some_shape(rng)
    split, concat = rng.randrange(len(shape)), rng.randrange(len(shape))
    sizes = list(shape)
    sizes[split] *= 2
    operand = tuple(sizes)
    sizes[split] //= 2
    sizes[concat] *= 2
    return case(
        f'"stablehlo.all_to_all"(%a) <{{split_dimension = {split} : i64, '
        f"concat_dimension = {concat} : i64, split_count = 2 : i64, {GROUPS}}}> : "
        f"({tensor(operand)}) -> {tensor(tuple(sizes))}",
        tensor(operand),
    )


# --- Custom calls --------------------------------------------------------------------------------


def custom_call(target: str, operands: Sequence[Shape], results: Sequence[Shape]) -> str:
    names = ", ".join(f"%{chr(ord('a') + at)}" for at in range(len(operands)))
    return case(
        f'%r:{len(results)} = stablehlo.custom_call @"{target}"({names}) : '
        f"{types_of(operands)} -> {types_of(results)}",
        *map(tensor, operands),
    )


def decomposition_call(rng: random.Random) -> str:
    batch, rows, columns = some_shape(rng, 0, 2), rng.choice((3, 5)), 3
    matrix, vector = (*batch, rows, columns), (*batch, columns)
    square = (*batch, columns, columns)
    calls = [
        ("Eigh", [square], [square, vector]),
        ("Qr", [matrix], [matrix, vector]),
        ("QrDecompositionBlock", [matrix], [matrix, vector]),
        ("ProductOfElementaryHouseholderReflectors", [matrix, vector], [matrix]),
    ]
    return custom_call(*rng.choice(calls))


def top_k_call(rng: random.Random) -> str:
    shape = some_shape(rng)
    result = (*shape[:-1], rng.randint(1, shape[-1]))
    calls = [
        ("mhlo.topk", [shape], [result, result]),
        ("ApproxTopK", [shape, shape, (), ()], [result, result]),
        ("PartialReduce", [shape, shape, (), ()], [result, result]),
        # Nothing verifies how many there are.
        ("mhlo.topk", [shape, shape], [result]),
        ("ApproxTopK", [shape], [result]),
        ("PartialReduce", [shape, shape, ()], [result, result]),
    ]
    return custom_call(*rng.choice(calls))


def combinations() -> Iterator[str]:
    yield case(
        "%r = stablehlo.custom_call @X64Combine(%a, %a) : (tensor<2xui32>, tensor<2xui32>) -> "
        "tensor<2xui64>\n  stablehlo.rng_bit_generator %r, algorithm = DEFAULT : (tensor<2xui64>) "
        "-> (tensor<2xui64>, tensor<4xui32>)",
        "tensor<2xui32>",
    )
    yield custom_call("X64Combine", [(4, 6), (4, 6)], [(4, 6)])


FAMILIES: tuple[Callable[[random.Random], str], ...] = (
    all_gather,
    all_to_all,
    batch_norm_inference,
    bitcast_convert,
    broadcast_in_dim,
    cholesky,
    concatenate,
    convolution,
    decomposition_call,
    dot_general,
    dynamic_slice,
    dynamic_update_slice,
    fft,
    gather,
    pad,
    reduce,
    reduce_scatter,
    reduce_window,
    reshape,
    reverse,
    rng_bit_generator,
    scatter,
    select_and_scatter,
    slice_,
    sort,
    top_k_call,
    transpose,
    triangular_solve,
)
"""What makes a random case of each family."""
