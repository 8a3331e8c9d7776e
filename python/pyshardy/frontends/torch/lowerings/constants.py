# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants, which the importer has not for all element types."""

from __future__ import annotations

from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering


@lowering("aten.full")
def full(build: LoweringBuilder, size: Any, fill_value: complex, **options: Any) -> ir.Value:
    """Fill a tensor with a number."""
    return build.filled(build.result_types[0], fill_value)
