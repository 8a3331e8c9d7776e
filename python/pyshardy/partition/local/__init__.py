# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local forms: the conversion of each operation of a global program to one device.

| module          | contents                                       |
|-----------------|------------------------------------------------|
| `preconditions` | checks before a program becomes local          |
| `arithmetic`    | selections by device, and neutral elements     |
| `completing`    | completion of partial results by any reduction |
| `device_kind`   | replicas or partitions, and how many           |

The local form of an operation is in its record in `pyshardy.partition.records`.
"""
