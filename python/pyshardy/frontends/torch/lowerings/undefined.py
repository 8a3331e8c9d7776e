# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors whose values are undefined, which become zeros."""

from __future__ import annotations

from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering


@lowering(
    "aten.empty",
    "aten.empty_like",
    "aten.empty_permuted",
    "aten.empty_strided",
    "aten.new_empty",
    "aten.new_empty_strided",
)
def empty(build: LoweringBuilder, *_: Any, **__: Any) -> ir.Value:
    """Make a tensor of zeros."""
    return build.filled(build.result_types[0], 0)
