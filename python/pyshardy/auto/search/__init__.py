# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search for a plan: from a program to its annotated copy.

| module           | contents                                       |
|------------------|------------------------------------------------|
| `build`          | the optimization problem of a program          |
| `untied`         | lower bounds of plans without folding          |
| `memory`         | its memory                                     |
| `apply`          | writing shardings into a program               |
| `operation_axes` | writing the axes of operations into a program  |
| `options`        | the options, and their checks                  |
| `checks`         | checks of the program and of names of axes     |
| `program_search` | from a program to an annotated one             |
| `ties`           | the order of plans with equal costs            |
| `prediction`     | the communication of a choice                  |
| `forced`         | the cost of each other sharding of an argument |
| `texts`          | texts of shardings and costs                   |
"""
