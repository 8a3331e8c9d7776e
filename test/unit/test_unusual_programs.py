# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that once crashed the process, hung, or failed without a diagnostic."""

import sys

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import collect
from mlir_sdy.verify import verify


@pytest.fixture(scope="module")
def context():
    return sdy.Context()


def refusal(text, context):
    """The line and column of the first diagnostic of a program, and its message."""
    with pytest.raises(sdy.SdyError) as caught:
        partitioned(text, context)
    first = caught.value.diagnostics[0]
    return first.location.line, first.location.column, first.message


def partitioned(text, context):
    """The text of the program of one device."""
    module = sdy.parse(text, context)
    sdy.propagate(module)
    local = sdy.partition(module).module
    verify(local)
    return sdy.asm(local)


# --- Parsing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("attributes", ["", " attributes {mhlo.num_partitions = 8 : i32}"])
@pytest.mark.parametrize("terminator", ["", "    return\n"])
def test_value_of_another_function(context, attributes, terminator):
    text = (
        f"module @m{attributes} {{\n"
        f"  func.func @main() {{\n    %1 = stablehlo.abs %0 : tensor<4xf32>\n{terminator}  }}\n"
        "  func.func @f(%a: tensor<4xf32>) {\n    %0 = stablehlo.abs %a : tensor<4xf32>\n"
        f"{terminator}  }}\n}}\n"
    )
    expected = "op using value defined outside the region" if terminator else "no terminator"
    line, _, message = refusal(text, context)
    assert line == 3
    assert expected in message


def test_value_of_another_region(context):
    text = """func.func @main(%i: tensor<i32>) -> tensor<4xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.constant dense<1.0> : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    assert refusal(text, context)[0] == 6


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("return %a#1000000007 : tensor<4xf32>", "the number of the result is too large"),
        (
            "stablehlo.convolution(%a, %a) dim_numbers = [b, 0, f]x[0, i, 4294967296]->[b, 0, f]",
            "the number of a dimension is too large",
        ),
        (
            '"x.y"() {n = #stablehlo.conv<[b, 1000000007, f]x[0, i, o]->[b, 0, f]>} : () -> ()',
            "the number of a dimension is too large",
        ),
        (
            '"x.y"() {padding = dense<0> : tensor<1000000007x2xi64>} : () -> ()',
            "there is too much padding",
        ),
    ],
)
def test_numbers_that_take_all_memory(context, operation, message):
    text = f"func.func @main(%a: tensor<4xf32>) {{\n  {operation}\n}}\n"
    line, _, found = refusal(text, context)
    assert (line, found) == (2, message)


def test_large_numbers_elsewhere(context):
    text = '// %a#1000000007\nfunc.func @f() {\n  return loc("%a#1000000007")\n}\n'
    assert sdy.parse(text, context)


def test_operation_that_looks_like_an_attribute(context):
    assert refusal('sdy.mesh = <["x"=2]>\n', context) == (
        1,
        10,
        "expected valid '@'-identifier for symbol name: '@name', found '='",
    )
    text = "module attributes {\n  sdy.mesh = 1 : i32, // a comment\n  sdy.constant = 2 : i32} {}\n"
    assert "sdy.constant = 2 : i32" in sdy.asm(sdy.parse(text, context))


def test_module_in_a_module_stays(context):
    once = sdy.asm(sdy.parse("module {\n  module @inner {\n  }\n}\n", context))
    assert once == "module {\n  module @inner {\n  }\n}\n"
    assert sdy.asm(sdy.parse("#a = 1 : i32\n\nmodule @only {\n}\n", context)).startswith(
        "module @only"
    )


def nested(depth):
    operations = "".join(
        f'%r{i} = sdy.named_computation<"f">(%v{i}) (%v{i + 1}: tensor<8xf32>) {{\n'
        for i in range(depth)
    )
    returns = "".join(
        f"}} : (tensor<8xf32>) -> tensor<8xf32>\n"
        f"{'sdy.return' if i else 'return'} %r{i} : tensor<8xf32>\n"
        for i in reversed(range(depth))
    )
    return (
        f"func.func @main(%v0: tensor<8xf32>) -> tensor<8xf32> {{\n{operations}"
        f"sdy.return %v{depth} : tensor<8xf32>\n{returns}}}\n"
    )


@pytest.fixture
def low_limit():
    """A limit of recursion that short texts reach."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(500)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("low_limit")
