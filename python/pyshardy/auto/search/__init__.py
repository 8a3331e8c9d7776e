# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search for a plan: from a program to its annotated copy.

| module           | contents                                       |
|------------------|------------------------------------------------|
| `build`          | the optimization problem of a folded program   |
| `memory`         | its memory                                     |
| `hiding`         | what can be hidden, by the structure           |
| `apply`          | writing shardings into a program               |
| `options`        | the options, and checks of the program         |
| `program_search` | from a program to an annotated one             |
| `ties`           | the order of equal plans, and untied bounds    |
| `forced`         | the cost of each other sharding of an argument |
| `texts`          | texts of shardings and costs                   |
"""
