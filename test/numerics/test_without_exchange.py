# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What needs no data of other shards is converted by itself, and sends nothing."""

import itertools
import math
import random
from dataclasses import dataclass

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.traversal import operations_in
from pyshardy.backends.arrays.comparison import compare
from pyshardy.program import run_unpartitioned

KINDS = ("slice", "pad", "reduce_window", "select_and_scatter")
PIECES = {"": 1, '"x"': 2, '"y"': 3, '"z"': 4, '"z":(1)2': 2, '"x", "y"': 6}
PROGRAMS = 24
"""Programs of each kind that need no communication."""


@dataclass
class Dim:
    """How an operation works along one dimension.

    Attributes:
        size: the size of the operand.
        count: the size of the result, or of the source that is scattered.
        needs: the elements of the operand that each element of the result needs, or, for a
            scatter, the windows that each source element belongs to.
        numbers: what is written into attributes.
    """

    size: int
    count: int
    needs: list
    numbers: dict

    def is_local(self, pieces):
        """Whether each shard has what it needs."""
        if self.size % pieces or self.count % pieces:
            return False
        of_operand, of_result = self.size // pieces, self.count // pieces
        return all(
            element // of_operand == index // of_result
            for index, elements in enumerate(self.needs)
            for element in elements
        )


def random_dim(kind, rng):
    """A dimension, of which most can be sharded without communication in some way."""
    size = rng.choice([1, 2, 3, 4, 6, 8, 12, 16, 24])
    if kind == "slice":
        start, stride = rng.choice([0, 0, 1, 2, 3]), rng.choice([1, 2, 2, 3, 4])
        limit = size - rng.choice([0, 0, 0, 1, 2])
        needs = [[at] for at in range(start, limit, stride)]
        return Dim(size, len(needs), needs, {"start": start, "limit": limit, "stride": stride})
    if kind == "pad":
        low, high, between = rng.randint(-3, 4), rng.randint(-3, 4), rng.choice([0, 0, 1, 2, 3])
        count = low + high + size + between * (size - 1)
        places = {element * (between + 1) + low: element for element in range(size)}
        needs = [[places[at]] if at in places else [] for at in range(count)]
        return Dim(size, count, needs, {"low": low, "high": high, "interior": between})
    window, dilation = rng.choice([1, 2, 2, 3]), rng.choice([1, 1, 2])
    base = rng.choice([1, 1, 1, 2]) if kind == "reduce_window" else 1
    dilation = dilation if kind == "reduce_window" else 1
    reach = (window - 1) * dilation + 1
    stride = reach + rng.choice([0, 0, 1, 2, 4])
    low, high = rng.choice([0, 0, 0, 1, -1]), rng.choice([0, 0, 0, 1, -1])
    length = low + high + (size - 1) * base + 1
    count = (length - reach) // stride + 1 if length >= reach else 0
    needs = [
        [
            at // base
            for at in range(number * stride - low, number * stride - low + reach, dilation)
            if at % base == 0 and 0 <= at < (size - 1) * base + 1
        ]
        for number in range(count)
    ]
    if kind == "select_and_scatter" and not all(needs):
        count = 0  # what a window of padding alone selects is not defined
    numbers = {"window": window, "stride": stride, "dilation": dilation, "base": base}
    numbers["padding"] = [low, high]
    return Dim(size, count, needs, numbers)


def of_dims(dims, name):
    return ", ".join(str(dim.numbers[name]) for dim in dims)


def operation(kind, dims, rng):
    """An operation on `%a` and, if it scatters, on `%b`."""
    if kind == "slice":
        ranges = ", ".join("{start}:{limit}:{stride}".format(**dim.numbers) for dim in dims)
        return f"stablehlo.slice %a [{ranges}] SHARDING : (OPERAND) -> RESULT"
    if kind == "pad":
        amounts = ", ".join(
            f"{name} = [{of_dims(dims, name)}]" for name in ("low", "high", "interior")
        )
        return f"stablehlo.pad %a, %i, {amounts} SHARDING : (OPERAND, tensor<f32>) -> RESULT"
    attributes = (
        f"window_dimensions = array<i64: {of_dims(dims, 'window')}>, "
        f"window_strides = array<i64: {of_dims(dims, 'stride')}>, "
        f"padding = dense<[{of_dims(dims, 'padding')}]> : tensor<{len(dims)}x2xi64>"
    )
    combine = rng.choice(["add", "maximum", "multiply"])
    body = f"""({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %u = stablehlo.{combine} %p, %q : tensor<f32>
        stablehlo.return %u : tensor<f32>
      }}"""
    if kind == "reduce_window":
        return f"""
          "stablehlo.reduce_window"(%a, %i) {body}) {{{attributes},
            window_dilations = array<i64: {of_dims(dims, "dilation")}>,
            base_dilations = array<i64: {of_dims(dims, "base")}>, ATTRIBUTE}}
            : (OPERAND, tensor<f32>) -> RESULT"""
    direction = rng.choice(["GE", "LT"])
    return f"""
      "stablehlo.select_and_scatter"(%a, %b, %i) ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %u = stablehlo.compare {direction}, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %u : tensor<i1>
      }}, {body[1:]}) {{{attributes}, ATTRIBUTE}} : (OPERAND, SOURCE, tensor<f32>) -> OPERAND"""


