# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partial results are added to each other first and completed then, with the same numbers."""

import random

import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

ROWS, COLUMNS, DEPTH = 4, 6, 8
T = f"tensor<{ROWS}x{COLUMNS}xf32>"
INDEX = "tensor<i32>"
PIPELINE = "sdy-partition-pipeline"
TRANSPOSED = f"tensor<{COLUMNS}x{ROWS}xf32>"
HEAD = f"""
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<{ROWS}x{DEPTH}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"y"}}]>}},
                %b: tensor<{DEPTH}x{COLUMNS}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}},
                %c: {T}) -> (%RESULTS%) {{
"""  # noqa: E501
DOT = "stablehlo.dot_general %p, %b, contracting_dims = [1] x [0] : " + (
    f"(tensor<{ROWS}x{DEPTH}xf32>, tensor<{DEPTH}x{COLUMNS}xf32>) -> {T}"
)


class Text:
    """Lines of a program, with names for its values."""

    def __init__(self, rng):
        self.rng, self.lines, self.count, self.is_linear = rng, [], 0, True

    def add(self, operation):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {operation}")
        return f"%v{self.count}"

    def product(self):
        """A product that devices have parts of."""
        scale = self.add(
            f"stablehlo.constant dense<{self.rng.uniform(0.5, 2):.3f}> : tensor<{ROWS}x{DEPTH}xf32>"
        )
        scaled = self.add(f"stablehlo.multiply %a, {scale} : tensor<{ROWS}x{DEPTH}xf32>")
        return self.add(DOT.replace("%p", scaled))

    def linear(self, value):
        """An operation that is linear in a value of type T, or two that undo each other's shape."""
        kind = self.rng.randrange(9)
        if kind == 0:
            return self.add(f"stablehlo.negate {value} : {T}")
        if kind == 1:
            return self.add(f"stablehlo.multiply {value}, %c : {T}")
        if kind == 2:
            turned = self.add(f"stablehlo.transpose {value}, dims = [1, 0] : ({T}) -> {TRANSPOSED}")
            doubled = self.add(f"stablehlo.negate {turned} : {TRANSPOSED}")
            return self.add(f"stablehlo.transpose {doubled}, dims = [1, 0] : ({TRANSPOSED}) -> {T}")
        if kind == 3:
            flat = self.add(f"stablehlo.reshape {value} : ({T}) -> tensor<{ROWS * COLUMNS}xf32>")
            return self.add(f"stablehlo.reshape {flat} : (tensor<{ROWS * COLUMNS}xf32>) -> {T}")
        if kind == 4:
            self.is_linear = False  # rounds
            wide = self.add(f"stablehlo.convert {value} : ({T}) -> {T.replace('f32', 'f64')}")
            return self.add(f"stablehlo.convert {wide} : ({T.replace('f32', 'f64')}) -> {T}")
        if kind == 5:
            padding = self.rng.choice(["0.0", "1.0"])
            self.is_linear &= padding == "0.0"
            zero = self.add(f"stablehlo.constant dense<{padding}> : tensor<f32>")
            small = f"tensor<{ROWS - 1}x{COLUMNS}xf32>"
            part = self.add(f"stablehlo.slice {value} [1:{ROWS}, 0:{COLUMNS}] : ({T}) -> {small}")
            return self.add(
                f"stablehlo.pad {part}, {zero}, low = [1, 0], high = [0, 0], "
                f"interior = [0, 0] : ({small}, tensor<f32>) -> {T}"
            )
        if kind in (6, 7):  # a sum along a new dimension, beginning with zero or not
            start = self.rng.choice(["0.0", "0.0", "1.0"])
            self.is_linear &= start == "0.0"
            zero = self.add(f"stablehlo.constant dense<{start}> : tensor<f32>")
            deep = f"tensor<{ROWS}x2x{COLUMNS}xf32>"
            broad = self.add(f"stablehlo.broadcast_in_dim {value}, dims = [0, 2] : ({T}) -> {deep}")
            return self.add(
                f"stablehlo.reduce({broad} init: {zero}) applies stablehlo.add "
                f"across dimensions = [1] : ({deep}, tensor<f32>) -> {T}"
            )
        self.is_linear = False
        return self.add(f"stablehlo.exponential {value} : {T}")

    def tree(self, depth):
        """Sums, differences and halves of concatenations of products."""
        if depth == 0 or self.rng.random() < 0.15:
            value = self.rng.choice([self.product, self.product, lambda: "%c"])()
        else:
            first, second = self.tree(depth - 1), self.tree(depth - 1)
            if self.rng.random() < 0.2:
                both = f"tensor<{2 * ROWS}x{COLUMNS}xf32>"
                joined = self.add(
                    f"stablehlo.concatenate {first}, {second}, dim = 0 : ({T}, {T}) -> {both}"
                )
                rows = f"2:{ROWS + 2}"
                value = self.add(
                    f"stablehlo.slice {joined} [{rows}, 0:{COLUMNS}] : ({both}) -> {T}"
                )
            else:
                name = self.rng.choice(["add", "add", "subtract"])
                value = self.add(f"stablehlo.{name} {first}, {second} : {T}")
        return self.linear(value) if self.rng.random() < 0.4 else value

    def program(self, results):
        types = ", ".join([T] * len(results))
        # Sharded by the axis along which they are partial, results are scattered.
        axes = self.rng.choice(["[{}, {}]", '[{"y"}, {}]', '[{}, {"x"}]'])
        given = ", ".join([f"{T} {{sdy.sharding = #sdy.sharding<@mesh, {axes}>}}"] * len(results))
        head = HEAD.replace("%RESULTS%", given)
        return head + "\n".join(self.lines) + f"\n  return {', '.join(results)} : {types}\n}}"


