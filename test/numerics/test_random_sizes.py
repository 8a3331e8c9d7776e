# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with a dynamic size: one program for a capacity, whose padding isn't read."""

import numpy as np
import pytest
from case_counts import cases
from programs import ProgramWriter, random_module

import pyshardy as sdy
from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import ParseError, PassError, UsageError, collect
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.frontends.torch.several_sizes import dynamic_program
from pyshardy.program import run_unpartitioned
from pyshardy.sizes.signature import is_dynamic
from pyshardy.sizes.size import Size

MESHES = tuple(
    Mesh(tuple(map(MeshAxis, "abc", sizes)), devices)
    for sizes, devices in [
        ((2, 2), ()),
        ((4,), ()),
        ((3, 2, 2), ()),
        ((2, 3), (4, 2, 0, 5, 1, 3)),
    ]
)


def text_of(seed, size):
    class Writer(ProgramWriter):
        sizes = (3, 5, 6, size, 10)
        unary_operations = ("negate", "abs", "floor")
        binary_operations = ("add", "multiply", "maximum", "subtract")

    return random_module(seed, meshes=MESHES, writer_class=Writer)


def filled(array, shape):
    """Return an array with padding that isn't to be read."""
    padding = {"f": np.nan, "i": -99}.get(array.dtype.kind, 1)
    full = np.full(shape, padding, array.dtype)
    full[tuple(map(slice, array.shape))] = array
    return full


# Seeds whose program has the size in an argument, and no operation that depends on padding.
SEEDS = [0, 2, 4, 16, 18, 21, 43, 49, 54, 66, 69, 73]


@pytest.mark.parametrize("seed", [*SEEDS, *range(1000, 1000 + cases(100) - 100)])
def test_programs_for_a_capacity(seed):
    context = sdy.Context()
    try:
        with collect():
            instances = [({"b": n}, parse(text_of(seed, n), context)) for n in (7, 11, 13, 17)]
            module = dynamic_program(instances, [Size.symbol("b")])
            if not is_dynamic(module):
                return
            sdy.propagate(module)
            program = sdy.partition(module, buckets={"b": [16]})
    except (ParseError, PassError, UsageError):
        assert seed not in SEEDS  # others may depend on the size in another way
        return
    for size in (7, 12):
        random = np.random.default_rng(seed)
        specs = program.input_specs(b=size)
        inputs = [random.integers(-3, 4, each.shape).astype(each.dtype) for each in specs]
        made = program.at(b=size)
        padded = [
            filled(each, port.spec.shape) for each, port in zip(inputs, made.inputs, strict=False)
        ]
        scalars = [np.array(size, np.int32)] * (len(made.inputs) - len(inputs))
        found = made.run([*padded, *scalars])
        expected = run_unpartitioned(parse(text_of(seed, size), context), inputs, "interpreter")
        for one, other, cut in zip(expected, found, program.run(inputs), strict=True):
            np.testing.assert_array_equal(other[tuple(map(slice, one.shape))], one)
            np.testing.assert_array_equal(cut, one)
