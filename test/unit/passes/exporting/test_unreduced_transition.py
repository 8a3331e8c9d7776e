# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When unreduced axes may come and go."""

import pytest

from mlir_sdy.model import AxisRef, Mesh, ReductionOp, TensorSharding
from pyshardy.passes.exporting.verify_unreduced_axes import broken_transition

MESHES = {"m": Mesh.of({"x": 4, "y": 2}), "same": Mesh.of({"x": 4, "y": 2}), "empty": Mesh()}
SUM, MAX, MIN = ReductionOp
X, Y = AxisRef("x"), AxisRef("y")
HALF, OTHER_HALF = AxisRef.sub("x", 1, 2), AxisRef.sub("x", 2, 2)


def sharding(*axes: AxisRef, kind: ReductionOp = SUM, mesh: str = "m") -> TensorSharding:
    return TensorSharding(mesh, (), unreduced_axes=axes, reduction_kind=kind)


def check(operands, results, introduced_as=SUM, removed_as=None):
    return broken_transition(
        operands, results, MESHES, introduced_as=introduced_as, removed_as=removed_as
    )


@pytest.mark.parametrize(
    ("operands", "results"),
    [
        ([], []),
        ([], [sharding(X)]),
        ([sharding()], [sharding(X, Y)]),
        ([sharding(X), sharding()], [sharding(X)]),
        ([sharding(HALF), sharding(OTHER_HALF)], [sharding(X)]),
        ([sharding(X)], [sharding(HALF, OTHER_HALF)]),
        ([sharding(X, mesh="same")], [sharding(X)]),
        # Nothing is said of different meshes, the empty one included.
        ([sharding(X)], [sharding(mesh="empty")]),
    ],
)
def test_fine(operands, results):
    assert check(operands, results) is None


def test_introduced():
    assert "cannot add new unreduced axis 'y'" in check([sharding(X)], [sharding(X, Y)], None)
    assert "'max' unreduced axes. Expected 'sum'" in check([], [sharding(X, kind=MAX)])
    assert check([], [sharding(X, kind=MAX)], MAX) is None


def test_removed():
    assert "dropped unreduced axis 'y'" in check([sharding(X, Y)], [sharding(X)])
    assert "dropped unreduced axis 'x'" in check([sharding(X)], [sharding(HALF)])
    assert check([sharding(X, kind=MIN)], [sharding()], removed_as=MIN) is None
    message = check([sharding(X, kind=MIN)], [sharding()], removed_as=SUM)
    assert "cannot reduce 'min' unreduced axes. Expected 'sum'" in message


def test_kept():
    message = check([sharding(X, kind=MAX)], [sharding(X)])
    assert "of kept unreduced axes from max to sum" in message


def test_what_is_introduced_comes_first():
    message = check([sharding(X)], [sharding(Y)], None)
    assert message.startswith("cannot add new unreduced axis 'y'")
