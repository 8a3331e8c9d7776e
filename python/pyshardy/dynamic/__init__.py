# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with dynamic sizes: one plan, and a partitioned program for each size or capacity.

| module              | contents                                                              |
|---------------------|-----------------------------------------------------------------------|
| `plan`              | propagation at hints of the sizes                                     |
| `guards`            | the conditions under which the plan holds, and what is done otherwise |
| `buckets`           | the capacities for which programs are made                            |
| `choices`           | the same collectives at all sizes                                     |
| `masks`             | programs for a capacity that run smaller sizes                        |
| `padded_operations` | operations that are fitted to padded operands                         |
| `program`           | the program that `sdy.partition` returns                              |
"""
