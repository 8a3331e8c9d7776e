# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Propagation of shardings through a program.

From the values at the bottom to the passes at the top:

| module                          | contents                                                 |
|---------------------------------|----------------------------------------------------------|
| `projection`                    | shardings of dimensions as shardings of factors          |
| `strategy`, `basic`, `aggressive` | the strategies: one step on a projection               |
| `op_priority`, `elementwise`    | order and directions of propagation by kind of operation |
| `relation`, `relations`         | tensors related by a rule; cached steps                  |
| `program`, `data_flow`, `users` | tables of the operations and values of a module          |
| `groups`                        | sharding groups                                          |
| `engine`                        | the fixed-point iteration over all operations            |
| `user_priority`                 | rounds of propagation by the priorities of dimensions    |
| `options`                       | options of the passes                                    |
| `driver`                        | the entry point of the passes                            |
| `write_back`, `rule_attributes` | results written to the IR                                |
| `observer`                      | callbacks for each step                                  |
| `record`, `flows`, `refusals`, `later_values` | records of the steps                       |
| `explanation`, `explained_record` | explanations of shardings                              |
| `merged_axes`                   | sub-axes merged into larger axes                         |
| `sharding_origins`, `propagation_edges` | debug attributes, in the format of upstream      |
| `validation`                    | checks of types                                          |
"""
