# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshards: the plan of collectives and its cost.

| module           | contents                                                |
|------------------|---------------------------------------------------------|
| `steps`          | the steps of a plan                                     |
| `plan`           | the plan of a reshard, with regard to padding           |
| `planner`        | the search for steps                                    |
| `cost`           | the time of reshards, and of the completion of results  |
| `total_cost`     | the time of all collectives of a module                 |
| `share_reshards` | reshards that start from others of the same value       |
"""
