# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The choice of compatible shardings for the tensors of an operation.

| module             | contents                                                             |
|--------------------|----------------------------------------------------------------------|
| `resolver`         | the interface of the policies, and the policy of C++ Shardy          |
| `cheapest`         | the policy of the shortest time on some hardware                     |
| `enumerate`        | the ways to assign axes to factors                                   |
| `cheapest_axes`    | the axes of each factor with the shortest time                       |
| `cheapest_reshape` | the shardings of a reshape with the shortest transfer                |
| `even_factors`     | factors that padding must not change                                 |
| `uses`             | completion of partial values at their uses                           |
| `quick_checks`     | quick checks of programs and operations, before shardings are chosen |
"""
