# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When rules are checked, and what is said; the rules are in lit and oracle."""

import pytest

from mlir_sdy import model
from mlir_sdy.assembly import parse
from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import SdyError, Severity, VerificationError
from mlir_sdy.host import ir
from mlir_sdy.ods.irdl_groups import OPERAND_SIZES, group_sizes, without_group_sizes
from mlir_sdy.verify import verify, verify_shardings

MESH = 'sdy.mesh @m = <["x"=4, "y"=2]>\n'


def failure(text, context):
    with pytest.raises(VerificationError) as raised:
        parse(text, context, "f")
    return raised.value.diagnostics[0]


def sharded(axis):
    return (
        f"  %0 = stablehlo.negate %a {{sdy.sharding = "
        f'#sdy.sharding_per_value<[<@m, [{{"{axis}"}}]>]>}} : tensor<8xf32>\n'
    )


def function(name, operations):
    return f"func.func @{name}(%a: tensor<8xf32>) {{\n{operations}  return\n}}\n"


def reshard(axis):
    return f'  %0 = sdy.reshard %a <@m, [{{"{axis}"}}]> : tensor<8xf32>\n'


# --- Meshes -------------------------------------------------------------------------------------


def test_meshes_may_come_later(context):
    parse(function("f", reshard("x") + sharded("x").replace("%0", "%1")) + MESH, context)


def test_only_the_nearest_module_counts(context):
    inner = f"module {{\n{function('f', sharded('x'))}}}\n"
    assert "unknown mesh: @m" in failure(MESH + inner, context).message


def test_equal_shardings_under_different_meshes(context):
    """What is fine on one mesh is checked again on another mesh of the same name."""
    other = 'sdy.mesh @m = <["z"=4]>\n'
    text = f"{MESH}{function('f', sharded('x'))}module {{\n{other}{function('g', sharded('x'))}}}\n"
    found = failure(text, context)
    assert 'unknown axis name: "x"; the mesh has the axes "z"' in found.message
    assert found.location.line == 9


def test_equal_shardings_inside_of_a_manual_computation(context):
    """What is fine outside is checked again where axes are manual."""
    body = (
        '  %1 = sdy.manual_computation(%a) in_shardings=[<@m, [{"y"}]>] '
        'out_shardings=[<@m, [{"y"}]>] manual_axes={"y"} (%b: tensor<4xf32>) {\n'
        "    %2 = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
        f"  {sharded('y').replace('%a', '%2').replace('%0', '%3')}"
        "    sdy.return %b : tensor<4xf32>\n  } : (tensor<8xf32>) -> tensor<8xf32>\n"
    )
    found = failure(MESH + function("f", sharded("y") + body), context)
    assert 'operates on axis "y" which is already bound' in found.message
    (note,) = found.notes
    assert note.severity is Severity.NOTE
    assert (note.location.line, note.message) == (4, "parent bounding this axis as manual")


# --- Moments ------------------------------------------------------------------------------------


def test_a_module_that_became_invalid(context):
    module = parse(MESH + function("f", reshard("x")), context)
    verify(module)
    mesh, function_ = module.body.operations
    (operation, _) = function_.regions[0].blocks[0].operations
    sharding = model.TensorSharding("m", (model.DimensionSharding((model.AxisRef("z"),)),))
    operation.attributes["sharding"] = attribute_of(sharding, context)
    with pytest.raises(VerificationError, match='unknown axis name: "z"'):
        verify(module)
    mesh.erase()
    with pytest.raises(VerificationError, match="unknown mesh: @m"):
        verify_shardings(module)


def test_a_broken_operation_fails_when_mlir_verifies(context):
    module = parse(function("f", ""), context)
    block = module.body.operations[0].regions[0].blocks[0]
    with context, ir.Location.file("g", 3, 4):
        ir.Operation.create(
            "sdy.propagation_barrier",
            results=[block.arguments[0].type],
            operands=[block.arguments[0]],
            attributes={
                "allowed_direction": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 3)
            },
            ip=ir.InsertionPoint.at_block_begin(block),
        )
    with pytest.raises(VerificationError) as raised:
        verify(module)
    (diagnostic, *_) = raised.value.diagnostics
    assert str(diagnostic).startswith(
        "g:3:4: error: 'sdy.propagation_barrier' op cannot specify `BOTH` as the direction"
    )


@pytest.mark.parametrize(
    "operation",
    [
        '"sdy.mesh"() <{sym_name = "m"}> : () -> ()',
        '"sdy.mesh"() <{sym_name = "m", mesh = 1 : i32}> : () -> ()',
        '"sdy.manual_computation"() : () -> ()',
        '"sdy.manual_computation"() ({"sdy.return"() : () -> ()}) {manual_axes = [],'
        " in_shardings = #sdy.sharding_per_value<[]>, out_shardings = #sdy.sharding_per_value<[]>}"
        " : () -> ()",
        '"sdy.named_computation"() {name = "n"} : () -> ()',
        '%0 = sdy.constant dense<0> : tensor<i32> %1 = "sdy.propagation_barrier"(%0) '
        ": (tensor<i32>) -> tensor<i32>",
        '%0 = sdy.constant dense<0> : tensor<i32> %1 = "sdy.propagation_barrier"(%0) '
        "{allowed_direction = []} : (tensor<i32>) -> tensor<i32>",
    ],
)
def test_generic_forms_that_lack_parts(operation, context):
    """The verifiers in Python leave them to the declarations."""
    with pytest.raises(SdyError, match=r"expected|region|constraint|requires"):
        parse(operation, context)


def test_operations_are_shown_without_the_sizes_of_their_groups(context):
    """Those are there for the host only; sizes that belong to an operation stay."""
    returned = '"sdy.return"(%a) {tag} : (tensor<8xf32>) -> ()\n'
    with pytest.raises(SdyError) as raised:
        parse(function("f", returned), context)
    assert str(raised.value).endswith(
        'see current operation: "sdy.return"(%arg0) {tag} : (tensor<8xf32>) -> ()'
    )
    sizes = "{operandSegmentSizes = array<i32: 1, 1>, tag}"
    assert without_group_sizes(f'"a.b"(%0, %1) {sizes}') == f'"a.b"(%0, %1) {sizes}'
    ours = f"{OPERAND_SIZES} = array<i32: {', '.join(map(str, group_sizes('a')))}>"
    for entries, left in (
        (f"{{{ours}}}", ""),
        (f"{{a, {ours}}}", " {a}"),
        (f"{{{ours}, a}}", " {a}"),
    ):
        assert without_group_sizes(f'"sdy.return"(%0) {entries}') == f'"sdy.return"(%0){left}'
