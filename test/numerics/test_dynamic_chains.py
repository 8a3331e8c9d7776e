# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of dynamic operations: sizes as expressions, shardings of the hints, right numbers."""

import random

import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy
from mlir_sdy.diagnostics import collect
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import result_shardings_of
from pyshardy.irtools.modules import copy_of
from pyshardy.pipeline import run_pipeline
from pyshardy.program import run_unpartitioned
from pyshardy.sizes.signature import entry_of, signature_of
from pyshardy.sizes.size_map import SizeMap
from pyshardy.sizes.static_program import static_at

SHARDINGS = (
    '{"data"}, {}',
    '{}, {"model"}',
    '{"data"}, {"model"}',
    '{"model", "data"}, {}',
    "{}, {}",
)
I32, F32 = "tensor<i32>", "tensor<f32>"


class Chain:
    """Writes operations, each of which takes the result of the one before."""

    def __init__(self, shape, choose):
        self.choose, self.lines = choose, []
        self.value, self.shape = "%x", list(shape)

    def emit(self, text, result_type, *types):
        name = f"%v{len(self.lines)}"
        inputs = f"({', '.join(types)}) -> " if types else ""
        self.lines.append(f"{name} = {text} : {inputs}{result_type}")
        return name

    def type(self, shape=None, element="f32"):
        shape = self.shape if shape is None else shape
        return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"

    def constant(self, numbers):
        kind = I32 if isinstance(numbers, int) else f"tensor<{len(numbers)}xi32>"
        return self.emit(f"stablehlo.constant dense<{numbers}>", kind)

    def size(self, dim):
        text = f"stablehlo.get_dimension_size {self.value}, dim = {dim}"
        return self.emit(text, I32, self.type())

    def binary(self, name, one, other):
        return self.emit(f"stablehlo.{name} {one}, {other}", I32)

    def vector(self, sizes):
        parts = [self.emit(f"stablehlo.reshape {each}", "tensor<1xi32>", I32) for each in sizes]
        kinds = ["tensor<1xi32>"] * len(parts)
        text = f"stablehlo.concatenate {', '.join(parts)}, dim = 0"
        return self.emit(text, f"tensor<{len(parts)}xi32>", *kinds)

    def sizes(self):
        return [self.size(dim) for dim in range(len(self.shape))]

    def sum_of(self, value, zero):
        return (
            f"stablehlo.reduce({value} init: {zero}) applies stablehlo.add across dimensions = [0]"
        )

    def set(self, text, shape, *types):
        kind = self.type(shape)
        self.value, self.shape = self.emit(text, kind, *types), list(shape)

    # --- Rows of the table of rules -------------------------------------------------------------

    def broadcast(self):
        vector = self.vector(self.sizes())
        zero = self.emit("stablehlo.constant dense<0.0>", F32)
        text = self.sum_of(self.value, zero)
        row = self.emit(text, self.type(self.shape[1:]), self.type(), F32)
        text = f"stablehlo.dynamic_broadcast_in_dim {row}, {vector}, dims = [1]"
        shape = self.shape
        self.set(text, shape, self.type(shape[1:]), "tensor<2xi32>")

    def iota(self):
        vector, before = self.vector(self.sizes()), self.value
        dim, kind = self.choose.randrange(2), self.type()
        counted = self.emit(f"stablehlo.dynamic_iota {vector}, dim = {dim}", kind, "tensor<2xi32>")
        self.set(f"stablehlo.add {before}, {counted}", self.shape)

    def reshape(self):
        rows, columns = self.sizes()
        merged = self.binary("multiply", rows, columns)
        one = self.constant(1)
        sizes, shape = self.choose.choice(
            [
                ((merged, one), ("?", 1)),
                ((one, merged), (1, "?")),
                ((columns, rows), (self.shape[1], self.shape[0])),
                ((rows, columns), self.shape),
            ]
        )
        text = f"stablehlo.dynamic_reshape {self.value}, {self.vector(sizes)}"
        self.set(text, shape, self.type(), "tensor<2xi32>")

    def size_as_number(self):
        number = self.emit(f"stablehlo.convert {self.size(self.choose.randrange(2))}", F32, I32)
        vector, before = self.vector(self.sizes()), self.value
        text = f"stablehlo.dynamic_broadcast_in_dim {number}, {vector}, dims = []"
        full = self.emit(text, self.type(), F32, "tensor<2xi32>")
        self.set(f"stablehlo.divide {before}, {full}", self.shape)

    def pad(self):
        low, high, inner = ([self.choose.choice([0, 0, 1]) for _ in range(2)] for _ in range(3))
        zero = self.emit("stablehlo.constant dense<1.5>", F32)
        amounts = ", ".join(map(self.constant, (low, high, inner)))
        shape = [
            size if size == "?" else (size - 1) * (between + 1) + 1 + before + after
            for size, before, after, between in zip(self.shape, low, high, inner, strict=True)
        ]
        text = f"stablehlo.dynamic_pad {self.value}, {zero}, {amounts}"
        self.set(text, shape, self.type(), F32, *["tensor<2xi32>"] * 3)

    def slice(self):
        start, stride = (
            [self.choose.choice(each) for _ in range(2)] for each in ((0, 0, 1), (1, 2))
        )
        start = [0 if size == 1 else first for size, first in zip(self.shape, start, strict=True)]
        limits = self.vector(self.sizes())
        shape = [
            size if size == "?" else -(-(size - first) // step)
            for size, first, step in zip(self.shape, start, stride, strict=True)
        ]
        text = f"stablehlo.real_dynamic_slice {self.value}, {self.constant(start)}, {limits}, "
        self.set(text + self.constant(stride), shape, self.type(), *["tensor<2xi32>"] * 3)

    def gather(self):
        one = self.constant(1)
        taken = self.vector([one, self.size(1)])
        rows = self.constant([0, 1, 0, 2])
        text = (
            f'"stablehlo.dynamic_gather"({self.value}, {rows}, {taken}) <{{dimension_numbers = '
            "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = "
            "[0], index_vector_dim = 1>, indices_are_sorted = false}>"
        )
        shape = [4, self.shape[1]]
        self.set(text, shape, self.type(), "tensor<4xi32>", "tensor<2xi32>")

    def convolution(self):
        if self.shape[1] == "?":
            return
        rows, columns = self.shape
        one = self.constant(1)
        batched = self.type([1, rows, columns])
        value = self.emit(
            f"stablehlo.dynamic_reshape {self.value}, {self.vector([one, *self.sizes()])}",
            batched,
            self.type(),
            "tensor<3xi32>",
        )
        kernel_type = self.type([2, columns, 3])
        kernel = self.emit("stablehlo.constant dense<0.25>", kernel_type)
        edges = self.emit("stablehlo.constant dense<[[1, 1]]>", "tensor<1x2xi32>")
        text = (
            f'"stablehlo.dynamic_conv"({value}, {kernel}, {edges}) <{{batch_group_count = 1 : i64, '
            "feature_group_count = 1 : i64, dimension_numbers = "
            "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>"
        )
        longer = "?" if rows == "?" else rows + 1
        types = batched, kernel_type, "tensor<1x2xi32>"
        found = self.emit(text, self.type([1, longer, 3]), *types)
        zero = self.emit("stablehlo.constant dense<0.0>", F32)
        text = (
            f"stablehlo.reduce({found} init: {zero}) applies stablehlo.add across dimensions = [0]"
        )
        self.set(text, [longer, 3], self.type([1, longer, 3]), F32)

    # --- Static operations with dynamic operands --------------------------------------------------

    def pointwise(self):
        self.set(f"stablehlo.tanh {self.value}", self.shape)

    def transpose(self):
        text = f"stablehlo.transpose {self.value}, dims = [1, 0]"
        self.set(text, self.shape[::-1], self.type())

    def product(self):
        turned = self.emit(
            f"stablehlo.transpose {self.value}, dims = [1, 0]",
            self.type(self.shape[::-1]),
            self.type(),
        )
        text = f"stablehlo.dot_general {self.value}, {turned}, contracting_dims = [1] x [0]"
        kinds = self.type(), self.type(self.shape[::-1])
        self.set(text, [self.shape[0]] * 2, *kinds)
        self.pointwise()

    def concatenation(self):
        dim, kind = self.choose.randrange(2), self.type()
        shape = list(self.shape)
        shape[dim] = "?" if shape[dim] == "?" else 2 * shape[dim]
        text = f"stablehlo.concatenate {self.value}, {self.value}, dim = {dim}"
        self.set(text, shape, kind, kind)


ROWS = ("broadcast", "iota", "reshape", "size_as_number", "pad", "slice", "gather", "convolution")
STATIC = ("pointwise", "transpose", "product", "concatenation")
POSITIONS = (("?", 6), (6, "?"), ("?", "?"))


def module_of(shape, operations, choose):
    chain = Chain(shape, choose)
    for each in operations:
        getattr(chain, each)()
    body = "\n    ".join(chain.lines)
    sharding = f"#sdy.sharding<@mesh, [{choose.choice(SHARDINGS)}]>"
    return sdy.parse(f"""module {{
  sdy.mesh @mesh = <["data"=2, "model"=2]>
  func.func @main(%x: {chain.type(shape)} {{sdy.sharding = {sharding}}}) -> {chain.type()} {{
    {body}
    return {chain.value} : {chain.type()}
  }}
}}""")


def shardings_of(module):
    return [
        (each.name, result_shardings_of(each))
        for each in operations_in(entry_of(module))
        if not each.name.endswith(("constant", "reshard"))
        and any(list(result.uses) for result in each.results)
    ]


def refined_by_host(module, specs):
    """Return the shape of the result that the host finds."""
    copy = copy_of(module)
    types = ",".join(f"tensor<{'x'.join(map(str, each.shape))}xf32>" for each in specs)
    run_pipeline(
        copy, f"builtin.module(stablehlo-refine-arguments{{types={types}}},stablehlo-refine-shapes)"
    )
    (returned,) = [*entry_of(copy).regions[0].blocks[0].operations][-1].operands
    return tuple(returned.type.shape)


def check(module, first=8):
    signature = signature_of(module)
    values = {name: first + 4 * number for number, name in enumerate(signature.symbols)}
    same = static_at(module, values)
    (returned,) = [*entry_of(module).regions[0].blocks[0].operations][-1].operands
    found = SizeMap(module, signature)
    assert not found.equalities
    sizes = found.sizes(returned)
    with collect():
        sdy.propagate(same)
        sdy.propagate(module, hints=values)
        program = sdy.partition(module)
    assert {*shardings_of(program.static(**values))} == {*shardings_of(same)}
    for away in (0, 1):
        given = {name: value - away for name, value in values.items()}
        static = program.static(**given)
        (x,) = (
            np.random.default_rng(0).standard_normal(each.shape).astype("float32")
            for each in program.input_specs(**given)
        )
        (expected,) = run_unpartitioned(static, [x], "interpreter")
        assert expected.shape == tuple(each.evaluate(given) for each in sizes)
        assert expected.shape == refined_by_host(module, program.input_specs(**given))
        with collect():
            (result,) = program.run([x])
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("operation", ROWS)
def test_each_operation_with_dynamic_sizes_in_each_position(operation):
    for shape in POSITIONS[-cases(1) :]:
        check(module_of(shape, [operation], random.Random(f"{operation}{shape}")))


@pytest.mark.parametrize("seed", range(cases(10)))
def test_random_chains(seed):
    choose = random.Random(seed)
    operations = choose.choices(ROWS + STATIC, k=choose.randint(2, 6))
    check(module_of(choose.choice(POSITIONS), operations, choose))
