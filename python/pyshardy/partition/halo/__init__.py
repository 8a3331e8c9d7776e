# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Halo exchange: operations whose shards need elements of other shards.

| module          | contents                                                        |
|-----------------|-----------------------------------------------------------------|
| `form_lookup`   | the exchange form of an operation, by its record                |
| `windowed`      | the form of all operations with windows                         |
| `profitability` | the factors along which an exchange is profitable               |
| `computation`   | a manual computation in place of an operation                   |
| `emit_exchange` | the collectives of an exchange plan                             |
| `reshard`       | reshards between uneven shardings                               |
| `reshape`       | reshapes whose shards don't hold the same data before and after |
| `merging`       | merging of slices into the operations that use them             |

The exchange form of an operation is in its record in `pyshardy.partition.records`.
"""