def program(kind, dims, axes, rng):
    """A function that returns what an operation makes of its arguments."""
    sharding = "[" + ", ".join(f"{{{each}}}" for each in axes) + "]"
    operand, counts = (
        "x".join([*map(str, sizes), "f32"])
        for sizes in ([dim.size for dim in dims], [dim.count for dim in dims])
    )
    per_value = f"#sdy.sharding_per_value<[<@mesh, {sharding}>]>"
    result = operand if kind == "select_and_scatter" else counts
    sharded = f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}"
    written = (
        operation(kind, dims, rng)
        .replace("SHARDING", f"{{sdy.sharding = {per_value}}}")
        .replace("ATTRIBUTE", f"sdy.sharding = {per_value}")
        .replace("OPERAND", f"tensor<{operand}>")
        .replace("SOURCE", f"tensor<{counts}>")
        .replace("RESULT", f"tensor<{counts}>")
    )
    return f"""
      sdy.mesh @mesh = <["x"=2, "y"=3, "z"=4]>
      func.func @main(%a: tensor<{operand}> {sharded}, %b: tensor<{counts}> {sharded})
          -> (tensor<{result}> {sharded}) {{
        %i = stablehlo.constant dense<{rng.choice(["0.0", "-5.0", "3.0"])}> : tensor<f32>
        %r = {written}
        return %r : tensor<{result}>
      }}"""


def mesh_axes(axes):
    return {letter for letter in axes if letter in "xyz"}


def random_axes(dims, rng):
    """Axes under which nothing has to be sent; None if there are none but the trivial ones."""
    used, chosen = set(), []
    for dim in dims:
        possible = [
            axes
            for axes, pieces in PIECES.items()
            if pieces > 1 and dim.is_local(pieces) and not mesh_axes(axes) & used
        ]
        chosen.append(rng.choice(possible) if possible else "")
        used |= mesh_axes(chosen[-1])
    return chosen if any(chosen) else None


def local_programs(kind, rng):
    """Dimensions and axes of programs that need no communication."""
    found = 0
    while found < PROGRAMS:
        dims = [random_dim(kind, rng) for _ in range(rng.choice([1, 2, 2]))]
        if all(0 < dim.count <= 64 for dim in dims):
            axes = random_axes(dims, rng)
            if axes is not None:
                found += 1
                yield dims, axes


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_sent(context, kind):
    rng = random.Random(kind)
    for dims, axes in local_programs(kind, rng):
        text = program(kind, dims, axes, rng)
        alone = sdy.parse(text, context)
        sdy.run_pipeline(alone, "sdy-convert-global-to-local")
        names = [each.name for each in operations_in(alone.operation)]
        for first, second in itertools.pairwise(names):
            assert (first, second) != ("stablehlo.slice", "stablehlo.slice"), sdy.asm(alone)
        for exchanges in (True, False):
            module = sdy.parse(text, context)
            made = sdy.partition(module, enable_halo_exchange=exchanges)
            assert not made.collectives, text
            assert made.module.operation.verify()
        generator = np.random.default_rng(0)
        inputs = [
            generator.permutation(math.prod(port.spec.shape) or 1)
            .reshape(port.spec.shape)
            .astype(port.spec.dtype)
            - 7
            for port in made.inputs
        ]
        expected = run_unpartitioned(module, inputs, "interpreter")
        for port, result, wanted in zip(made.outputs, made.run(inputs), expected, strict=True):
            assert compare(result, wanted, port.spec).is_small, text


WINDOWS = {"window": 2, "stride": 4, "dilation": 1, "base": 1, "padding": [-1, 0]}
SAME_ON_SHARDS = {
    "slice": Dim(16, 4, [], {"start": 1, "limit": 14, "stride": 4}),
    "pad": Dim(8, 16, [], {"low": 1, "high": 0, "interior": 1}),
    "reduce_window": Dim(16, 4, [], WINDOWS),
    "select_and_scatter": Dim(16, 4, [], WINDOWS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_one_operation_suffices(context, kind):
    """Where all shards do the same, they do it by one operation."""
    text = program(kind, [SAME_ON_SHARDS[kind]], ['"z"'], random.Random(0))
    module = sdy.parse(text, context)
    sdy.run_pipeline(module, "sdy-convert-global-to-local")
    function = module.body.operations[1].regions[0].blocks[0]
    names = [view.operation.name for view in function.operations]
    assert [name for name in names if name != "stablehlo.constant"] == [
        f"stablehlo.{kind}",
        "func.return",
    ]
