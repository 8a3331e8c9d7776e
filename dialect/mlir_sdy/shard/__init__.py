# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream's shard dialect, which the host registers.

| module            | contents                                                              |
|-------------------|-----------------------------------------------------------------------|
| `values`          | grids, shardings and kinds of reductions as plain values              |
| `reading`         | conversion of operations to these values                              |
| `building`        | a builder function for each operation                                 |
| `operation_parts` | attributes, result types and checks of the builders                   |
| `spellings`       | conversion of other syntax versions to that of the host               |
| `verify`          | the checks that upstream's verifier lacks                             |
"""

import mlir_sdy.verify  # noqa: F401 (the verifiers of both dialects need each other: that one first)
