# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations as MLIR knows them: registration, builders, traits, symbols."""

import pytest

from mlir_sdy import model, sdy
from mlir_sdy.assembly import asm, parse
from mlir_sdy.attributes import attribute_of
from mlir_sdy.dialect import Context, register
from mlir_sdy.host import ir, passmanager
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.verify import verify


@pytest.fixture
def context():
    with Context() as context, ir.Location.unknown():
        yield context


def run(module, pipeline):
    passmanager.PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
    return asm(module)


# --- Registration -------------------------------------------------------------------------------


def test_operations_are_registered(context):
    for name in OPERATIONS:
        assert context.is_registered_operation(name)


def test_registering_again_changes_nothing(context):
    register(context)
    assert context.is_dialect_loaded("sdy")


def test_any_context_can_have_the_dialect():
    context = ir.Context()
    register(context)
    module = parse('sdy.mesh @m = <["x"=2]>', context)
    assert asm(module) == 'module {\n  sdy.mesh @m = <["x"=2]>\n}\n'


def test_unregistered_dialects_are_refused_unless_allowed():
    text = 'module {\n  "my.op"() : () -> ()\n}\n'
    with pytest.raises(Exception, match="unregistered dialect"):
        parse(text, Context())
    assert asm(parse(text, Context(allow_unregistered=True))) == text


# --- Builders -----------------------------------------------------------------------------------

MESH = model.Mesh((model.MeshAxis("x", 4), model.MeshAxis("y", 2)))


def sharding(*dims):
    """A sharding on `@m` with one list of axes for each dimension, as an attribute."""
    axes = [tuple(map(model.AxisRef, names)) for names in dims]
    return attribute_of(
        model.TensorSharding("m", tuple(model.DimensionSharding(refs, True) for refs in axes))
    )


def test_building_a_module(context):
    module = ir.Module.create()
    tensor = ir.RankedTensorType.get([8, 8], ir.F32Type.get())
    with ir.InsertionPoint(module.body):
        sdy.mesh("m", attribute_of(MESH))
        function = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get("f"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([tensor], [tensor])),
            },
            regions=1,
        )
    body = function.regions[0].blocks.append(tensor)
    with ir.InsertionPoint(body):
        constrained = sdy.sharding_constraint(body.arguments[0], sharding(["x"], []))
        gathered = sdy.AllGatherOp(
            constrained,
            attribute_of(
                model.ListOfAxisRefLists(
                    (model.AxisRefList((model.AxisRef("x"),)), model.AxisRefList(()))
                )
            ),
            sharding([], []),
        ).result
        sdy.sharding_group(gathered, 3)
        barrier = sdy.propagation_barrier(gathered, sdy.PropagationDirection.FORWARD)
        manual = sdy.ManualComputationOp(
            [tensor],
            [barrier],
            attribute_of(model.TensorShardingPerValue((sharding(["x"], []).value,))),
            attribute_of(model.TensorShardingPerValue((sharding(["x"], []).value,))),
            attribute_of(model.ManualAxes(("x",))),
        )
        local = ir.RankedTensorType.get([2, 8], ir.F32Type.get())
        block = manual.body.blocks.append(local)
        with ir.InsertionPoint(block):
            sdy.return_([sdy.reshard(block.arguments[0], sharding(["y"], []))])
        ir.Operation.create("func.return", operands=[manual.results[0]])
    verify(module)
    text = """module {
  sdy.mesh @m = <["x"=4, "y"=2]>
  func.func @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = sdy.sharding_constraint %arg0 <@m, [{"x"}, {}]> : tensor<8x8xf32>
    %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
    sdy.sharding_group %1 group_id=3 : tensor<8x8xf32>
    %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<8x8xf32>
    %3 = sdy.manual_computation(%2) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<2x8xf32>) {
      %4 = sdy.reshard %arg1 <@m, [{"y"}, {}]> : tensor<2x8xf32>
      sdy.return %4 : tensor<2x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %3 : tensor<8x8xf32>
  }
}
"""  # noqa: E501
    assert asm(module) == text
    assert asm(parse(text, context)) == text


# --- Traits -------------------------------------------------------------------------------------

UNUSED = """
sdy.mesh @m = <["x"=4]>
func.func @f(%a: tensor<8xf32>) {{
  {operation}
  return
}}
"""


@pytest.mark.parametrize(
    ("operation", "stays"),
    [
        ('%0 = sdy.reshard %a <@m, [{"x"}]> : tensor<8xf32>', False),
        ("%0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8xf32>", False),
        ("%0 = sdy.constant dense<1.0> : tensor<8xf32>", False),
        ('%0 = sdy.sharding_constraint %a <@m, [{"x"}]> : tensor<8xf32>', True),
        ("sdy.sharding_group %a group_id=1 : tensor<8xf32>", True),
        ("%0 = sdy.data_flow_edge %a : tensor<8xf32>", True),
    ],
)
@pytest.mark.parametrize("pass_name", ["canonicalize", "cse"])
def test_unused_operations_without_effects_are_removed(context, operation, stays, pass_name):
    module = parse(UNUSED.format(operation=operation), context)
    name = operation.partition("sdy.")[2].split()[0]
    assert (f"sdy.{name}" in run(module, pass_name)) == stays


def test_equal_operations_without_effects_become_one(context):
    reshards = " ".join(
        f'%{i} = sdy.reshard %a <@m, [{{"x"}}]> : tensor<8xf32> '
        f"sdy.sharding_group %{i} group_id=1 : tensor<8xf32>"
        for i in range(2)
    )
    text = run(parse(UNUSED.format(operation=reshards), context), "cse")
    assert text.count("sdy.reshard") == 1
    assert text.count("sdy.sharding_group %0") == 2


def test_constants_are_not_folded_together(context):
    constants = " ".join(
        f"%{i} = sdy.constant dense<1.0> : tensor<8xf32> "
        f"sdy.sharding_group %{i} group_id=1 : tensor<8xf32>"
        for i in range(2)
    )
    text = run(parse(UNUSED.format(operation=constants), context), "canonicalize")
    assert text.count("sdy.constant") == 2


def test_return_ends_a_block(context):
    text = (
        "sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {\n"
        "  sdy.return\n  sdy.return\n} : () -> ()"
    )
    with pytest.raises(Exception, match=r"terminator|last operation"):
        parse(text, context)


def test_bodies_are_isolated(context):
    text = """
        func.func @f(%a: tensor<8xf32>) {
          %0 = sdy.named_computation<"n">(%a) (%b: tensor<8xf32>) {
            sdy.return %a : tensor<8xf32>
          } : (tensor<8xf32>) -> tensor<8xf32>
          return
        }"""
    with pytest.raises(Exception, match="defined outside the region"):
        parse(text, context)


# --- Symbols ------------------------------------------------------------------------------------


def test_meshes_are_symbols(context):
    module = parse('sdy.mesh @m = <["x"=4]> sdy.mesh @"n o" = <[]>', context)
    symbols = ir.SymbolTable(module.operation)
    assert symbols["m"].mesh.value == model.Mesh((model.MeshAxis("x", 4),))
    assert "n o" in symbols
    assert "sdy.mesh @m" in run(module, "symbol-dce")
