# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Propagation of shardings through a program.

From the values at the bottom to the passes at the top:

| module                       | contents                                                 |
|------------------------------|----------------------------------------------------------|
| `projection`                 | shardings of dimensions as shardings of factors          |
| `basic`, `aggressive`        | the strategies: one step on a projection                 |
| `op_priority`, `elementwise` | order and directions of propagation by kind of operation |
| `relation`                   | tensors related by a rule; cached steps                  |
| `program`                    | tables of the operations and values of a module          |
| `groups`                     | sharding groups                                          |
| `engine`                     | the fixed-point iteration over all operations            |
| `options`                    | options of the passes                                    |
| `driver`                     | the entry point of the passes: priorities, results in IR |
| `rule_attributes`            | sharding rules as attributes                             |
| `observer`                   | callbacks for each step                                  |
| `unpropagated`               | detection of programs that were never propagated         |
| `debugging`                  | records of the steps, explanations, and debug attributes |
"""
