# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local forms: the conversion of each operation of a global program to one device.

| module          | contents                                                     |
|-----------------|--------------------------------------------------------------|
| `builder`       | builder of StableHLO for one device: ids, tables, offsets    |
| `arithmetic`    | elementwise operations for the other modules                 |
| `indices`       | conversion of global indices to indices into shards          |
| `collectives`   | the dialect's collectives                                    |
| `completing`    | completion of partial results by any reduction               |
| `registry`      | local forms by operation                                     |
| `preconditions` | checks before a program becomes local                        |
| `ops/`          | the local forms, one family of operations per file           |
"""

from pyshardy.partition.local import collectives as _collectives  # noqa: F401 (registers)
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.local.ops import (  # noqa: F401 (register local forms)
    batch_norm,
    composite,
    dynamic_slices,
    elementwise,
    gather,
    random_numbers,
    reduce,
    scatter,
    sizes,
    top_k,
)
from pyshardy.partition.local.registry import (
    CONVERSIONS,
    DEVICE_DEPENDENT_OPS,
    UNCHANGED_LOCALLY,
    RetypeOnly,
    converts,
)

__all__ = [
    "CONVERSIONS",
    "DEVICE_DEPENDENT_OPS",
    "UNCHANGED_LOCALLY",
    "LocalBuilder",
    "RetypeOnly",
    "converts",
]
