# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-constant-splitter`: the older name of `sdy-constant-or-scalar-splitter`."""

from pyshardy.passes.importing.constant_or_scalar_splitter import (
    constant_or_scalar_splitter as constant_splitter,
)

__all__ = ["constant_splitter"]
