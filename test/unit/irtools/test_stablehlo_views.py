# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views read and write attributes as plain values."""

import pytest

from mlir_sdy import sdy
from mlir_sdy.assembly import parse
from mlir_sdy.op_classes import view_as
from pyshardy.irtools.stablehlo_views import (
    INTERFACE,
    CollectiveView,
    CompareView,
    ConstantView,
    ConvolutionView,
    CustomCallView,
    DotView,
    FunctionView,
    PadView,
    SliceView,
    WindowsView,
    callee_of,
    function_type_of,
    symbol_name,
    target_of,
)
from pyshardy.irtools.stablehlo_views.fields import set_fields
from pyshardy.irtools.walks import operations_named

TEXT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %image: tensor<1x8x8x3xf32>, %kernel: tensor<3x3x3x4xf32>) -> tensor<4x6xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %c, low = [1, 0], high = [0, 2], interior = [0, 1]
    : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x13xf32>
  %1 = stablehlo.slice %0 [1:5, 0:12:2] : (tensor<5x13xf32>) -> tensor<4x6xf32>
  %2 = stablehlo.compare LT, %1, %a, TOTALORDER
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  %3 = stablehlo.dot_general %a, %1, contracting_dims = [1] x [1]
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[1, 1], [0, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32>
  %5 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  %6 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  %7 = stablehlo.custom_call @target(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %8 = call @callee(%7) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %8 : tensor<4x6xf32>
}
func.func private @callee(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  return %a : tensor<4x6xf32>
}
"""


@pytest.fixture
def module(context):
    return parse(TEXT, context)


def only(name, module):
    (operation,) = operations_named({name}, module)
    return operation


def test_arrays(module):
    pad = PadView(only("stablehlo.pad", module))
    assert pad.amounts == ((1, 0), (0, 2), (0, 1))
    view = SliceView(only("stablehlo.slice", module))
    assert (view.start_indices, view.limit_indices, view.strides) == ((1, 0), (5, 12), (1, 2))


def test_assignments_write_attributes(module):
    operation = only("stablehlo.slice", module)
    SliceView(operation).strides = (2, 2)
    set_fields(operation, {SliceView.limit_indices: [5, 11]})
    assert str(operation.attributes["strides"]) == "array<i64: 2, 2>"
    assert SliceView(operation).limit_indices == (5, 11)


def test_cases_of_enums(module):
    view = CompareView(only("stablehlo.compare", module))
    assert (view.comparison_direction, view.compare_type) == ("LT", "TOTALORDER")


def test_dimension_numbers(module):
    numbers = DotView(only("stablehlo.dot_general", module)).dot_dimension_numbers
    assert numbers.lhs_contracting_dimensions == [1]


def test_padding_of_windows(module):
    operation = only("stablehlo.convolution", module)
    assert ConvolutionView(operation).padding == [(1, 1), (0, 2)]
    ConvolutionView(operation).padding = [(2, 0), (1, 1)]
    assert ConvolutionView(operation).padding == [(2, 0), (1, 1)]
    assert operation.verify()


def test_missing_attributes(module):
    windows = WindowsView(only("stablehlo.reduce_window", module))
    assert (windows.window_dimensions, windows.window_strides, windows.padding) == ((1, 2), (), [])
    collective = CollectiveView(only("stablehlo.all_gather", module))
    assert collective.channel_handle is None
    assert not collective.use_global_device_ids
    call = only("stablehlo.custom_call", module)
    assert not CustomCallView(call).has_side_effect
    with pytest.raises(KeyError):
        _ = ConstantView(call).value


def test_flags_are_attributes(module):
    collective = only("stablehlo.all_gather", module)
    CollectiveView(collective).use_global_device_ids = True
    assert "use_global_device_ids" in collective.attributes
    CollectiveView(collective).use_global_device_ids = False
    assert "use_global_device_ids" not in collective.attributes


def test_functions(module):
    main, callee = operations_named({"func.func"}, module)
    assert (symbol_name(main), symbol_name(callee)) == ("main", "callee")
    assert FunctionView(main).sym_visibility is None
    assert FunctionView(callee).sym_visibility == "private"
    assert len(function_type_of(main).inputs) == 3
    assert [field.is_in(main) for field in INTERFACE] == [True, False]
    assert "sdy.sharding" in FunctionView(main).arg_attrs[0]
    assert FunctionView(main).res_attrs == []
    assert callee_of(only("func.call", module)) == "callee"
    assert target_of(only("stablehlo.custom_call", module)) == "target"


def test_optional_attributes_are_removed_by_none(module):
    _, callee = operations_named({"func.func"}, module)
    FunctionView(callee).sym_visibility = None
    assert "sym_visibility" not in callee.attributes


def test_operations_of_the_dialect_have_classes(module):
    assert view_as(sdy.MeshOp, only("sdy.mesh", module)).sym_name.value == "mesh"
    with pytest.raises(TypeError, match=r"'func.call' is no 'sdy.mesh'"):
        view_as(sdy.MeshOp, only("func.call", module))
