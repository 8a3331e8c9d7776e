# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values are found by their names in the text, before and after passes."""

import pytest

import pyshardy as sdy
from mlir_sdy.host import ir
from pyshardy.irtools.named_values import NamedValues, operations_with_results

TEXT = """
sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func private @helper(%z: tensor<8xf32>) -> tensor<8xf32> {
  %inner = stablehlo.negate %z : tensor<8xf32>
  return %inner : tensor<8xf32>
}
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("params['w']"))
    -> (tensor<8xf32>, tensor<8x32xf32>) {
  %hidden = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %kept = sdy.sharding_constraint %hidden <@mesh, [{?}, {?}]> : tensor<8x32xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum =
    stablehlo.reduce(%kept init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
  %two:2 = stablehlo.optimization_barrier %sum, %kept : tensor<8xf32>, tensor<8x32xf32>
  return %two#0, %two#1 : tensor<8xf32>, tensor<8x32xf32>
}
"""
NAMES = {
    "%x": "8x16",
    "params['w']": "16x32",
    "params*": "16x32",
    "arg1": "16x32",
    "%inner": "8",
    "%hidden": "8x32",
    "%kept": "8x32",
    "%sum": "8",
    "%two": "8",
    "%two#1": "8x32",
    "result[1]": "8x32",
    "result 0": "8",
}
WITHOUT_LOCATIONS = TEXT.replace(" loc(\"params['w']\")", "")


def types(values, names):
    return {name: str(values[name].type) for name in names}


@pytest.mark.parametrize("text", [TEXT, WITHOUT_LOCATIONS], ids=["some locations", "no locations"])
def test_names(text):
    module = sdy.parse(text, sdy.Context())
    names = NAMES if text == TEXT else {k: v for k, v in NAMES.items() if "params" not in k}
    values = sdy.values(module)
    assert types(values, names) == {name: f"tensor<{shape}xf32>" for name, shape in names.items()}
    assert list(values) == [
        "%x",
        "params['w']" if text == TEXT else "%w",
        *("%inner", "%hidden", "%kept", "%zero", "%sum", "%two"),
        *("result[0]", "result[1]"),
    ]
    assert len(values) == 10
    assert repr(values).startswith("NamedValues(%x, ")
    assert repr(values).endswith(", %two, ...)")


def test_names_after_passes():
    module = sdy.parse(WITHOUT_LOCATIONS, sdy.Context())
    record = sdy.propagate(module)
    sdy.run_pipeline(module, "sdy-insert-explicit-reshards")
    values = sdy.values(module)
    assert str(sdy.get_sharding(values["%hidden"])) == '<@mesh, [{"data"}, {"model"}]>'
    assert "%inner" not in values  # nothing calls its function
    assert repr(record.explain("%hidden")) == str(record.explain(values["%hidden"]))
    assert str(record.explain("%w")).startswith("%w (-:9:5): ")
    assert "<pre>" in record.explain("%w")._repr_html_()


def test_without_a_text_names_are_those_that_are_printed():
    module = sdy.parse(TEXT, sdy.Context())
    text = module.operation.get_asm(enable_debug_info=True)
    values = sdy.values(ir.Module.parse(text, module.context))
    assert list(values)[1:5] == ["params['w']", "%0", "%1", "%cst"]
    assert "stablehlo.reduce" in str(values["%2"].owner)


def test_marked_names_of_a_program_that_a_pass_made_longer():
    module = sdy.parse("""
        func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
          %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
          return %1 : tensor<4xf32>
        }
        func.func private @f(%b: tensor<4xf32>) -> tensor<4xf32> {
          %sum = stablehlo.add %b, %b : tensor<4xf32>
          return %sum : tensor<4xf32>
        }""")
    sdy.run_pipeline(module, "sdy-flatten-call-graph")
    values = NamedValues.marked(module)
    makers = operations_with_results(module)
    assert [each.name for each in makers] == ["func.call"] * 2 + ["stablehlo.add"] * 2
    assert [values.name_of_result(each, 0) for each in makers] == ["%0", "%1", "%sum", "%sum"]
    assert [values.result_names_of(each) for each in makers] == [["%0"], ["%1"], ["%sum"], ["%sum"]]
    assert values["%a"].type == values["%sum"].type


def test_a_value_that_a_pass_removed():
    text = """
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %one = stablehlo.constant dense<1.0> : tensor<8xf32>
      %uno = stablehlo.constant dense<1.0> : tensor<8xf32>
      %0 = stablehlo.add %one, %uno : tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    module = sdy.parse(text, sdy.Context())
    values = sdy.values(module)
    sdy.run_pipeline(module, "sdy-constant-or-scalar-merger")
    with pytest.raises(sdy.UsageError, match="'%uno' is in the text, but a pass removed it"):
        _ = values["%uno"]


@pytest.mark.parametrize("name", ["x", "hidden", "two#1"])
def test_names_without_percent(name):
    values = sdy.values(sdy.parse(TEXT, sdy.Context()))
    assert values[name] == values[f"%{name}"]


@pytest.mark.parametrize("name", ["%nothing", "arg7", "result[2]", "nothing", "", "999"])
def test_unknown_names(name):
    values = sdy.values(sdy.parse(TEXT, sdy.Context()))
    assert name not in values
    assert values.get(name) is None
    with pytest.raises(sdy.UsageError, match="no value"):
        _ = values[name]


def test_a_word_for_several_values():
    values = sdy.values(sdy.parse(TEXT, sdy.Context()))
    assert values.find("par*") == [values["arg1"]]
    assert len(values.find("16")) == 2
    with pytest.raises(sdy.UsageError, match="'16' stands for 2 values"):
        _ = values["16"]
