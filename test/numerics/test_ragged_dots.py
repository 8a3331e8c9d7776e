# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows, with groups, rows and all other dimensions sharded."""

import math
import random

import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy
from pyshardy.backends.arrays.comparison import compare
from pyshardy.irtools.ragged_dots import expand_ragged_dots
from pyshardy.program import run_unpartitioned

MESHES = ({"x": 2, "y": 2}, {"x": 4}, {"x": 2, "y": 3}, {"x": 3}, {"x": 2, "y": 2, "z": 2})

SIZES = 20_000

# For each form the dimension numbers, and the dimensions of operands and result: g are groups, m is
# the ragged dimension, b and c are batches.
FORMS = {
    "rows": ("[]", "[]", "[1]", "[1]", "[0]", "[0]", "mk gkn g mn"),
    "rows_transposed": ("[]", "[]", "[0]", "[2]", "[1]", "[1]", "km ngk g mn"),
    "batches": ("[0]", "[1]", "[2]", "[2]", "[1]", "[0]", "bmk gbkn g bmn"),
    "sizes_by_batch": ("[0]", "[1]", "[2]", "[2]", "[1]", "[0]", "bmk gbkn bg bmn"),
    "sizes_by_row": ("[]", "[]", "[2]", "[1]", "[1]", "[0]", "bmk gkn bg bmn"),
    "sizes_by_both": ("[1]", "[1]", "[3]", "[2]", "[2]", "[0]", "cbmk gbkn bcg bcmn"),
    "contracting": ("[]", "[]", "[0]", "[0]", "[0]", "[]", "mk mn g gkn"),
    "contracting_batches": ("[1]", "[0]", "[0]", "[2]", "[0]", "[]", "mbk bnm bg gbkn"),
    "contracting_by_row": ("[]", "[]", "[0, 2]", "[1, 0]", "[2]", "[]", "bkm mbn bg gkn"),
    "batch": ("[0]", "[0]", "[2]", "[1]", "[0]", "[]", "mbk mkn g mbn"),
}


def sharding(rng, rank, axes):
    """A random sharding of a tensor, as text."""
    dims = [[] for _ in range(rank)]
    for axis in rng.sample(axes, rng.randint(0, len(axes))):
        rng.choice(dims).append(f'"{axis}"')
    return f"<@mesh, [{', '.join('{' + ', '.join(dim) + '}' for dim in dims)}]>"


def program(rng, form, *, even=False):
    """The text of a product with random shapes and shardings, and its inputs."""
    *numbers, dims = FORMS[form]
    names = "lhs_batching rhs_batching lhs_contracting rhs_contracting lhs_ragged rhs_group"
    attribute = ", ".join(
        f"{name}_dimensions = {value}" for name, value in zip(names.split(), numbers, strict=True)
    )
    mesh = rng.choice(MESHES)
    sizes = {letter: rng.choice([2, 4, 4, 5, 6]) for letter in "bcgkn"} | {"m": rng.randint(4, 12)}
    if even:
        devices = math.prod(mesh.values())
        sizes = {letter: rng.choice([1, 2]) * devices for letter in "bcg"}
        sizes |= {letter: rng.choice([8, 32]) * devices for letter in "kmn"}
    shapes = [[sizes[letter] for letter in each] for each in dims.split()]
    kinds = ["f32", "f32", rng.choice(["i32", "i64", "ui32"]), "f32"]
    types = [
        f"tensor<{'x'.join(map(str, shape))}x{kind}>"
        for shape, kind in zip(shapes, kinds, strict=True)
    ]
    annotated = [
        f"{{sdy.sharding = #sdy.sharding{sharding(rng, len(shape), list(mesh))}}}"
        for shape in shapes
    ]
    arguments = ", ".join(
        f"%{at}: {types[at]} {annotated[at] if at < 2 or rng.random() < 0.3 else ''}"
        for at in range(3)
    )
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.items())
    text = f"""
        sdy.mesh @mesh = <[{axes}]>
        func.func @main({arguments}) -> ({types[3]} {annotated[3] if rng.random() < 0.6 else ""}) {{
          %r = "chlo.ragged_dot"(%0, %1, %2)
              <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{attribute}>}}>
              : ({", ".join(types[:3])}) -> {types[3]}
          return %r : {types[3]}
        }}
    """
    generator = np.random.default_rng(rng.randrange(1000))
    *outer, groups = shapes[2]
    ends = np.sort(generator.integers(0, sizes["m"] + 1, (*outer, groups)), axis=-1)
    lengths = np.diff(ends, axis=-1, prepend=0).astype({"i": "i4", "u": "u4"}[kinds[2][0]])
    lengths = lengths.astype("i8") if kinds[2] == "i64" else lengths
    operands = [generator.integers(-4, 5, shape).astype("f4") for shape in shapes[:2]]
    return text, [*operands, lengths]


def sent(module):
    sdy.propagate(module)
    program = sdy.partition(module)
    return program, sum(each.nbytes_sent for each in program.collectives)


@pytest.mark.parametrize("seed", range(cases(2)))
@pytest.mark.parametrize("form", FORMS)
def test_numbers(context, form, seed):
    text, inputs = program(random.Random(f"{form}{seed}"), form)
    (expected,) = run_unpartitioned(sdy.parse(text, context), inputs, "jit")
    partitioned, _ = sent(sdy.parse(text, context))
    (found,) = partitioned.run(inputs, "jit")
    assert compare(found, expected, partitioned.outputs[0].spec).is_small


@pytest.mark.parametrize("seed", range(cases(2)))
@pytest.mark.parametrize("form", FORMS)
def test_bytes_of_expanded_products(context, form, seed):
    text, _ = program(random.Random(f"{form}{seed}"), form, even=True)
    _, nbytes = sent(sdy.parse(text, context))
    expanded = sdy.parse(text, context)
    expand_ragged_dots(expanded)
    # Devices gather the sizes of groups, if they are sharded.
    assert nbytes <= 1.01 * sent(expanded)[1] + SIZES
