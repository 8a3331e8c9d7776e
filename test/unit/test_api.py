# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The public API: what it has, when it loads, its types, and the shardings of all values."""

import ast
import importlib
import inspect
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import pyshardy as sdy
from mlir_sdy.values import result_shardings, set_result_shardings

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
USER_CODE = HERE / "typed_user_code.py"


# --- Names ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sdy.__all__)
def test_names_are_there_and_documented(name):
    documentation = inspect.getdoc(getattr(sdy, name))
    assert documentation
    assert documentation[0].isupper() or documentation.startswith("`")
    assert not documentation.startswith(f"{name}("), "the text that a data class generates"


def test_names_are_listed_once_in_order():
    assert sdy.__all__ == sorted(set(sdy.__all__))
    assert {*sdy.__all__, "jax", "torch", "shard", "passes", "AllGatherOp", "all_gather"} <= {
        *dir(sdy)
    }
    assert all(hasattr(sdy, name) for name in dir(sdy) if name != "torch")
    assert dir(sdy.jax) == ["auto_shard", "from_exported", "from_lowered", "trace"]


OTHER_MODULES = ("mlir_sdy.ods", "mlir_sdy.sdy", "pyshardy")
"""The modules of the dialect's names and of subpackages."""


def test_names_are_those_that_type_checkers_see():
    """The imports under `TYPE_CHECKING` name the modules from which names are loaded when used."""
    tree = ast.parse(Path(sdy.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module not in OTHER_MODULES
        for alias in node.names
        if alias.asname is None  # a subpackage, as in `import jax as jax`
    }
    assert {*seen, "shard"} >= set(sdy.__all__) >= seen.keys()
    for name, module in seen.items():
        assert getattr(sdy, name) is getattr(importlib.import_module(module), name)


def test_the_dialect_is_there_too():
    assert {*importlib.import_module("mlir_sdy.sdy").__all__} < {*dir(sdy)}
    assert sdy.AllGatherOp.OPERATION_NAME == "sdy.all_gather"
    assert callable(sdy.all_gather)
    assert sdy.TensorShardingAttr.mnemonic == "sharding"


def test_unknown_names():
    with pytest.raises(AttributeError, match="module 'pyshardy' has no attribute 'shard_it'"):
        _ = sdy.shard_it


def test_values_and_drawings_need_no_host():
    program = """
import sys
import pyshardy as sdy
mesh = sdy.Mesh.of({"x": 2})
sdy.draw(sdy.TensorSharding("m", (sdy.DimensionSharding((mesh.axis("x"),)),)), (4,), mesh).svg
assert "torch_mlir" not in sys.modules
sdy.Context
assert "torch_mlir" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_functions_are_not_hidden_by_subpackages_of_their_name():
    program = """
import pyshardy as sdy
import pyshardy.partition.partial.reductions
assert sdy.partition.__module__ == "pyshardy.advised_partition", sdy.partition
import pyshardy.partition.op_facts.data_flow
assert sdy.partition.__module__ == "pyshardy.advised_partition", sdy.partition
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# --- Meshes and shardings from Python values --------------------------------------------------


def test_meshes_of_sizes():
    mesh = sdy.Mesh({"x": 2, "y": 2})
    assert mesh == sdy.Mesh.of({"x": 2, "y": 2})
    assert sdy.Mesh({"x": 2}, [1, 0]).device_ids == (1, 0)
    assert mesh == sdy.Mesh(mesh.axes)


def test_sharding_of_axes():
    assert str(sdy.sharding(("x", None, ("y", "z")))) == '<@mesh, [{"x"}, {}, {"y", "z"}]>'
    assert sdy.sharding([], sdy.Mesh({"x": 2})).rank == 0
    with pytest.raises(sdy.UsageError, match=r"expected the name of an axis, .* got: 3"):
        sdy.sharding(("x", 3))


@pytest.mark.parametrize("wrong", ["model", 3, None])
def test_what_is_no_sharding(wrong):
    with pytest.raises(sdy.UsageError, match=r"\('\w+', None\)"):
        sdy.sharding(wrong)


# --- Shardings from text ----------------------------------------------------------------------


def test_sharding_of_text_without_a_mesh():
    expected = '<@mesh, [{"x", ?}, {}], replicated={"y"}>'
    assert str(sdy.sharding("[{'x', ?}, {}], replicated={'y'}")) == expected
    assert str(sdy.sharding("P('x', ('y', 'z'), None)", "m")) == '<@m, [{"x"}, {"y", "z"}, {}]>'
    mesh = sdy.Mesh({"x": 2})
    assert sdy.sharding("[{'x'}]", mesh) == sdy.sharding(("x",), mesh)


@pytest.mark.parametrize(
    "text",
    ['<@mesh, [{"x", ?}p1, {}], unreduced=max{"z"}>', '<mesh<["x"=2]>, [{"x"}]>', "<@m, []>"],
)
def test_sharding_of_text(text):
    assert str(sdy.sharding(text)) == text
    assert str(sdy.sharding(f" #sdy.sharding{text} // the full form")) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<@m, [{"x"}]', "sharding:1:13: error: expected"),
        ('<@m, [{"x"}]> : 1', "sharding:1:15: error: expected the end of the sharding"),
        ("", "sharding:1:1: error: expected"),
        ('#sdy.mesh<["x"=2]>', "sharding:1:1: error:"),
    ],
)
def test_text_that_is_no_sharding(text, message):
    with pytest.raises(sdy.ParseError) as failure:
        sdy.sharding(text)
    assert str(failure.value).startswith(message)


