# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explanations of shardings and collectives, and cost estimates.

| module                | contents                                                                |
|-----------------------|-------------------------------------------------------------------------|
| `entry`               | `sdy.explain`, for programs of all forms                                |
| `program_explanation` | the explanation of a program, its report, checks of contracts           |
| `program`             | programs that are propagated and partitioned with a record              |
| `moves`               | the recorder of reshards and reductions during partitioning             |
| `collectives`         | the reasons of collectives                                              |
| `checked_advice`      | constraints that were tried, and save communication                     |
| `contract_advice`     | the same for programs that violate their contracts                      |
| `what_if`             | the effect of other annotations                                         |
| `largest`             | the values that take the most memory                                    |
| `estimate`            | the estimated time and memory of a run                                  |
| `against_xla`         | our collectives beside those of XLA's partitioner                       |
| `cost_difference`     | the comparison of two plans                                             |
| `page`                | the HTML report                                                         |
| `plain`               | explanations as JSON                                                    |
| `alternatives`        | what the partitioner compared for an operation                          |
| `annotated`           | the annotated program behind an explanation                             |
| `originals`           | the annotated module, which `propagate` has changed                     |
| `reasons`             | for each value and axis one reason, and its remedy                      |
| `replicated`          | the replicated values that waste most memory                            |
| `viewers`             | files for Chrome's tracing and Model Explorer                           |
| `sizes`               | the plan of a program with dynamic sizes at several sizes, side by side |
"""
