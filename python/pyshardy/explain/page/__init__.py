# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The HTML report of a program: its graph, shardings, and their propagation.

| module     | contents                                                         |
|------------|------------------------------------------------------------------|
| `data`     | the data of the page as plain values                             |
| `scopes`   | groups of operations that can be expanded                        |
| `render`   | the page, from the files in `assets/`                            |
| `assets/`  | the template, its style, and a script for each part of the page  |
"""