# --- The sharding of every kind of value ------------------------------------------------------

PROGRAM = """
sdy.mesh @m = <["a"=2, "b"=2]>
func.func private @callee(%arg: tensor<8xf32>) -> tensor<8xf32>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}, %i: tensor<i32>,
                %p: tensor<i1>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"b"}]>}) {
  %constraint = sdy.sharding_constraint %x <@m, [{"a", ?}]> : tensor<8xf32>
  %reshard = sdy.reshard %x <@m, [{"b"}]> : tensor<8xf32>
  %gather = sdy.all_gather [{"a"}] %x out_sharding=<@m, [{}]> : tensor<8xf32>
  %barrier = sdy.propagation_barrier %x allowed_direction=NONE : tensor<8xf32>
  %sum = stablehlo.add %x, %x
    {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a", "b"}]>]>} : tensor<8xf32>
  %call = func.call @callee(%x) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"b", "a"}]>]>}
    : (tensor<8xf32>) -> tensor<8xf32>
  %while:2 = stablehlo.while(%u = %x, %v = %x) : tensor<8xf32>, tensor<8xf32> attributes {
      sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}]>, <@m, [{"b"}]>]>} cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %u, %v : tensor<8xf32>, tensor<8xf32>
  }
  %while_edge = sdy.data_flow_edge %while#1 sharding=<@m, [{"b", "a"}]> : tensor<8xf32>
  %case = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<8xf32>
  }, {
    stablehlo.return %sum : tensor<8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"b", ?}]>]>} : (tensor<i32>) -> tensor<8xf32>
  %case_edge = sdy.data_flow_edge %case : tensor<8xf32>
  %optimized = "stablehlo.optimization_barrier"(%x)
    {sdy.sharding = #sdy.sharding_per_value<[<@m, [{?}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %manual = sdy.manual_computation(%x) in_shardings=[<@m, [{"a", "b"}]>]
      out_shardings=[<@m, [{"a", ?}]>] manual_axes={"a"} (%inner: tensor<4xf32>) {
    sdy.return %inner : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %named = sdy.named_computation<"f">(%x) in_shardings=[<@m, [{"b"}]>]
      out_shardings=[<@m, [{"a"}]>] (%inner: tensor<8xf32>) {
    sdy.return %inner : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %reduce = "stablehlo.reduce"(%x, %init) ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    stablehlo.return %u : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %x : tensor<8xf32>
}
"""

