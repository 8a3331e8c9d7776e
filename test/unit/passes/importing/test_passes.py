# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes as functions, and what can't be seen in a text."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import PassError, collect
from pyshardy.passes import importing
from pyshardy.pipeline import passes, run_pipeline


def test_each_pass_is_a_function_of_the_package():
    assert "flatten_call_graph" in importing.__all__
    for name in importing.__all__:
        assert callable(getattr(importing, name))
        assert getattr(importing, name).__doc__


def test_importing_the_module_of_a_pass_does_not_hide_the_function():
    from pyshardy.passes.importing.flatten_call_graph import flatten_call_graph  # noqa: PLC0415

    assert importing.flatten_call_graph is flatten_call_graph


CONSTANTS = """
func.func @main() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.constant dense<2.0> : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
"""


def test_the_old_name_of_the_splitter_is_an_alias(context):
    texts: list[str] = []
    for name in ("sdy-constant-splitter", "sdy-constant-or-scalar-splitter"):
        module = parse(CONSTANTS, context)
        passes()[name].run(module, {})
        texts.append(asm(module))
    assert texts[0] == texts[1]
    assert texts[0].count("sdy.constant") == 2


RECURSIVE = """
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @g(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @g(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @f(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @g(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
BAD_GROUP = """
func.func @main(%a: tensor<8xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>) {
  sdy.sharding_group %a group_id=7 : tensor<8xf32>
  sdy.sharding_group %a group_id=7 : tensor<8xf32>
  sdy.sharding_group %c group_id=3 : tensor<8xf32>
  sdy.sharding_group %b group_id=3 : tensor<4xf32>
  return
}
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("flatten_call_graph", RECURSIVE),
        ("import_func_calls", RECURSIVE),
        ("sharding_group_import", BAD_GROUP),
    ],
)
def test_a_pass_that_fails_changes_nothing(context, name, text):
    module = parse(text, context)
    before = asm(module)
    with pytest.raises(PassError):
        getattr(importing, name)(module)
    assert asm(module) == before


def test_a_body_that_is_copied_is_told_once_for_each_function(context):
    text = RECURSIVE.replace("%0 = call @f(%a)", "%0 = call @g(%a)")
    module = parse(text, context)
    with collect() as diagnostics:
        importing.import_func_calls(module)
    assert [diagnostic.message for diagnostic in diagnostics] == [
        "function @g has multiple call ops, we need to clone the function body for each call"
    ]


def test_long_constant_sub_computations(context):
    length = 3_000
    chain = "\n".join(
        f"  %{at + 1} = stablehlo.negate %{at} : tensor<8xf32>" for at in range(length)
    )
    text = f"""
    func.func @main() -> (tensor<8xf32>, tensor<8xf32>) {{
      %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
    {chain}
      return %{length}, %{length} : tensor<8xf32>, tensor<8xf32>
    }}"""
    module = parse(text, context)
    importing.constant_or_scalar_splitter(module)
    assert asm(module).count("stablehlo.negate") == 2 * length


def test_deep_calls_are_flattened(context):
    depth = 1_500
    functions = "\n".join(
        f"""
    func.func private @f{at}(%a: tensor<8xf32>) -> tensor<8xf32> {{
      %0 = call @f{at + 1}(%a) : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }}"""
        for at in range(depth)
    )
    text = f"""
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {{
      %0 = call @f0(%a) : (tensor<8xf32>) -> tensor<8xf32>
      %1 = call @f0(%0) : (tensor<8xf32>) -> tensor<8xf32>
      return %1 : tensor<8xf32>
    }}
    func.func private @f{depth}(%a: tensor<8xf32>) -> tensor<8xf32> {{
      return %a : tensor<8xf32>
    }}
    {functions}"""
    module = parse(text, context)
    importing.flatten_call_graph(module)
    assert asm(module).count("func.func private") == 2 * (depth + 1)


IN_A_MODULE = """
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
module @inner {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %1 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.add %1, %0 : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
  func.func private @f(%a: tensor<8xf32>)
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    return %a : tensor<8xf32>
  }
}
"""


@pytest.mark.parametrize("options", ["", "{dedup-functions-fully=true}"])
def test_calls_in_a_module_in_the_module_stay(context, options):
    module = parse(IN_A_MODULE, context)
    run_pipeline(module, f"sdy-propagation-pipeline{options}")
    assert "call @f(%arg0) : (tensor<8xf32>)" in asm(module)
