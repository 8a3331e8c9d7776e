# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each method of the builder gives a valid operation of the expected type."""

import numpy as np
import pytest

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, splat_literal
from pyshardy.irtools.tensor_types import element_bytes, shape_of, with_element, with_shape


@pytest.fixture(autouse=True)
def block(context):
    """The block that operations are built in."""
    with context, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            yield module.body


def tensor(text):
    return ir.Type.parse(f"tensor<{text}>")


@pytest.fixture
def values():
    """A matrix of numbers, and a scalar."""
    builder = StablehloBuilder()
    return builder.splat(tensor("4x6xf32"), 1), builder.splat(tensor("f32"), 0)


def index(value):
    return StablehloBuilder().index(value)


BUILT = {
    "4x6xf32": [
        lambda build, value, _: build.unary("negate", value),
        lambda build, value, _: build.binary("add", value, value),
        lambda build, value, zero: build.clamp(zero, value, zero),
        lambda build, value, _: build.select(build.compare("LT", value, value), value, value),
        lambda build, value, _: build.reverse(value, [1]),
        lambda build, _, zero: build.broadcast_in_dim(zero, (4, 6)),
        lambda build, value, _: build.dynamic_update_slice(value, value, [index(0), index(0)]),
        lambda build, value, _: build.optimization_barrier([value])[0],
        lambda build, value, _: build.part("real", build.complex(value, value)),
    ],
    "4x6xi1": [lambda build, value, _: build.compare("EQ", value, value)],
    "4x6xi32": [
        lambda build, value, _: build.convert(value, ir.IntegerType.get_signless(32)),
        lambda build, value, _: build.bitcast_convert(value, ir.IntegerType.get_signless(32)),
        lambda build, *_: build.iota(tensor("4x6xi32"), 1),
    ],
    "6x4xf32": [
        lambda build, value, _: build.transpose(value, [1, 0]),
        lambda build, value, _: build.reshape(value, (6, 4)),
    ],
    "7x12xf32": [lambda build, value, zero: build.pad(value, zero, [1, 0], [2, 1], [0, 1])],
    "4x3xf32": [
        lambda build, value, _: build.slice(value, [0, 1], [4, 6], [1, 2]),
        lambda build, value, _: build.slice_prefix(value, (4, 3)),
        lambda build, value, _: build.slice_dim(value, 1, 2, 3),
        lambda build, value, _: build.dynamic_slice(value, [index(0), index(2)], (4, 3)),
    ],
    "8x6xf32": [lambda build, value, _: build.concatenate([value, value], 0)],
    "4xf32": [lambda build, value, zero: build.reduce(value, zero, [1], "stablehlo.add")],
    "2x6xf32": [
        lambda build, value, _: build.gather(
            value,
            build.constant(np.array([[0], [3]])),
            ir.Attribute.parse(
                "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
                "start_index_map = [0], index_vector_dim = 1>"
            ),
            (1, 6),
            (2, 6),
        )
    ],
    "0x3xf32": [lambda build, *_: build.empty(tensor("0x3xf32"))],
}


@pytest.mark.parametrize(
    ("expected", "build"), [(text, build) for text, several in BUILT.items() for build in several]
)
def test_results(expected, build, values):
    result = build(StablehloBuilder(), *values)
    assert str(result.type) == f"tensor<{expected}>"
    assert result.owner.operation.verify()


def test_nothing_is_built_without_effect(values):
    matrix, _ = values
    builder = StablehloBuilder()
    assert builder.convert(matrix, ir.F32Type.get()) == matrix
    assert builder.broadcast_in_dim(matrix, (4, 6), [0, 1]) == matrix
    assert builder.slice_prefix(matrix, (4, 6)) == matrix
    assert builder.concatenate([matrix], 0) == matrix


def test_square_matrices_are_transposed_by_broadcasts():
    builder = StablehloBuilder()
    square = builder.splat(tensor("3x3xf32"), 1)
    assert builder.broadcast_in_dim(square, (3, 3), [1, 0]) != square


def test_attributes_of_all_operations(values):
    matrix, _ = values
    mark = ir.UnitAttr.get()
    negated = StablehloBuilder({"test.mark": mark}).unary("negate", matrix)
    assert negated.owner.operation.attributes["test.mark"] == mark


@pytest.mark.parametrize(
    ("type_text", "number", "text"),
    [
        ("2xi1", 1, "dense<true> : tensor<2xi1>"),
        ("2xui8", 3, "dense<3> : tensor<2xui8>"),
        ("bf16", 2, "dense<2.000000e+00> : tensor<bf16>"),
        ("1xcomplex<f32>", 1, "dense<(1.000000e+00,0.000000e+00)> : tensor<1xcomplex<f32>>"),
    ],
)
def test_splats(type_text, number, text):
    assert str(splat_literal(tensor(type_text), number)) == text


def test_types_without_constants():
    with pytest.raises(ir.MLIRError):
        splat_literal(tensor("2x!stablehlo.token"), 0)


def test_tensor_types():
    matrix = tensor("4x6xbf16")
    assert shape_of(matrix) == (4, 6)
    assert shape_of(ir.F32Type.get()) == ()
    assert str(with_shape(matrix, (3,))) == "tensor<3xbf16>"
    assert str(with_element(matrix, ir.F32Type.get())) == "tensor<4x6xf32>"
    assert element_bytes(matrix) == 2
    assert element_bytes(tensor("2xcomplex<f32>")) == 8
    assert element_bytes(ir.Type.parse("!stablehlo.token")) == 0
