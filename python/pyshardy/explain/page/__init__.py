# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The HTML report of a program: its graph, shardings, propagation, collectives and costs.

| module             | contents                                                          |
|--------------------|-------------------------------------------------------------------|
| `data`             | the data of the page                                              |
| `gather`           | reading of an explained program into this data                    |
| `groups`           | groups of operations that can be expanded                         |
| `costs`            | the timeline, the memory, and the work that is repeated           |
| `reasons`          | why values aren't sharded further, and what would change it       |
| `texts`            | the program, the partitioned program, and Python sources          |
| `collective_nodes` | the operations at which the graph shows collectives               |
| `other_plan`       | the plan that the program is compared with                        |
| `render`           | the page, from the files in `assets/`                             |
| `assets/`          | the template, its styles, a script for each part of the page, and |
|                    | `dagre.min.js`, version 3.1.3 of the npm package `@dagrejs/dagre` |
| `frame`            | pages that contain reports of programs                            |
| `program_part`     | reading of a propagated program into the first part of the report |
"""
