# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The HTML report of a program: its graph, shardings, and their propagation.

| module     | what it holds                                                    |
|------------|------------------------------------------------------------------|
| `data`     | what the page shows, as plain values                             |
| `scopes`   | how operations fall into groups that can be opened and closed    |
| `render`   | the page, from the files in `assets/`                            |
| `assets/`  | the template, its style, and a script for each part of the page  |
"""
