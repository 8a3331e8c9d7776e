# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations of StableHLO have regions, as its own bindings declare it."""

import pytest

from mlir_sdy.traversal import may_have_regions


def test_all_operations_with_regions_are_known():
    pytest.importorskip("jaxlib.mlir.dialects.stablehlo")
    from jaxlib.mlir.dialects import _stablehlo_ops_gen as generated  # noqa: PLC0415

    classes = [each for each in vars(generated).values() if hasattr(each, "_ODS_REGIONS")]
    assert len(classes) > 100
    for each in classes:
        count, is_exact = each._ODS_REGIONS
        assert may_have_regions(each.OPERATION_NAME) == (count > 0 or not is_exact), each
    assert may_have_regions("some.operation")
