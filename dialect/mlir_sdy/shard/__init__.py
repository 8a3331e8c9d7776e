# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream's shard dialect, which the host registers.

| module            | what it holds                                                         |
|-------------------|-----------------------------------------------------------------------|
| `values`          | grids, shardings and kinds of reductions as plain values              |
| `reading`         | these values from operations                                          |
| `building`        | a function for each operation                                         |
| `operation_parts` | what operations are built of                                          |
| `spellings`       | older ways to write operations, which the host no longer reads        |

`mlir_sdy.verify.shard` verifies what upstream's verifier leaves out.
"""
