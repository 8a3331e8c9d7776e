# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on shards: what each operation of a global program becomes on one device.

| module        | what it holds                                              |
|---------------|------------------------------------------------------------|
| `builder`     | building the StableHLO of one device: ids, tables, offsets |
| `collectives` | the dialect's collectives                                  |
| `operations`  | constants, iota and what only changes its types            |
| `slices`      | operations whose attributes hold sizes                     |
| `registry`    | conversions by operation                                   |
"""

from pyshardy.partition.local import collectives as _collectives  # noqa: F401 (registers)
from pyshardy.partition.local import operations as _operations  # noqa: F401 (registers)
from pyshardy.partition.local import slices as _slices  # noqa: F401 (registers)
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.local.registry import CONVERSIONS, OnlyTypesChange, converts

__all__ = ["CONVERSIONS", "LocalBuilder", "OnlyTypesChange", "converts"]
