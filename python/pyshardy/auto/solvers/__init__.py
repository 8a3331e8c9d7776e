# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The solvers of the optimization problem: the protocol, and three implementations.

| module            | contents                                                       |
|-------------------|----------------------------------------------------------------|
| `solver`          | the protocol of solvers, their registry, and the choice of one |
| `solver_run`      | the reduction, the state of a search, and missing memory       |
| `flow_model`      | the flow form: a mixed-integer linear program                  |
| `dual`            | lower bounds by messages between nodes                         |
| `combined`        | the default solver, and the one by message passing             |
| `highs`           | the solver by HiGHS                                            |
| `price_search`    | choices within the memory limit, by prices of memory           |
| `exact_parts`     | the exact solution of parts of a problem                       |
| `kept_messages`   | the solution of problems that differ in permitted strategies   |
| `overlapped`      | the best choice where communication is hidden                  |
| `local_search`    | moves of nodes within the memory limit                         |
| `highs_model`     | a program in HiGHS                                             |
| `linear_program`  | the same, or in a process of its own, whose columns keep their |
|                   | numbers when others are removed                                |
| `least_memory`    | the choice of the lowest peak of memory                        |
"""
