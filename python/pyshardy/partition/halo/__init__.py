# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Halo exchange: operations whose shards need elements of other shards.

| module          | contents                                                        |
|-----------------|-----------------------------------------------------------------|
| `form_lookup`   | the exchange form of an operation, by its record                |
| `windowed`      | the form of all operations with windows                         |
| `window`        | the elements of a dimension that a shard of windows covers      |
| `rules`         | rules of compatible shardings                                   |
| `profitability` | the factors along which an exchange is profitable               |
| `communication` | the collectives of an exchange, for costs                       |
| `computation`   | a manual computation in place of an operation                   |
| `emit_exchange` | the collectives of an exchange plan                             |
| `crossing`      | ways from the shards before a reshape to those after it         |
| `reshard`       | reshards between uneven shardings                               |
| `reshape`       | reshapes whose shards don't hold the same data before and after |
| `merging`       | merging of slices into the operations that use them             |

The exchange form of an operation is in its record in `pyshardy.partition.records`.
"""
