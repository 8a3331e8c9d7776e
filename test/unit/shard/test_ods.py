# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of upstream's shard dialect is what the host registers, but for what is newer there."""

import pytest

from mlir_sdy.host import ir
from mlir_sdy.ods.shard_tables import ENUMS, OPERATIONS
from mlir_sdy.shard.values import ReductionKind

# What the host has since LLVM 22: the name of an attribute.
RENAMED = {
    "shard.reduce_scatter": {"scatter_axis": "scatter_dim"},
    "shard.scatter": {"scatter_axis": "scatter_dim"},
}


@pytest.fixture(scope="module")
def operation_classes(context):
    """The host's class of each operation, by which its bindings know attributes and operands."""
    with context:
        dialect = context.dialects["shard"]
        assert dialect.descriptor.namespace == "shard"
    module = ir.Module.parse("shard.grid @g(shape = 2)", context)
    home = type(module.body.operations[0]).__module__
    names = vars(__import__("sys").modules[home])
    return {
        value.OPERATION_NAME: value
        for value in names.values()
        if isinstance(value, type) and issubclass(value, ir.OpView) and value is not ir.OpView
    }


def test_operations(operation_classes):
    assert set(operation_classes) == set(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_members(name, operation_classes):
    declared = OPERATIONS[name]
    found = operation_classes[name]
    properties = {key for key, value in vars(found).items() if isinstance(value, property)}
    renamed = RENAMED.get(name, {})
    expected = {renamed.get(attribute, attribute) for attribute in declared.attribute_names}
    expected |= {operand.name for operand in declared.operands}
    expected |= {result.name for result in declared.results if result.name}
    assert properties - {"results_", "result"} == expected - {"result"}
    assert found.__name__ == declared.class_name


def test_what_is_renamed_is_no_longer_known(context):
    text = """
      shard.grid @g(shape = 2)
      func.func @f(%a: tensor<2xf32>) {
        %0 = shard.scatter %a on @g grid_axes = [0] scatter_axis = 0 root = [1]
          : (tensor<2xf32>) -> tensor<1xf32>
        return
      }"""
    with pytest.raises(ir.MLIRError, match="scatter_dim"):
        ir.Module.parse(text, context)
    ir.Module.parse(text.replace("scatter_axis", "scatter_dim"), context)


def test_kinds_of_reductions(context):
    cases = {case.name: case.value for case in ENUMS["ReductionKind"].cases}
    ours = {
        "".join(word.title() for word in kind.name.split("_")): kind.value for kind in ReductionKind
    }
    assert ours == cases
    for kind in ReductionKind:
        assert kind.keyword in {case.keyword for case in ENUMS["ReductionKind"].cases}
        attribute = ir.Attribute.parse(f"#shard<partial {kind.keyword}>", context)
        assert str(attribute) == f"#shard<partial {kind.keyword}>"
