# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generated files agree with the dialect's reference, with each other, and with the host."""

from pathlib import Path

import pytest

from mlir_sdy import host, model
from mlir_sdy import ods as ods_package
from mlir_sdy.host import ir
from mlir_sdy.ods import _sdy_ops_gen as ops
from mlir_sdy.ods import attributes as attribute_classes
from mlir_sdy.ods.declarations import (
    AttrDict,
    AttributeVariable,
    Literal,
    OperandVariable,
    OptionalGroup,
    ResultVariable,
    Type,
    Whitespace,
)
from mlir_sdy.ods.irdl_groups import GROUPS, OPERAND_SIZES, expand_groups, group_sizes
from mlir_sdy.ods.tables import ATTRIBUTES, ENUMS, OPERATIONS

ROOT = Path(__file__).resolve().parents[2]
ODS = Path(ods_package.__file__).parent

PARAMETERS = {
    "all_to_all_param": ["axes", "src_dim", "tgt_dim"],
    "all_to_all_param_list": ["value"],
    "axis_ref": ["name", "sub_axis_info"],
    "axis_ref_list": ["value"],
    "axis_to_propagation_details": ["axis_name", "source", "targets"],
    "dim_mapping": ["factor_indices"],
    "dimension_sharding": ["axes", "is_closed", "priority"],
    "edge_value_ref": ["type", "index"],
    "list_of_axis_ref_lists": ["value"],
    "manual_axes": ["value"],
    "mesh": ["axes", "device_ids"],
    "mesh_axis": ["name", "size"],
    "op_sharding_rule": [
        "factor_sizes",
        "operand_mappings",
        "result_mappings",
        "reduction_factors",
        "need_replication_factors",
        "permutation_factors",
        "blocked_propagation_factors",
        "is_custom_rule",
    ],
    "propagation_edges": ["value"],
    "propagation_one_step": ["step_index", "axis_entries"],
    "sharding": [
        "mesh_or_ref",
        "dim_shardings",
        "replicated_axes",
        "unreduced_axes",
        "reduction_kind",
    ],
    "sharding_per_value": ["shardings"],
    "sub_axis_info": ["pre_size", "size"],
    "tensor_mapping": ["dim_mappings"],
}

# The attributes, operands and results of each operation of the dialect's reference.
OPERATION_MEMBERS = {
    "all_gather": ({"gathering_axes", "out_sharding"}, ["tensor"], ["result"]),
    "all_reduce": ({"reduction_axes", "out_sharding", "reduction_op"}, ["tensor"], ["result"]),
    "all_slice": ({"slicing_axes", "out_sharding"}, ["tensor"], ["result"]),
    "all_to_all": ({"params", "out_sharding"}, ["tensor"], ["result"]),
    "collective_permute": ({"out_sharding"}, ["tensor"], ["result"]),
    "constant": ({"value"}, [], ["output"]),
    "data_flow_edge": ({"sharding"}, ["input"], ["result"]),
    "func_data_flow_edge": (set(), ["input"], ["result"]),
    "manual_computation": (
        {"in_shardings", "out_shardings", "manual_axes"},
        ["tensors"],
        ["results"],
    ),
    "mesh": ({"sym_name", "mesh"}, [], []),
    "named_computation": ({"name", "in_shardings", "out_shardings"}, ["operands"], [""]),
    "propagation_barrier": ({"allowed_direction"}, ["input"], ["result"]),
    "reduce_scatter": (
        {"reduce_scatter_axes", "out_sharding", "reduction_op"},
        ["tensor"],
        ["result"],
    ),
    "replicated_to_unreduced": ({"axes", "out_sharding"}, ["tensor"], ["result"]),
    "reshard": ({"sharding"}, ["input"], ["result"]),
    "return": (set(), ["results"], []),
    "sharded_to_unreduced": ({"axes", "out_sharding"}, ["tensor"], ["result"]),
    "sharding_constraint": ({"sharding"}, ["input"], ["result"]),
    "sharding_group": ({"group_id"}, ["input"], []),
}

PURE = {"constant", "propagation_barrier", "reshard", "return"}


def test_attributes_and_their_parameters():
    assert {
        mnemonic: [parameter.name for parameter in declaration.parameters]
        for mnemonic, declaration in ATTRIBUTES.items()
    } == PARAMETERS


def test_operations_and_their_members():
    assert {
        name.removeprefix("sdy."): (
            set(declaration.attribute_names),
            [operand.name for operand in declaration.operands],
            [result.name for result in declaration.results],
        )
        for name, declaration in OPERATIONS.items()
    } == OPERATION_MEMBERS


