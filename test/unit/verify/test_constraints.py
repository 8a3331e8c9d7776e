# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every constraint that the documents of the dialect state, with what it allows and what not.

The first three lists follow the reference of the dialect, the last one the description of the
sharding representation. Where Shardy does not enforce a statement, the snippet that breaks it is
accepted here, too, and `unless` says why.
"""

import pytest
from attribute_constraints import ATTRIBUTE_CONSTRAINTS
from collective_constraints import COLLECTIVE_CONSTRAINTS
from constraint_texts import MESHES
from operation_constraints import OPERATION_CONSTRAINTS
from representation_constraints import REPRESENTATION_CONSTRAINTS

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.ods.tables import ATTRIBUTES, OPERATIONS

DIALECT = [*OPERATION_CONSTRAINTS, *COLLECTIVE_CONSTRAINTS, *ATTRIBUTE_CONSTRAINTS]
CONSTRAINTS = {"dialect": DIALECT, "representation": REPRESENTATION_CONSTRAINTS}


def cases(of):
    """The texts of one kind, with where they come from."""
    for document, constraints in CONSTRAINTS.items():
        for index, constraint in enumerate(constraints):
            for number, text in enumerate(getattr(constraint, of)):
                name = f"{document}-{index}-{constraint.about}-{number}"
                yield pytest.param(constraint, text, id=name)


@pytest.mark.parametrize(("constraint", "text"), list(cases("accepted")))
def test_accepted(constraint, text, context):
    try:
        parse(MESHES + text, context)
    except SdyError as error:
        pytest.fail(f"{constraint.says}\n{error}")


@pytest.mark.parametrize(("constraint", "text"), list(cases("refused")))
def test_refused(constraint, text, context):
    with pytest.raises(SdyError, match=constraint.because):
        parse(MESHES + text, context)


@pytest.mark.parametrize(
    "constraint", [*DIALECT, *REPRESENTATION_CONSTRAINTS], ids=lambda of: of.about
)
def test_constraints_are_enforced_or_explained(constraint):
    assert constraint.accepted
    assert bool(constraint.refused) == bool(constraint.because) != bool(constraint.unless)


def test_there_are_constraints_of_all_operations_and_attributes():
    about = {constraint.about for constraint in DIALECT}
    # sdy.return takes any values anywhere; edges between functions are not in the reference.
    without = {"sdy.return", "sdy.func_data_flow_edge"}
    assert set(OPERATIONS) - about == without
    # Records of propagation and lists without constraints of their own.
    assert {f"#sdy.{name}" for name in ATTRIBUTES} - about == {
        "#sdy.all_to_all_param",
        "#sdy.all_to_all_param_list",
        "#sdy.axis_to_propagation_details",
        "#sdy.edge_value_ref",
        "#sdy.list_of_axis_ref_lists",
        "#sdy.propagation_edges",
        "#sdy.propagation_one_step",
    }
