# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library of local forms: the conversion of each operation of a global program to one device.

| module          | contents                                                     |
|-----------------|--------------------------------------------------------------|
| `builder`       | builder of StableHLO for one device: ids, tables, offsets    |
| `arithmetic`    | elementwise operations for the other modules                 |
| `indices`       | conversion of global indices to indices into shards          |
| `conversions`   | local forms that many operations share                       |
| `completing`    | completion of partial results by any reduction               |
| `preconditions` | checks before a program becomes local                        |

The local form of an operation is in its record in `pyshardy.partition.records`.
"""
