# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explanations of shardings and collectives, and cost estimates.

| module           | what it holds                                                    |
|------------------|------------------------------------------------------------------|
| `tags`           | marks on operations that survive passes                          |
| `moves`          | what the partitioner moves, noted while it runs                  |
| `collectives`    | where each collective comes from, and which decisions disagree   |
| `advice`         | annotations that would settle a refusal                          |
| `largest`        | the values that take the most memory                             |
| `find`           | values of a program by the words that a user has for them        |
| `program`        | a program that is watched while it is propagated and partitioned |
| `cost`           | what it is estimated to take                                     |
| `page`           | a report of it as one HTML page                                  |
| `model_explorer` | its graph for another viewer                                     |
| `plain`          | explanations as JSON                                             |
"""
