# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding: the best plan of a cost model, with a proven bound.

| module             | contents                                                         |
|--------------------|------------------------------------------------------------------|
| `problem`          | the optimization problem as arrays, its cost and its memory      |
| `solution`         | choices with their bounds, and missing memory                    |
| `solve`            | the protocol of solvers, their registry, and the choice of one   |
| `reduce`           | exact reductions of a problem                                    |
| `reduction_tables` | tables of reshards while a problem is reduced                    |
| `memory_points`    | the points of time at which the memory limit can bind            |
| `flow_model`       | the flow form: a mixed-integer linear program                    |
| `highs`            | the solver by HiGHS                                              |
| `local_search`     | moves of nodes within the memory limit                           |
| `shortage`         | the memory that is missing                                       |
"""
