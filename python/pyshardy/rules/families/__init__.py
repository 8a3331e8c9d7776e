# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rules of the project by family of operations: importing this package registers them."""

from pyshardy.rules.families import (  # noqa: F401
    batch_norm,
    collectives,
    custom_calls,
    dot,
    gather_scatter,
    pointwise,
    reshape,
    slicing,
    sorting,
    windows,
)
