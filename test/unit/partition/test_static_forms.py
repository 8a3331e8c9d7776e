# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that take sizes as operands become those that have them in attributes."""

import pytest

from mlir_sdy.assembly import asm, parse
from pyshardy.irtools.static_shapes import make_static

SHARDING = '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}'


def static(context, operations: str) -> list[str]:
    """The lines that some operations on `%a` become, without constants."""
    module = parse(
        'sdy.mesh @mesh = <["x"=2]>\n'
        "func.func @main(%a: tensor<4x6xf32>, %n: tensor<2xi32>, %i: tensor<3x1xi32>) {\n"
        f"{operations}\nreturn\n}}",
        context,
    )
    make_static(module.body.operations[1])
    module.operation.verify()
    lines = [line.strip() for line in asm(module).splitlines()]
    return [line for line in lines if line.startswith("%") and "constant" not in line]


def numbers(name: str, values: str) -> str:
    return f"%{name} = stablehlo.constant dense<{values}> : tensor<2xi32>"


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        (
            f"{numbers('c', '[4, 6]')}\n%r = stablehlo.dynamic_iota %c, dim = 1 "
            ": (tensor<2xi32>) -> tensor<4x6xi32>",
            "stablehlo.iota dim = 1 : tensor<4x6xi32>",
        ),
        (
            "%r = stablehlo.dynamic_reshape %a, %n : (tensor<4x6xf32>, tensor<2xi32>) "
            "-> tensor<3x8xf32>",
            "stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<3x8xf32>",
        ),
        (
            "%s = stablehlo.constant dense<[2, 4, 6]> : tensor<3xi32>\n"
            "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1, 2] "
            ": (tensor<4x6xf32>, tensor<3xi32>) -> tensor<2x4x6xf32>",
            "stablehlo.broadcast_in_dim %arg0, dims = [1, 2] "
            ": (tensor<4x6xf32>) -> tensor<2x4x6xf32>",
        ),
        (
            f"{numbers('z', '0')}\n{numbers('h', '[1, 2]')}\n"
            "%v = stablehlo.constant dense<7.0> : tensor<f32>\n"
            "%r = stablehlo.dynamic_pad %a, %v, %z, %h, %z : (tensor<4x6xf32>, tensor<f32>, "
            "tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<5x8xf32>",
            "stablehlo.pad %arg0, %cst, low = [0, 0], high = [1, 2], interior = [0, 0] "
            ": (tensor<4x6xf32>, tensor<f32>) -> tensor<5x8xf32>",
        ),
        (
            f"{numbers('s', '[1, 0]')}\n{numbers('l', '[4, 6]')}\n{numbers('t', '[1, 2]')}\n"
            f"%r = stablehlo.real_dynamic_slice %a, %s, %l, %t {SHARDING} : (tensor<4x6xf32>, "
            "tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x3xf32>",
            f"stablehlo.slice %arg0 [1:4, 0:6:2] {SHARDING} : (tensor<4x6xf32>) -> tensor<3x3xf32>",
        ),
        (
            "%r = stablehlo.set_dimension_size %a, %k, dim = 1 : (tensor<4x6xf32>, tensor<i32>) "
            "-> tensor<4x6xf32>",
            "stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<4x6xf32>",
        ),
    ],
)
def test_static_forms(context, operations, expected):
    if "%k" in operations:
        operations = f"%k = stablehlo.constant dense<6> : tensor<i32>\n{operations}"
    (line,) = static(context, operations)
    assert line.partition(" = ")[2] == expected


def test_gather(context):
    (line,) = static(
        context,
        f"""{numbers("s", "[1, 6]")}
%r = "stablehlo.dynamic_gather"(%a, %i, %s) {{dimension_numbers = #stablehlo.gather<
    offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}}
    : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x6xf32>""",
    )
    assert '"stablehlo.gather"(%arg0, %arg2)' in line
    assert "slice_sizes = array<i64: 1, 6>" in line


def test_the_size_of_a_dimension_is_a_constant(context):
    text = "%r = stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>"
    module = parse(f"func.func @main(%a: tensor<4x6xf32>) {{\n{text}\nreturn\n}}", context)
    make_static(module.body.operations[0])
    assert "stablehlo.constant dense<6> : tensor<i32>" in asm(module)


def test_what_is_computed_stays(context):
    (line,) = static(
        context,
        "%r = stablehlo.real_dynamic_slice %a, %n, %n, %n : (tensor<4x6xf32>, tensor<2xi32>, "
        "tensor<2xi32>, tensor<2xi32>) -> tensor<3x3xf32>",
    )
    assert "stablehlo.real_dynamic_slice" in line
