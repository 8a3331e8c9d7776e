# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explanations of shardings and collectives, and cost estimates.

| module                | contents                                                       |
|-----------------------|----------------------------------------------------------------|
| `entry`               | `sdy.explain`, for programs of all forms                       |
| `program_explanation` | the explanation of a program, its report, checks of contracts  |
| `contract`            | limits of collectives and memory                               |
| `program`             | programs that are propagated and partitioned with a record     |
| `collective_list`     | groups and totals of collectives                               |
| `moves`               | the recorder of reshards and reductions during partitioning    |
| `collectives`         | the reasons of collectives                                     |
| `advice`              | annotations that resolve a refused axis                        |
| `largest`             | the values that take the most memory                           |
| `memory`              | the peak memory of a device                                    |
| `timeline`            | the times of operations and collectives, and the Chrome trace  |
| `idle_axes`           | the work that devices repeat along axes                        |
| `estimate`            | the estimated time and memory of a run                         |
| `against_xla`         | our collectives beside those of XLA's partitioner              |
| `cost_difference`     | the comparison of two plans                                    |
| `page`                | the HTML report                                                |
| `model_explorer`      | the graph for the viewer Model Explorer                        |
| `plain`               | explanations as JSON                                           |
"""
