# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rules of the project by family of operations: importing this package registers them."""

from pyshardy.rules.families import (  # noqa: F401
    batch_norm,
    broadcast,
    collectives,
    custom_calls,
    dot,
    gather_scatter,
    linear_algebra,
    pointwise,
    random_numbers,
    reshape,
    slicing,
    sorting,
    windows,
)
