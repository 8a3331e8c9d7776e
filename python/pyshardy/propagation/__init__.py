# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Propagation of shardings through a program.

From the values at the bottom to the passes at the top:

| module                          | what it holds                                            |
|---------------------------------|----------------------------------------------------------|
| `projection`                    | shardings of dimensions as shardings of factors          |
| `basic`, `aggressive`           | the strategies: one step on a projection                 |
| `op_priority`, `elementwise`    | which operations go first, and in which direction        |
| `relation`, `relations`         | what ties tensors together; steps, remembered            |
| `program`, `data_flow`, `users` | a module as tables                                       |
| `groups`                        | values that are sharded alike                            |
| `engine`, `user_priority`       | the driver, and what it is shown first                   |
| `write_back`, `rule_attributes` | from the tables to the IR                                |
| `observer`                      | listening to each step                                   |
| `record`, `flows`, `refusals`, `explanation`, `later_values` | what happened, and why      |
| `sharding_origins`, `propagation_edges` | the same as attributes, as upstream notes it     |
| `validation`, `passes`          | what is not supported; the passes                        |
"""
