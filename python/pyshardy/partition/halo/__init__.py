# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Halo exchange: operations whose shards need elements of other shards.

| module          | contents                                                            |
|-----------------|---------------------------------------------------------------------|
| `window`        | the elements of a dimension that a shard of windows covers          |
| `exchange_plan` | the elements that each shard needs, and the shards that send them   |
| `fill_value`    | the values around the elements that a device has                    |
| `device_axis`   | operations on one dimension, and between the devices along its axes |
| `emit_exchange` | the collectives of an exchange plan                                 |
| `form`          | the exchange form of an operation                                   |
| `form_lookup`   | the exchange form of an operation, by its record                    |
| `local_copy`    | copies of an operation in the computation of one device             |
| `rules`         | rules of compatible shardings                                       |
| `profitability` | the factors along which an exchange is profitable                   |
| `computation`   | a manual computation in place of an operation                       |
| `windowed`      | the form of all operations with windows                             |
| `in_shards`     | forms without communication, as local operations                    |
| `attributes`    | attributes with a number for each dimension                         |
| `crossing`      | ways from the shards before a reshape to those after it             |
| `reshard`       | reshards between uneven shardings                                   |
| `reshape`       | reshapes whose shards don't hold the same data before and after     |
| `cumulative`    | the form of cumulative reductions                                   |
| `merging`       | merging of slices into the operations that use them                 |

The exchange form of an operation is in its record in `pyshardy.partition.records`.
"""
