# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules: shardings as a sequence of tactics, each with its effect.

| module        | contents                                                               |
|---------------|------------------------------------------------------------------------|
| `view`        | the program as tactics see it                                          |
| `tactics`     | tactics, and their registration                                        |
| `library`     | the tactics of the package                                             |
| `weights`     | the dimensions of weights in their uses                                |
| `files`       | tactics in TOML files                                                  |
| `state`       | a program between tactics: assignment, propagation, preview            |
| `schedule`    | schedules, applied with a preview of each step                         |
| `plan`        | the result, with a row for each tactic, and its report                 |
"""
