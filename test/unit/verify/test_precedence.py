# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order in which broken rules are reported, here where the host reports first."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import ParseError, VerificationError
from mlir_sdy.host import ir
from mlir_sdy.verify import verify

MESH = 'sdy.mesh @mesh = <["a"=2]>\n'
BAD_SHARDING = "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>}"
BAD_ADD = '%1 = "stablehlo.add"(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<9xf32>'


def function(*lines):
    body = "\n".join(lines)
    return f"{MESH}func.func @f(%a: tensor<8xf32>) {{\n{body}\nfunc.return }}"


def refusal(text, context):
    with pytest.raises((ParseError, VerificationError)) as failure:
        parse(text, context, "file")
    return str(failure.value)


def test_attributes_come_with_their_operation(context):
    negate = f"%0 = stablehlo.negate %a {BAD_SHARDING} : tensor<8xf32>"
    first = refusal(function(negate, BAD_ADD), context)
    assert first.startswith("file:3:67: error: 'stablehlo.negate' op result - sharding doesn't")
    second = refusal(function(BAD_ADD, negate), context)
    assert second.startswith("file:3:6: error: 'stablehlo.add' op requires the same shape")


def test_uses_of_meshes_come_last(context):
    reshard = '%0 = sdy.reshard %a <@mesh, [{"q"}]> : tensor<8xf32>'
    assert "file:4:6: error: 'stablehlo.add'" in refusal(function(reshard, BAD_ADD), context)


def test_functions_are_checked_against_meshes_from_last_to_first(context):
    def reshard(number, axis):
        return f'%{number} = sdy.reshard %a <@mesh, [{{"{axis}"}}]> : tensor<8xf32>'

    first = function(reshard(0, "u"), reshard(1, "v"))
    assert '"u"' in refusal(first, context)
    second = function(reshard(0, "w")).removeprefix(MESH).replace("@f", "@g")
    assert '"w"' in refusal(first + second, context)


def test_uses_before_definitions_come_after_the_attributes_of_a_function(context):
    early = "%0 = stablehlo.negate %z : tensor<8xf32>\n%z = stablehlo.negate %a : tensor<8xf32>"
    late = f"%2 = stablehlo.abs %a {BAD_SHARDING} : tensor<8xf32>"
    assert "file:5:64: error: 'stablehlo.abs'" in refusal(function(early, late), context)
    other = late.replace("%2", "%0")
    text = f"{function(early)}\nfunc.func @g(%a: tensor<8xf32>) {{ {other} func.return }}"
    assert "file:3:6: error: operand #0 does not dominate this use" in refusal(text, context)


def test_columns_count_in_the_source(context):
    """What the host reads has other text in front of the module, and longer lines."""
    text = f"module {{ {MESH} func.func @f(%a: tensor<8xf32>) {{ "
    text += "%0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8xf32> "
    text += f"%1 = stablehlo.negate %a {BAD_SHARDING} : tensor<8xf32> {BAD_ADD.replace('1', '2')} "
    column = text.splitlines()[1].index("<@mesh, []") + 1
    message = refusal(text + "func.return } }", context)
    assert message.startswith(f"file:2:{column}: error: 'stablehlo.negate'")


def test_what_a_check_can_not_be_asked_about(context):
    """Edges ask for the shardings of operands; those of what the host refuses may be anything."""
    edges = '#sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>'
    text = function(
        f"%0 = stablehlo.negate %z {{sdy.propagation_edges = {edges}}} : tensor<8xf32>",
        '%z = "sdy.reshard"(%a) {sharding = 1 : i32} : (tensor<8xf32>) -> tensor<8xf32>',
    )
    assert "file:4:6: error: " in refusal(text, context)


def test_modules_that_were_changed(context):
    module = parse(function("%0 = stablehlo.negate %a : tensor<8xf32>"), context)
    negate = module.body.operations[1].operation.regions[0].blocks[0].operations[0].operation
    with context, negate.location, ir.InsertionPoint.after(negate):
        negate.attributes["sdy.sharding"] = ir.UnitAttr.get()
        wider = ir.RankedTensorType.get([9], ir.F32Type.get())
        ir.Operation.create("stablehlo.negate", [wider], list(negate.operands))
    with pytest.raises(VerificationError, match="should have a sharding attribute of type"):
        verify(module)
    del negate.attributes["sdy.sharding"]
    with pytest.raises(VerificationError, match="all operands and results"):
        verify(module)


def test_parts_of_a_module(context):
    """Uses of meshes are checked in what is verified, which need not be a module."""
    module = parse(function('%0 = sdy.reshard %a <@mesh, [{"a"}]> : tensor<8xf32>'), context)
    mesh, whole = (view.operation for view in module.body.operations)
    mesh.erase()
    for part in (whole, whole.regions[0].blocks[0].operations[0]):
        with pytest.raises(VerificationError, match="unknown mesh: @mesh"):
            verify(part)
