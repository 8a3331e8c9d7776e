# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules: shardings as a sequence of tactics, each with its effect.

| module     | contents                                                                  |
|------------|---------------------------------------------------------------------------|
| `view`     | the program as tactics see it                                             |
| `tactics`  | tactics, and their registration                                           |
| `library`  | the tactics of the package                                                |
| `state`    | a program between tactics: assignment, propagation, preview               |
| `schedule` | the application of a schedule                                             |
| `plan`     | its result, with a row for each tactic                                    |
| `files`    | schedules in TOML files                                                   |
"""
