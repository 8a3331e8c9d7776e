# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The properties of operations that are computed once for equal types."""

import pytest

import pyshardy as sdy
from mlir_sdy.model import Mesh
from mlir_sdy.traversal import named_operations_in
from pyshardy.auto.graph.operation_forms import OperationForms
from pyshardy.auto.strategies.alternatives import AlternativesOf
from pyshardy.auto.strategies.costs import SentBytes
from pyshardy.cost.op_work import Work
from pyshardy.partition.choice.enumerate import AxisChoices
from pyshardy.partition.op_facts.fusion import FusedValues
from pyshardy.partition.op_facts.work import depends_on_sizes_only

PROGRAM = """
func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4x8xf32>)
    -> (tensor<4x4xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [0] x [0]
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %arg0, %arg2 : tensor<4x8xf32>
  %3 = stablehlo.add %2, %arg2 : tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
"""


@pytest.fixture
def forms():
    """Return the forms of the operations of a program."""
    module = sdy.parse(PROGRAM)
    of = AlternativesOf(module.context, AxisChoices(Mesh({"x": 2}), ("x",)), SentBytes())
    found, fused = OperationForms(of), FusedValues(module)
    operations = [
        (operation, name)
        for operation, name in named_operations_in(module)
        if name.startswith("stablehlo.")
    ]
    return [
        found.of(
            operation,
            name,
            [found.tensor(each) for each in operation.operands],
            [found.tensor(each) for each in operation.results],
            fused.accesses(operation),
        )
        for operation, name in operations
    ]


def test_equal_operations_have_one_form(forms):
    assert forms[2] is forms[3]
    assert forms[2].is_elementwise
    assert forms[2].work == Work(32.0, 384.0)


def test_the_work_of_products_depends_on_their_dimensions(forms):
    assert forms[0] is not forms[1]
    assert not forms[0].is_elementwise
    assert forms[0].work is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("stablehlo.add", True),
        ("stablehlo.pad", True),
        ("stablehlo.dot_general", False),
        ("stablehlo.reduce", False),
        ("stablehlo.sort", False),
    ],
)
def test_work_that_depends_on_sizes_only(name, expected):
    assert depends_on_sizes_only(name) is expected