def test_pure_operations():
    pure = {name for name, declaration in OPERATIONS.items() if "Pure" in declaration.traits}
    assert pure == {f"sdy.{name}" for name in PURE}


def test_every_operation_has_a_class():
    for name, declaration in OPERATIONS.items():
        assert issubclass(getattr(ops, declaration.class_name), ir.OpView)
        assert name == getattr(ops, declaration.class_name).OPERATION_NAME


def test_every_attribute_has_a_class():
    for mnemonic, declaration in ATTRIBUTES.items():
        attribute_class = getattr(attribute_classes, declaration.class_name)
        assert attribute_class.mnemonic == mnemonic
        for parameter in declaration.parameters:
            assert isinstance(getattr(attribute_class, parameter.name), property)


def test_enums_of_the_model():
    for name, declaration in ENUMS.items():
        assert [(case.name, str(case), int(case)) for case in getattr(model, name)] == [
            (case.name, case.keyword, case.value) for case in declaration.cases
        ]


def test_directives():
    assert OPERATIONS["sdy.data_flow_edge"].directives == (
        OperandVariable("input"),
        OptionalGroup(
            (
                Literal("sharding"),
                Whitespace(""),
                Literal("="),
                Whitespace(""),
                AttributeVariable("sharding"),
            ),
            anchor="sharding",
        ),
        AttrDict(),
        Literal(":"),
        Type(ResultVariable("result")),
    )


# --- IRDL ---------------------------------------------------------------------------------------


@pytest.fixture
def context():
    """A context with the attributes and operations, and nothing else of the project."""
    context = ir.Context()
    with context, ir.Location.unknown():
        for name, text in (("attributes", str), ("operations", expand_groups)):
            declarations = (ODS / f"sdy_{name}.irdl.mlir").read_text()
            host.irdl.load_dialects(ir.Module.parse(text(declarations)))
        ir.IsTerminatorTrait.attach("sdy.return")
        yield context


SHARDING = "#sdy.sharding<@mesh, [], [], [], 0 : i32>"


@pytest.mark.parametrize(
    "attribute",
    [
        '#sdy.mesh_axis<"x", 2>',
        "#sdy.mesh<[], array<i64: 3>>",
        '#sdy.axis_ref<"x", unit>',
        '#sdy.axis_ref<"x", #sdy.sub_axis_info<1, 2>>',
        "#sdy.dimension_sharding<[], true, unit>",
        "#sdy.dimension_sharding<[], false, 1>",
        SHARDING,
        "#sdy.sharding<#sdy.mesh<[], array<i64>>, [], [], [], 2 : i32>",
    ],
)
def test_attribute_is_accepted(context, attribute):
    assert str(ir.Attribute.parse(attribute, context))


@pytest.mark.parametrize(
    "attribute",
    [
        '#sdy.mesh_axis<"x">',
        "#sdy.mesh_axis<2, 2>",
        '#sdy.axis_ref<"x", 2>',
        '#sdy.axis_ref<"x", #sdy.mesh_axis<"x", 2>>',
        "#sdy.dimension_sharding<[], 1, unit>",
        '#sdy.sharding<"mesh", [], [], [], 0 : i32>',
        "#sdy.sharding<@mesh, [], [], [], 3 : i32>",
        "#sdy.edge_value_ref<2 : i32, 0>",
    ],
)
def test_attribute_is_refused(context, attribute):
    with pytest.raises(ir.MLIRError):
        ir.Attribute.parse(attribute, context)


def parse_on_argument(context, operation, argument_type="tensor<2xf32>"):
    return ir.Module.parse(
        f"func.func @f(%a: {argument_type}) {{ {operation} func.return }}", context
    )


@pytest.mark.parametrize(
    "operation",
    [
        f'"sdy.reshard"(%a) {{sharding = {SHARDING}}} : (tensor<2xf32>) -> tensor<2xf32>',
        '"sdy.data_flow_edge"(%a) : (tensor<2xf32>) -> tensor<2xf32>',
        '"sdy.propagation_barrier"(%a) {allowed_direction = 1 : i32} '
        ": (tensor<2xf32>) -> tensor<2xf32>",
    ],
)
def test_operation_is_accepted(context, operation):
    assert parse_on_argument(context, operation).operation.verify()


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ('"sdy.reshard"(%a) : (tensor<2xf32>) -> tensor<2xf32>', "sharding"),
        ('"sdy.reshard"(%a) {sharding = 1} : (tensor<2xf32>) -> tensor<2xf32>', "sdy.sharding"),
        ('"sdy.data_flow_edge"(%a) : (tensor<2xf32>) -> tensor<3xf32>', "tensor<3xf32>"),
        ('"sdy.data_flow_edge"() : () -> tensor<2xf32>', "1 operand"),
        (
            '"sdy.propagation_barrier"(%a) {allowed_direction = 4 : i32} '
            ": (tensor<2xf32>) -> tensor<2xf32>",
            "4 : i32",
        ),
    ],
)
def test_operation_is_refused(context, operation, message):
    with pytest.raises(ir.MLIRError, match=message):
        parse_on_argument(context, operation)


