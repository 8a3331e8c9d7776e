# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshards: the plan of collectives, its cost, and fewer of them.

| module            | contents                                                       |
|-------------------|----------------------------------------------------------------|
| `plan`            | the plan of a reshard, with regard to padding                  |
| `planner`         | the search for steps                                           |
| `cost`            | the time of a reshard                                          |
| `completions`     | partial results that are completed and resharded, and the time |
| `remarks`         | remarks on gathered operands                                   |
| `recomputation`   | values that devices compute again instead of sending them      |
| `share_reshards`  | reshards that start from others of the same value              |
"""
