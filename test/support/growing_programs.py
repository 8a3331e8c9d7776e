# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that repeat one construct, to see how the time of each pass grows with its number.

Each function of `PROGRAMS` returns the text of a program with `count` of the construct.
"""

from collections.abc import Callable

T = "tensor<64x64xf32>"
HALF = "tensor<64x32xf32>"
BY_X = '#sdy.sharding<@mesh, [{"x"}, {}]>'
BY_Y = '#sdy.sharding<@mesh, [{}, {"y"}]>'
ARGUMENTS = f"%a: {T} {{sdy.sharding = {BY_X}}}, %w: {T} {{sdy.sharding = {BY_Y}}}, %p: tensor<i1>"

Step = Callable[[int, str, str], list[str]]
"""Returns the lines that compute the result (third argument) of a value (the second)."""


def _main(lines, result, *, arguments=ARGUMENTS, type_=T, others=()):
    return "\n".join(
        [
            'sdy.mesh @mesh = <["x"=4, "y"=2]>',
            f"func.func @main({arguments}) -> {type_} {{",
            *lines,
            f"return {result} : {type_}",
            "}",
            *others,
        ]
    )


def _chain(count, step: Step, **keywords):
    lines, value = [], "%a"
    for number in range(count):
        lines += step(number, value, f"%r{number}")
        value = f"%r{number}"
    return _main(lines, value, **keywords)


def _sum(lines, values):
    """Return the lines with a chain of additions of some values, and the total."""
    total = values[0]
    for number, value in enumerate(values[1:]):
        lines = [*lines, f"%total{number} = stablehlo.add {total}, {value} : {T}"]
        total = f"%total{number}"
    return lines, total


def _dot(result, left, right):
    return (
        f"{result} = stablehlo.dot_general {left}, {right}, contracting_dims = [1] x [0] "
        f": ({T}, {T}) -> {T}"
    )


def _tanh(result, operand, type_=T):
    return f"{result} = stablehlo.tanh {operand} : {type_}"


def _loop(count, body, returned, kept=T):
    """Return the lines of a loop over `%v` of one or more values."""
    types = ", ".join([kept] * count)
    initial = ", ".join(f"%v{number} = %a" for number in range(count))
    return [
        "%start = stablehlo.constant dense<0> : tensor<i32>",
        "%end = stablehlo.constant dense<3> : tensor<i32>",
        "%one = stablehlo.constant dense<1> : tensor<i32>",
        f"%loop:{count + 1} = stablehlo.while(%i = %start, {initial}) : tensor<i32>, {types}",
        "cond {",
        "%less = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        "stablehlo.return %less : tensor<i1>",
        "} do {",
        "%next = stablehlo.add %i, %one : tensor<i32>",
        *body,
        f"stablehlo.return %next, {', '.join(returned)} : tensor<i32>, {types}",
        "}",
    ]


# --- Functions and regions ----------------------------------------------------------------------


def _constraint(result, operand, number):
    """Return the constraint of a value to shards along `x` or, if the number is odd, `y`."""
    axis = "xy"[number % 2]
    return f'{result} = sdy.sharding_constraint {operand} <@mesh, [{{"{axis}"}}, {{}}]> : {T}'


LAYER = "\n".join([_dot("%0", "%x", "%v"), *(_tanh(f"%{n + 1}", f"%{n}") for n in range(5))])
"""The operations of a function of `%x` and `%v`, which returns `%5`."""


def functions(count):
    others = [
        f"func.func private @f{number}(%x: {T}, %v: {T}) -> {T} attributes {{no_inline}} {{\n"
        f"{LAYER}\nreturn %5 : {T}\n}}"
        for number in range(count)
    ]
    return _chain(
        count,
        lambda number, value, result: [
            f"{result} = call @f{number}({value}, %w) : ({T}, {T}) -> {T}"
        ],
        others=others,
    )


def calls(count):
    return _chain(
        count,
        lambda number, value, result: [
            _constraint(f"%k{number}", value, number),
            f"{result} = call @f(%k{number}, %w) : ({T}, {T}) -> {T}",
        ],
        others=[f"func.func private @f(%x: {T}, %v: {T}) -> {T} {{\n{LAYER}\nreturn %5 : {T}\n}}"],
    )


def loops(count):
    def step(number, value, result):
        lines = "\n".join(_loop(1, [_dot("%d", "%v0", "%w")], ["%d"]))
        for name in ("%start", "%end", "%one", "%loop"):
            lines = lines.replace(name, f"{name}{number}")
        return [lines.replace("%v0 = %a", f"%v0 = {value}"), _tanh(result, f"%loop{number}#1")]

    return _chain(count, step)


def wide_loop(count):
    body = [_dot(f"%d{number}", f"%v{number}", "%w") for number in range(count)]
    lines = _loop(count, body, [f"%d{number}" for number in range(count)])
    return _main(*_sum(lines, [f"%loop#{number + 1}" for number in range(count)]))


def loop_invariants(count):
    lines = [_tanh(f"%u{number}", "%w") for number in range(count)]
    body, value = [], "%v0"
    for number in range(count):
        body.append(_dot(f"%d{number}", value, f"%u{number}"))
        value = f"%d{number}"
    return _main([*lines, *_loop(1, body, [value])], "%loop#1")


def branches(count):
    return _chain(
        count,
        lambda _, value, result: [
            f'{result} = "stablehlo.if"(%p) ({{',
            _dot("%d", value, "%w"),
            f"stablehlo.return %d : {T}",
            "}, {",
            _tanh("%d", value),
            f"stablehlo.return %d : {T}",
            f"}}) : (tensor<i1>) -> {T}",
        ],
    )


def cases(count):
    branch = f"{{\n{_dot('%d', '%a', '%w')}\nstablehlo.return %d : {T}\n}}"
    lines = [
        "%i = stablehlo.constant dense<1> : tensor<i32>",
        f'%r = "stablehlo.case"(%i) ({", ".join([branch] * count)}) : (tensor<i32>) -> {T}',
    ]
    return _main(lines, "%r")


def manual_computations(count):
    return _chain(
        count,
        lambda _, value, result: [
            f'{result} = sdy.manual_computation({value}) in_shardings=[<@mesh, [{{"x"}}, {{}}]>] '
            'out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%m: tensor<16x64xf32>) {',
            _tanh("%t", "%m", "tensor<16x64xf32>"),
            f"sdy.return %t : tensor<16x64xf32>\n}} : ({T}) -> {T}",
        ],
    )


def wide_manual_computation(count):
    types, local = ", ".join([T] * count), ", ".join(["tensor<16x64xf32>"] * count)
    shardings = ", ".join(['<@mesh, [{"x"}, {}]>'] * count)
    numbers = range(count)
    lines = [
        *(_tanh(f"%u{number}", "%a") for number in numbers),
        f"%q:{count} = sdy.manual_computation({', '.join(f'%u{number}' for number in numbers)}) "
        f'in_shardings=[{shardings}] out_shardings=[{shardings}] manual_axes={{"x"}} '
        f"({', '.join(f'%m{number}: tensor<16x64xf32>' for number in numbers)}) {{",
        *(_tanh(f"%t{number}", f"%m{number}", "tensor<16x64xf32>") for number in numbers),
        f"sdy.return {', '.join(f'%t{number}' for number in numbers)} : {local}",
        f"}} : ({types}) -> ({types})",
    ]
    return _main(*_sum(lines, [f"%q#{number}" for number in numbers]))


def named_computations(count):
    return _chain(
        count,
        lambda number, value, result: [
            f'{result} = sdy.named_computation<"f{number}">({value}) (%m: {T}) {{',
            _tanh("%t", "%m"),
            f"sdy.return %t : {T}\n}} : ({T}) -> {T}",
        ],
    )


# --- Values -------------------------------------------------------------------------------------


def arguments(count):
    given = ", ".join(
        f"%a{number}: {T} {{sdy.sharding = {BY_X}, tf.aliasing_output = {number} : i32}}"
        for number in range(count)
    )
    results = ", ".join(f"%r{number}" for number in range(count))
    types = ", ".join([T] * count)
    lines = [_tanh(f"%r{number}", f"%a{number}") for number in range(count)]
    text = _main([*lines, f"return {results} : {types}"], "", arguments=given, type_=f"({types})")
    return text.replace(f"return  : ({types})\n", "")


def constants(count):
    return _chain(
        count,
        lambda number, value, result: [
            f"%c{number} = stablehlo.constant dense<{number}.0> : {T}",
            f"%t{number} = stablehlo.add {value}, %c{number} : {T}",
            f"{result} = stablehlo.multiply %t{number}, %c{max(0, number - 3)} : {T}",
        ],
    )


def uses_of_a_constant(count):
    text = _chain(count, lambda _, value, result: [f"{result} = stablehlo.add {value}, %c : {T}"])
    return text.replace("{\n%r0", f"{{\n%c = stablehlo.constant dense<1.0> : {T}\n%r0")


def scalars(count):
    text = _chain(
        count,
        lambda number, value, result: [
            f"%c{number + 1} = stablehlo.add %c{number}, %c0 : tensor<f32>",
            f"%b{number} = stablehlo.broadcast_in_dim %c{number + 1}, dims = [] "
            f": (tensor<f32>) -> {T}",
            f"{result} = stablehlo.add {value}, %b{number} : {T}",
        ],
    )
    return text.replace("{\n%c1", "{\n%c0 = stablehlo.constant dense<1.0> : tensor<f32>\n%c1")


def barrier(count):
    numbers = range(count)
    lines = [
        *(_tanh(f"%u{number}", "%a") for number in numbers),
        f"%q:{count} = stablehlo.optimization_barrier "
        f"{', '.join(f'%u{number}' for number in numbers)} : {', '.join([T] * count)}",
    ]
    return _main(*_sum(lines, [f"%q#{number}" for number in numbers]))


def groups(count):
    return _chain(
        count,
        lambda number, value, result: [
            _tanh(result, value),
            f"sdy.sharding_group {result} group_id={number // 3} : {T}",
        ],
    )


def constraints(count):
    return _chain(
        count,
        lambda number, value, result: [
            _tanh(f"%t{number}", value),
            _constraint(result, f"%t{number}", number),
        ],
    )


def propagation_barriers(count):
    return _chain(
        count,
        lambda number, value, result: [
            _tanh(f"%t{number}", value),
            f"{result} = sdy.propagation_barrier %t{number} allowed_direction=FORWARD : {T}",
        ],
    )


# --- Sums and reshards --------------------------------------------------------------------------


def _partial_sums(count):
    lines = []
    for number in range(count):
        lines += [_tanh(f"%u{number}", "%w"), _dot(f"%d{number}", f"%u{number}", "%a")]
    return lines, [f"%d{number}" for number in range(count)]


def chain_of_sums(count):
    return _main(*_sum(*_partial_sums(count)))


def tree_of_sums(count):
    lines, values = _partial_sums(count)
    number = 0
    while len(values) > 1:
        pairs = list(zip(values[::2], values[1::2], strict=False))
        rest = values[len(pairs) * 2 :]
        values = []
        for first, second in pairs:
            lines.append(f"%s{number} = stablehlo.add {first}, {second} : {T}")
            values.append(f"%s{number}")
            number += 1
        values += rest
    return _main(lines, values[0])


def concatenated_sums(count):
    lines, values = _partial_sums(count)
    whole = f"tensor<{64 * count}x64xf32>"
    lines.append(
        f"%z = stablehlo.concatenate {', '.join(values)}, dim = 0 "
        f": ({', '.join([T] * count)}) -> {whole}"
    )
    return _main(lines, "%z", type_=whole)


def reshards_into_a_region(count):
    return _chain(
        count,
        lambda number, value, result: [
            f"%t{number} = stablehlo.transpose %w, dims = [1, 0] : ({T}) -> {T}",
            f"%m{number} = stablehlo.multiply %t{number}, {value} : {T}",
            f"{result} = stablehlo.add %m{number}, {value} : {T}",
        ],
    )


def reshards_out_of_a_region(count):
    lines, values = [_tanh("%r0", "%a")], []
    for number in range(count):
        lines += [
            _tanh(f"%r{number + 1}", f"%r{number}"),
            f'%k{number} = sdy.sharding_constraint %r{number + 1} <@mesh, [{{}}, {{"x"}}]> : {T}',
            f"%t{number} = stablehlo.transpose %k{number}, dims = [1, 0] : ({T}) -> {T}",
        ]
        values.append(f"%t{number}")
    return _main(*_sum(lines, values))


def softmaxes(count):
    return _chain(
        count,
        lambda number, value, result: [
            f"%z{number} = stablehlo.constant dense<0.0> : tensor<f32>",
            f"%e{number} = stablehlo.exponential {value} : {T}",
            f"%s{number} = stablehlo.reduce(%e{number} init: %z{number}) applies stablehlo.add "
            f"across dimensions = [1] : ({T}, tensor<f32>) -> tensor<64xf32>",
            f"%b{number} = stablehlo.broadcast_in_dim %s{number}, dims = [0] "
            f": (tensor<64xf32>) -> {T}",
            f"%q{number} = stablehlo.divide %e{number}, %b{number} : {T}",
            _dot(result, f"%q{number}", "%w"),
        ],
    )


# --- Data movement ------------------------------------------------------------------------------


def concatenation(count):
    lines = [_tanh(f"%r{number}", "%a") for number in range(count)]
    whole = f"tensor<{64 * count}x64xf32>"
    lines.append(
        f"%z = stablehlo.concatenate {', '.join(f'%r{number}' for number in range(count))}, "
        f"dim = 0 : ({', '.join([T] * count)}) -> {whole}"
    )
    return _main(lines, "%z", type_=whole)


def rotations(count):
    return _chain(
        count,
        lambda number, value, result: [
            f"%s{number} = stablehlo.slice {value} [0:64, 0:32] : ({T}) -> {HALF}",
            f"%t{number} = stablehlo.slice {value} [0:64, 32:64] : ({T}) -> {HALF}",
            f"%q{number} = stablehlo.concatenate %t{number}, %s{number}, dim = 1 "
            f": ({HALF}, {HALF}) -> {T}",
            _dot(result, f"%q{number}", "%w"),
        ],
    )


def shifts(count):
    return _chain(
        count,
        lambda number, value, result: [
            f"%s{number} = stablehlo.slice {value} [1:64, 0:64] : ({T}) -> tensor<63x64xf32>",
            f"%z{number} = stablehlo.constant dense<0.0> : tensor<f32>",
            f"%q{number} = stablehlo.pad %s{number}, %z{number}, low = [0, 0], high = [1, 0], "
            f"interior = [0, 0] : (tensor<63x64xf32>, tensor<f32>) -> {T}",
            f"{result} = stablehlo.add {value}, %q{number} : {T}",
        ],
    )


def reshapes(count):
    split = "tensor<8x8x64xf32>"
    return _chain(
        count,
        lambda number, value, result: [
            f"%s{number} = stablehlo.reshape {value} : ({T}) -> {split}",
            f"%t{number} = stablehlo.transpose %s{number}, dims = [1, 0, 2] : ({split}) -> {split}",
            f"{result} = stablehlo.reshape %t{number} : ({split}) -> {T}",
        ],
    )


def gathers(count):
    return _chain(
        count,
        lambda number, value, result: [
            f"%o{number} = stablehlo.iota dim = 0 : tensor<64x1xi32>",
            f'%g{number} = "stablehlo.gather"({value}, %o{number}) <{{dimension_numbers = '
            "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
            "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> "
            f": ({T}, tensor<64x1xi32>) -> {T}",
            _tanh(result, f"%g{number}"),
        ],
    )


def updates(count):
    row = "tensor<1x64xf32>"
    return _chain(
        count,
        lambda number, value, result: [
            f"%o{number} = stablehlo.constant dense<{number % 60}> : tensor<i32>",
            f"%s{number} = stablehlo.dynamic_slice {value}, %o{number}, %o{number}, "
            f"sizes = [1, 64] : ({T}, tensor<i32>, tensor<i32>) -> {row}",
            _tanh(f"%t{number}", f"%s{number}", row),
            f"{result} = stablehlo.dynamic_update_slice {value}, %t{number}, %o{number}, "
            f"%o{number} : ({T}, {row}, tensor<i32>, tensor<i32>) -> {T}",
        ],
    )


def convolutions(count):
    image, kernel = "tensor<8x16x16x4xf32>", "tensor<3x3x4x4xf32>"
    given = '#sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>'
    return _chain(
        count,
        lambda _, value, result: [
            f"{result} = stablehlo.convolution({value}, %w) "
            "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
            "window = {pad = [[1, 1], [1, 1]]} "
            "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
            f": ({image}, {kernel}) -> {image}"
        ],
        arguments=f"%a: {image} {{sdy.sharding = {given}}}, %w: {kernel}",
        type_=image,
    )


def uneven_products(count):
    uneven = "tensor<63x61xf32>"
    return _chain(
        count,
        lambda number, value, result: [
            f"%d{number} = stablehlo.dot_general {value}, %w, contracting_dims = [1] x [0] "
            f": ({uneven}, tensor<61x61xf32>) -> {uneven}",
            f'%k{number} = sdy.sharding_constraint %d{number} <@mesh, [{{"x"}}, {{}}]> : {uneven}',
            _tanh(result, f"%k{number}", uneven),
        ],
        arguments=f"%a: {uneven}, %w: tensor<61x61xf32>",
        type_=uneven,
    )


def reshards_of_functions_of_a_value(count):
    lines = []
    for number in range(count):
        lines.append(_tanh(f"%t{number}", "%w"))
        constraint = f'%t{number} <@mesh, [{{"y"}}, {{}}]> : {T}'
        lines.append(f"%c{number} = sdy.sharding_constraint {constraint}")
        lines.append(_dot(f"%d{number}", f"%c{number}", "%a"))
    return _main(*_sum(lines, [f"%d{number}" for number in range(count)]))


PROGRAMS = (
    *(functions, calls, loops, wide_loop, loop_invariants, branches, cases, manual_computations),
    *(wide_manual_computation, named_computations, arguments, constants, uses_of_a_constant),
    *(scalars, barrier, groups, constraints, propagation_barriers, chain_of_sums, tree_of_sums),
    *(concatenated_sums, reshards_into_a_region, reshards_out_of_a_region, softmaxes),
    *(concatenation, rotations, shifts, reshapes, gathers, updates, convolutions, uneven_products),
    reshards_of_functions_of_a_value,
)