def sent(program):
    return sum(each.nbytes_sent * (each.repetitions or 1) for each in program.collectives)


def compare(text, seed, *, fewer=False, **options):
    """Partition with and without the pass: the numbers are right, and no more is sent."""
    module = sdy.parse(text, sdy.Context())
    sdy.propagate(module)
    late = sdy.partition(module, **options)
    early = sdy.partition(module, reassociate_reductions=False, **options)
    sdy.run_pipeline(sdy.parse(sdy.asm(module), sdy.Context()), PIPELINE, verify_inside=True)
    numbers = np.random.default_rng(seed)
    inputs = [numbers.uniform(-1, 1, port.spec.shape).astype("f4") for port in late.inputs]
    expected = run_unpartitioned(module, inputs)
    for found, wanted in zip(late.run(inputs), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)
    assert sent(late) <= sent(early)
    assert len(late.collectives) <= len(early.collectives)
    if fewer:
        assert sent(late) < sent(early) or len(late.collectives) < len(early.collectives)
    return early, late


@pytest.mark.parametrize("seed", range(cases(15)))
def test_expressions(seed):
    text = Text(random.Random(seed))
    results = [text.tree(3) for _ in range(text.rng.choice([1, 2]))]
    compare(text.program(results), seed)


@pytest.mark.parametrize("first", ["%c", "zero"])
@pytest.mark.parametrize("operation", ["add", "subtract"])
@pytest.mark.parametrize("seed", range(8))
def test_loops_that_add_up(first, operation, seed):
    text = Text(random.Random(seed))
    zero = text.add(f"stablehlo.constant dense<0.0> : {T}")
    begin, one, trips = (text.add(f"stablehlo.constant dense<{n}> : {INDEX}") for n in (0, 1, 8))
    body = Text(text.rng)
    body.count = 100
    added = body.linear(body.product())
    text.lines.append(
        f"  %w:2 = stablehlo.while(%i = {begin}, %s = {zero if first == 'zero' else first})"
        f" : {INDEX}, {T}\n  cond {{\n"
        f"    %less = stablehlo.compare LT, %i, {trips} : ({INDEX}, {INDEX}) -> tensor<i1>\n"
        f"    stablehlo.return %less : tensor<i1>\n  }} do {{\n"
        + "\n".join(body.lines)
        + f"\n    %t = stablehlo.{operation} %s, {added} : {T}\n"
        f"    %j = stablehlo.add %i, {one} : {INDEX}\n"
        f"    stablehlo.return %j, %t : {INDEX}, {T}\n  }}"
    )
    program = text.program(["%w#1"])
    # The addends are the same in each trip: they would be completed before the loop.
    early, late = compare(program, seed, hoist_reshards=False)
    assert sent(early) > 0
    # Reduce-scatters stay in the loop.
    is_scattered = 'sdy.sharding<@mesh, [{"y"}, {}]>}) {' in program
    if body.is_linear and not is_scattered:
        assert sent(early) == 8 * sent(late)


SHARDED = 'tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}'


@pytest.mark.parametrize("joint", ["add", "subtract"])
def test_sums_that_are_spread_over_the_shards(joint):
    """A sum along "y" times shards along "y" is no addend: `sum(a) * b + sum(b) * a`."""
    text = f"""
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    func.func @main(%a: {SHARDED}, %b: {SHARDED}) -> tensor<8xf32> {{
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %p = stablehlo.multiply %1, %b : tensor<8xf32>
      %2 = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %q = stablehlo.multiply %3, %a : tensor<8xf32>
      %r = stablehlo.{joint} %p, %q : tensor<8xf32>
      return %r : tensor<8xf32>
    }}"""
    compare(text, 0)


def test_smaller_products_behind_a_reshape_and_a_transpose():
    """A reshape adds a dimension, which the transpose moves, before a product with few columns."""
    text = """
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                    %c: tensor<8x2xf32>) -> tensor<4x2x2xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %1 = stablehlo.reshape %0 : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
      %2 = stablehlo.transpose %1, dims = [1, 0, 2] : (tensor<2x4x8xf32>) -> tensor<4x2x8xf32>
      %3 = stablehlo.dot_general %2, %c, contracting_dims = [2] x [0]
        : (tensor<4x2x8xf32>, tensor<8x2xf32>) -> tensor<4x2x2xf32>
      return %3 : tensor<4x2x2xf32>
    }"""
    compare(text, 0, fewer=True)
