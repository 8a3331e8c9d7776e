# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding: the best plan of a cost model, with a proven bound.

| module            | contents                                                          |
|-------------------|-------------------------------------------------------------------|
| `problem`         | the optimization problem as arrays, its cost and its memory        |
| `solution`        | plans, bounds and missing memory                                  |
| `solve`           | the protocol of solvers, their registry, and the choice of one     |
"""
