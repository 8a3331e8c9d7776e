# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on shards: what each operation of a global program becomes on one device.

| module           | what it holds                                              |
|------------------|------------------------------------------------------------|
| `builder`        | building the StableHLO of one device: ids, tables, offsets |
| `arithmetic`     | elementwise operations that the others are made of         |
| `indices`        | indices into whole tensors as indices into shards          |
| `collectives`    | the dialect's collectives                                  |
| `operations`     | constants, iota and what only changes its types            |
| `sizes`          | operations whose attributes hold sizes                     |
| `gather`         | gathers                                                    |
| `scatter`        | scatters                                                   |
| `dynamic_slices` | slices and updates at places that are computed             |
| `reduce`         | reductions                                                 |
| `batch_norm`     | batch normalisation                                        |
| `composite`      | composite operations                                       |
| `top_k`          | the greatest elements of a dimension                       |
| `random_numbers` | random numbers                                             |
| `completing`     | completing partial results by any reduction                |
| `registry`       | conversions by operation                                   |
"""

from pyshardy.partition.local import batch_norm as _batch_norm  # noqa: F401 (registers)
from pyshardy.partition.local import collectives as _collectives  # noqa: F401 (registers)
from pyshardy.partition.local import composite as _composite  # noqa: F401 (registers)
from pyshardy.partition.local import dynamic_slices as _dynamic_slices  # noqa: F401 (registers)
from pyshardy.partition.local import gather as _gather  # noqa: F401 (registers)
from pyshardy.partition.local import operations as _operations  # noqa: F401 (registers)
from pyshardy.partition.local import random_numbers as _random_numbers  # noqa: F401 (registers)
from pyshardy.partition.local import reduce as _reduce  # noqa: F401 (registers)
from pyshardy.partition.local import scatter as _scatter  # noqa: F401 (registers)
from pyshardy.partition.local import sizes as _sizes  # noqa: F401 (registers)
from pyshardy.partition.local import top_k as _top_k  # noqa: F401 (registers)
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.local.registry import (
    CONVERSIONS,
    DIFFERING,
    STAYS,
    OnlyTypesChange,
    converts,
)

__all__ = ["CONVERSIONS", "DIFFERING", "STAYS", "LocalBuilder", "OnlyTypesChange", "converts"]
