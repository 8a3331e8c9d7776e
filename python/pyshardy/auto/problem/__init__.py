# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The optimization problem as arrays, and its exact reductions.

| module             | contents                                                    |
|--------------------|-------------------------------------------------------------|
| `arrays`           | the optimization problem as arrays, its cost and its memory |
| `solution`         | choices with their bounds, and missing memory               |
| `reduce`           | exact reductions of a problem                               |
| `reduction_tables` | tables of reshards while a problem is reduced               |
| `prices`           | the memory as a cost, by a price of each byte               |
| `hiding`           | communication that computation hides, in the cost           |
"""
