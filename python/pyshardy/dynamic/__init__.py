# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with dynamic sizes: one plan, and a partitioned program for each size.

| module    | contents                                                              |
|-----------|-----------------------------------------------------------------------|
| `plan`    | propagation at hints of the sizes                                     |
| `guards`  | the conditions under which the plan holds, and what is done otherwise |
| `padding` | arguments and results that are padded to even sizes                   |
| `program` | the program that `sdy.partition` returns                              |
"""
