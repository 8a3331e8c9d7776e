# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts about single operations, and analyses of operations and bodies.

| module                   | contents                                                        |
|--------------------------|-----------------------------------------------------------------|
| `record`                 | all that the partitioner knows of operations of a name          |
| `forms`                  | forms of operations, and results for equal forms and shardings  |
| `reduction_bodies`       | analysis of the bodies of reductions                            |
| `scatter_windows`        | window dimensions of scatters                                   |
| `trailing_resize`        | pads and slices at the end of dimensions, without communication |
| `own_rows`               | products of groups of which devices use only their own rows     |
| `data_flow`              | data flow through operations with regions, calls and functions  |
| `invariant_computations` | what a loop computes from values that it doesn't change         |
| `fusion`                 | results that XLA keeps out of memory                            |
| `work`                   | the work of a device for an operation                           |
| `known_integers`         | integers that are known at compile time, and bounds             |
| `sorted_rows`            | rows that are sorted by groups, in any order                    |
"""