def test_collective_of_a_scalar_is_refused(context):
    with pytest.raises(ir.MLIRError, match="'f32'"):
        parse_on_argument(context, '"sdy.func_data_flow_edge"(%a) : (f32) -> f32', "f32")


# --- Builders -----------------------------------------------------------------------------------


@pytest.fixture
def body(context):
    """A module to build in, which is verified in the end."""
    module = ir.Module.create(ir.Location.unknown(context))
    with ir.InsertionPoint(module.body), ir.Location.unknown(context):
        yield module.body
    assert module.operation.verify()


def constant(text):
    return ops.constant(ir.Attribute.parse(text))


@pytest.mark.usefixtures("body")
def test_type_of_a_constant_is_that_of_its_value():
    assert str(constant("dense<1> : tensor<3xi32>").type) == "tensor<3xi32>"


@pytest.mark.usefixtures("body")
def test_type_of_a_collective_is_that_of_its_operand():
    axes = ir.Attribute.parse("#sdy.list_of_axis_ref_lists<[]>")
    value = constant("dense<1.0> : tensor<2xf32>")
    gather = ops.AllGatherOp(
        gathering_axes=axes, tensor=value, out_sharding=ir.Attribute.parse(SHARDING)
    )
    assert gather.result.type == value.type
    assert gather.gathering_axes == axes


@pytest.mark.usefixtures("body")
def test_default_of_an_attribute():
    axes = ir.Attribute.parse("#sdy.axis_ref_list<[]>")
    value = constant("dense<1.0> : tensor<2xf32>")
    sharding = ir.Attribute.parse(SHARDING)
    by_default = ops.AllReduceOp(value, axes, sharding)
    assert "reduction_op" not in by_default.attributes
    assert by_default.reduction_op.value == model.ReductionOp.SUM
    given = ops.AllReduceOp(value, axes, sharding, reduction_op=model.ReductionOp.MAX)
    assert str(given.reduction_op) == "1 : i32"


@pytest.mark.usefixtures("body")
def test_optional_attribute():
    value = constant("dense<1.0> : tensor<2xf32>")
    assert ops.DataFlowEdgeOp(value).sharding is None
    sharding = ir.Attribute.parse(SHARDING)
    assert ops.DataFlowEdgeOp(value, sharding=sharding).sharding == sharding


@pytest.mark.usefixtures("body")
def test_regions_with_values_of_several_types():
    values = [constant("dense<1.0> : tensor<2xf32>"), constant("dense<1> : tensor<3xi32>")]
    types = [value.type for value in values]
    shardings = ir.Attribute.parse("#sdy.sharding_per_value<[]>")
    manual_axes = ir.Attribute.parse("#sdy.manual_axes<[]>")
    manual = ops.ManualComputationOp(types, values, shardings, shardings, manual_axes)
    named = ops.NamedComputationOp(types, "both", list(manual.results))
    for operation in (manual, named):
        block = operation.body.blocks.append(*types)
        with ir.InsertionPoint(block):
            ops.return_(list(block.arguments))
    assert [result.type for result in named.results] == types
    assert sum(manual.attributes[OPERAND_SIZES]) == 2


@pytest.mark.usefixtures("body")
def test_more_values_than_groups():
    value = constant("dense<1.0> : tensor<2xf32>")
    named = ops.NamedComputationOp([], "many", [value] * (2 * GROUPS))
    block = named.body.blocks.append(*[value.type] * (2 * GROUPS))
    with ir.InsertionPoint(block):
        ops.return_([])


def test_group_sizes():
    assert group_sizes("ab")[:3] == (1, 1, 0)
    assert len(group_sizes(())) == GROUPS
    long = "a" * GROUPS + "b"
    assert group_sizes(long)[:3] == (GROUPS, 1, 0)
    with pytest.raises(ValueError, match="groups"):
        group_sizes("ab" * GROUPS)
