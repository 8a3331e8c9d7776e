# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways to compute each operation on shards, with their costs.

| module          | contents                                           |
|-----------------|----------------------------------------------------|
| `strategy`      | the ways to compute an operation on shards         |
| `costs`         | the cost of operations and collectives             |
| `exchange`      | the communication of halo exchanges                |
| `padding`       | the memory traffic of padding                      |
| `alternatives`  | strategies with their costs, by signature          |
| `computations`  | the work of manual and named computations          |
| `reshard_forms` | reshards with equal plans, which are computed once |
"""