@pytest.mark.parametrize("depth", [150, 800])
def test_nesting(context, depth):
    """Too deep to print, and too deep to read."""
    with pytest.raises(sdy.SdyError, match="too deeply for Python's recursion limit of") as caught:
        sdy.asm(sdy.parse(nested(depth), context))
    assert caught.value.diagnostics[0].location.filename == "-"


def test_nesting_in_a_pass(context, monkeypatch):
    def recurse(*_, **__):
        return recurse()

    monkeypatch.setattr("pyshardy.propagation.driver.Program", recurse)
    assert refusal(nested(1), context)[2].startswith("the program is nested too deeply")


# --- Propagation ----------------------------------------------------------------------------------

INNER_MODULE = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  %0 = stablehlo.abs %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
module @inner {
  sdy.mesh @mesh = <["data"=4, "one"=1]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>})
      -> tensor<8xf32> {
    %0 = stablehlo.abs %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
"""


def test_inner_modules_are_not_propagated(context):
    module = sdy.parse(INNER_MODULE, context)
    with collect() as diagnostics:
        sdy.propagate(module)
    (warning,) = diagnostics
    assert warning.location.line == 8
    assert "a program of its own" in warning.message
    text = sdy.asm(module)
    sharded = 'stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}'
    assert sharded in text
    assert "stablehlo.abs %arg0 : tensor<8xf32>" in text[text.index("module @inner") :]


def test_axes_of_size_one_of_inner_modules(context):
    text = INNER_MODULE.replace('[{"data"}]', '[{"data", "one"}]').replace('["x"=2]', '["x"=1]')
    module = sdy.parse(text, context)
    sdy.run_pipeline(module, "sdy-remove-size-one-axes")
    assert '@mesh, [{"data"}]>' in sdy.asm(module)
    assert "@mesh, [{}]>" in sdy.asm(module)


def test_manual_axes_of_inner_modules(context):
    body = """%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"data"}]>]
        out_shardings=[<@mesh, [{"data"}]>] manual_axes={"one", "data"} (%b: tensor<2xf32>) {
      sdy.return %b : tensor<2xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %0"""
    head, inner = INNER_MODULE.split("module @inner")
    inner = inner.replace("%0 = stablehlo.abs %a : tensor<8xf32>\n    return %0", body)
    module = sdy.parse(f"{head}module @inner{inner}", context)
    sdy.run_pipeline(module, "sdy-manual-axes-cleanup")
    assert 'manual_axes={"data", "one"}' in sdy.asm(module)


def test_edges_of_calls(context):
    text = """sdy.mesh @mesh = <["a"=2]>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.func_data_flow_edge %0 {
    sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
    with pytest.raises(sdy.SdyError) as caught:
        sdy.partition(sdy.parse(text, context))
    first = caught.value.diagnostics[0]
    assert first.location.line in (4, 9)
    assert "run 'sdy-sink-func-data-flow-edges' first" in first.message
    assert "func_data_flow_edge" not in partitioned(text, context)


@pytest.mark.parametrize("ids", ["[1, -1]", "[0, 5]"])
def test_groups_along_a_mesh_that_cannot_be(context, ids):
    text = f"""func.func @main(%a: tensor<8x16xf32>) -> tensor<8x32xf32> {{
  %0 = "stablehlo.all_gather"(%a) {{all_gather_dim = 1 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<
      mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>],
                             device_ids = dense<{ids}> : tensor<2xi64>>,
      axes = [#stablehlo.axis_ref<name = "x">]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids
  }} : (tensor<8x16xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}}
"""
    line, _, message = refusal(text, context)
    assert line == 2
    assert "the mesh of its replica_groups is invalid: " in message


# --- Partitioning ---------------------------------------------------------------------------------


def function(body, argument="tensor<8xf32>", result="tensor<8xf32>", axes='"x"=2', sharded='{"x"}'):
    return f"""sdy.mesh @mesh = <[{axes}]>
func.func @main(%a: {argument} {{sdy.sharding = #sdy.sharding<@mesh, [{sharded}]>}}) -> {result} {{
{body}
  return %0 : {result}
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        "  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>",
        "  %0 = stablehlo.reverse %a, dims = [0] : tensor<8xf32>",
    ],
)
@pytest.mark.parametrize("size", [1_000_000_007, 9223372036854775807])
def test_too_many_devices(context, body, size):
    text = function(body, axes=f'"x"=2, "y"={size}')
    line, column, message = refusal(text, context)
    assert (line, column) == (1, 1)
    assert f"has {2 * size} devices, but programs can be made for at most 262144" in message


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("dense<1>", "dense<1> : tensor<4xi8>"),
        ("dense<[1, 2, 3, 4, 5, 6, 7, 8]>", "stablehlo.dynamic_slice"),
    ],
)
def test_quantized_constants(context, value, expected):
    quantized = "tensor<8x!quant.uniform<i8:f32, 2.0:15>>"
    text = f"""sdy.mesh @mesh = <["x"=2]>
func.func @main() -> (tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) {{
  %0 = stablehlo.constant() <{{value = {value} : tensor<8xi8>}}> : () -> {quantized}
  %1 = stablehlo.uniform_dequantize %0 : ({quantized}) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}}
"""
    assert expected in partitioned(text, context)


QUANTIZED_PRODUCT = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<4x6xf32> {
  %0 = stablehlo.uniform_quantize %a
      : (tensor<4x8xf32>) -> tensor<4x8x!quant.uniform<i8:f32, 0.5>>
  %1 = stablehlo.uniform_quantize %b
      : (tensor<8x6xf32>) -> tensor<8x6x!quant.uniform<i8:f32, 0.5>>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]
      : (tensor<4x8x!quant.uniform<i8:f32, 0.5>>, tensor<8x6x!quant.uniform<i8:f32, 0.5>>)
      -> tensor<4x6x!quant.uniform<i8:f32, 0.5>>
  %3 = stablehlo.uniform_dequantize %2
      : (tensor<4x6x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}
"""


def test_partial_sums_of_quantized_numbers_would_be_clipped(context):
    module = sdy.parse(QUANTIZED_PRODUCT, context)
    sdy.run_pipeline(module, "sdy-propagation-pipeline, sdy-partition-pipeline")
    text = sdy.asm(module)
    assert "all_reduce" not in text
    assert text.count("stablehlo.all_gather") == 2


def test_quantized_numbers_have_no_arrays(context):
    """The pass that the message names makes integers of them, which any backend runs."""
    module = sdy.parse(QUANTIZED_PRODUCT, context)
    sdy.propagate(module)
    with pytest.raises(sdy.SdyError, match="stablehlo-legalize-quant-to-math") as caught:
        sdy.partition(module)
    assert caught.value.diagnostics[0].location.line == 5
    module = sdy.parse(QUANTIZED_PRODUCT, context)
    sdy.run_pipeline(module, "func.func(stablehlo-legalize-quant-to-math)")
    sdy.propagate(module)
    inputs = np.full((4, 8), 1.0, np.float32), np.full((8, 6), 0.5, np.float32)
    (found,) = sdy.partition(module).run(inputs)
    np.testing.assert_array_equal(found, np.full((4, 6), 4.0))


@pytest.mark.parametrize(("dim", "gathers"), [(0, 1), (1, 0)])
def test_scales_of_rows_are_for_all_rows(context, dim, gathers):
    rows = "tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25}>>"
    sharding = '[{"x"}, {}]' if dim == 0 else '[{}, {"x"}]'
    text = f"""sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<2x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}})
    -> (tensor<2x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) {{
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xf32>) -> {rows}
  %1 = stablehlo.uniform_dequantize %0 : ({rows}) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}}
"""
    assert partitioned(text, context).count("stablehlo.all_gather") == gathers


def test_convolution_of_no_features(context):
    body = """  %c = stablehlo.constant dense<1.0> : tensor<3x0x8xf32>
  %0 = stablehlo.convolution(%a, %c) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<8x8x0xf32>, tensor<3x0x8xf32>) -> tensor<8x8x8xf32>"""
    text = function(body, "tensor<8x8x0xf32>", "tensor<8x8x8xf32>", sharded='{"x"}, {}, {}')
    assert "feature_group_count = 1" in partitioned(text, context)


def test_windows_without_padding(context):
    body = """  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %c) <{padding = dense<0> : tensor<0x2xi64>,
      window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>"""
    assert "tensor<2xf32>" in partitioned(function(body, result="tensor<4xf32>"), context)


def test_attributes_named_as_those_of_collectives(context):
    body = "  %0 = stablehlo.abs %a {channel_handle = {x = 1 : i32}} : tensor<8xf32>"
    assert "channel_handle = {x = 1 : i32}" in partitioned(function(body), context)


def test_private_entry_that_is_called(context):
    text = function("  %0 = stablehlo.abs %a : tensor<8xf32>").replace(
        "@main(%a", "private @main(%a"
    )
    caller = """func.func @caller(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @main(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
    assert "func.func public @main(%arg0: tensor<4xf32>" in partitioned(text + caller, context)


def test_results_that_are_unreduced(context):
    text = """sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>})
    -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