# Each kind of value with the operation that it belongs to, its region (none for a result), its
# number there, and its sharding in the program above.
VALUES = {
    "function argument": ("func.func", 0, 0, '[{"a"}]'),
    "function argument without one": ("func.func", 0, 1, None),
    "constraint": ("sdy.sharding_constraint", None, 0, '[{"a", ?}]'),
    "reshard": ("sdy.reshard", None, 0, '[{"b"}]'),
    "collective": ("sdy.all_gather", None, 0, "[{}]"),
    "propagation barrier": ("sdy.propagation_barrier", None, 0, None),
    "ordinary result": ("stablehlo.add", None, 0, '[{"a", "b"}]'),
    "ordinary result without one": ("stablehlo.constant", None, 0, None),
    "call": ("func.call", None, 0, '[{"b", "a"}]'),
    "while result": ("stablehlo.while", None, 0, '[{"a"}]'),
    "while argument of the condition": ("stablehlo.while", 0, 0, '[{"a"}]'),
    "while argument of the body": ("stablehlo.while", 1, 0, '[{"a"}]'),
    "while result with an edge": ("stablehlo.while", None, 1, '[{"b", "a"}]'),
    "while argument of the condition with an edge": ("stablehlo.while", 0, 1, '[{"b", "a"}]'),
    "while argument of the body with an edge": ("stablehlo.while", 1, 1, '[{"b", "a"}]'),
    "data-flow edge": ("sdy.data_flow_edge", None, 0, '[{"b", "a"}]'),
    "case result whose edge has none": ("stablehlo.case", None, 0, None),
    "optimization barrier": ("stablehlo.optimization_barrier", None, 0, "[{?}]"),
    "manual computation result": ("sdy.manual_computation", None, 0, '[{"a", ?}]'),
    "manual computation argument": ("sdy.manual_computation", 0, 0, '[{"b"}]'),
    "named computation result": ("sdy.named_computation", None, 0, '[{"a"}]'),
    "named computation argument": ("sdy.named_computation", 0, 0, '[{"b"}]'),
}
NOWHERE = {"reducer argument": ("stablehlo.reduce", 0, 0)}


@pytest.fixture(scope="module")
def context():
    return sdy.Context()


@pytest.fixture
def module(context):
    return sdy.parse(PROGRAM, context)


def value_in(module, name, region, number):
    """The value of the first operation of that name in `@main`, or `@main` itself."""
    function = module.body.operations[2].operation
    operations = [view.operation for view in function.regions[0].blocks[0].operations]
    operation = next(each for each in (function, *operations) if each.name == name)
    if region is None:
        return operation.results[number]
    return operation.regions[region].blocks[0].arguments[number]


@pytest.mark.parametrize("kind", VALUES)
def test_get_sharding(module, kind):
    *place, dims = VALUES[kind]
    found = sdy.get_sharding(value_in(module, *place))
    assert found == (None if dims is None else sdy.sharding(f"<@m, {dims}>"))


@pytest.mark.parametrize("kind", VALUES)
def test_set_sharding(module, kind):
    name, region, number, _ = VALUES[kind]
    new = sdy.sharding('<@m, [{"b", ?}p1]>')
    value = value_in(module, name, region, number)
    sdy.set_sharding(value, new)
    assert sdy.get_sharding(value) == new


@pytest.mark.parametrize("kind", NOWHERE)
def test_values_without_a_place(module, kind):
    value = value_in(module, *NOWHERE[kind])
    before = sdy.asm(module)
    sdy.set_sharding(value, sdy.sharding("<@m, []>"))
    assert sdy.asm(module) == before
    assert sdy.get_sharding(value) is None


def test_results_of_functions(module):
    """They are no values: they are asked for by their function and number."""
    function = module.body.operations[2]
    assert result_shardings(function) == [sdy.sharding('<@m, [{"b"}]>')]
    set_result_shardings(function, {0: sdy.sharding("<@m, [{?}]>")})
    assert result_shardings(function) == [sdy.sharding("<@m, [{?}]>")]


# --- Types ------------------------------------------------------------------------------------


def test_user_code_runs():
    code = runpy.run_path(str(USER_CODE))
    assert code["collectives"]() == ["all_reduce"]
    assert code["picture"]().count("<svg") == 2
    assert [str(sharding) for sharding in code["shardings_of_arguments"]()] == [
        '<@mesh, [{"x"}, {"y"}]>',
        "<@mesh, [{?}, {?}]>",
    ]
    assert code["complaint"]().startswith("-:1:16: error:")