"""
    assert "return %arg0" in partitioned(text, context)  # each device passes its addend on


# --- Attributes that hold what they usually don't -------------------------------------------------

VALUES = ['"text"', "1 : i32", "-1 : i64", "[]", "{}", "unit", "@main", "f32", "true"]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "name",
    ["jax.result_info", "mhlo.sharding", "mhlo.frontend_attributes", "sdy.origin"],
)
def test_attributes_of_results(context, name, value):
    text = function("  %0 = stablehlo.abs %a : tensor<8xf32>").replace(
        "-> tensor<8xf32>", f"-> (tensor<8xf32> {{{name} = {value}}})"
    )
    assert "stablehlo.abs %arg0 : tensor<4xf32>" in partitioned(text, context)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", ["sdy.original_func_name", "sdy.func_manual_axes"])
def test_attributes_of_functions(context, name, value):
    text = (
        function("  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>")
        + f"""func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32>
    attributes {{{name} = {value}}} {{
  %0 = stablehlo.abs %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}}
"""
    )
    assert "stablehlo.abs %arg0 : tensor<4xf32>" in partitioned(text, context)


@pytest.mark.parametrize("name", ["jax.result_info", "mhlo.sharding", "tf.aliasing_output"])
@pytest.mark.parametrize("value", VALUES)
def test_attributes_of_tuples(context, name, value):
    text = f"""sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tuple<tensor<8xf32>> {{{name} = {value}}}) -> tensor<8xf32> {{
  %0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<8xf32>>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}}
"""
    try:
        assert "tensor<8xf32>" in partitioned(text, context)
    except sdy.SdyError as failure:
        (first, *_) = failure.diagnostics
        assert first.location.line == 2
        assert "has a tuple that can't be flattened" in first.message
    else:
        assert name != "tf.aliasing_output"


def test_structure_that_jax_has_not_written(context):
    from pyshardy.frontends.jax.lowered import structure_of  # noqa: PLC0415

    for value in VALUES:
        module = sdy.parse(f"module attributes {{jax.structure = {value}}} {{}}", context)
        assert structure_of(module, arguments=0, results=0) is None
