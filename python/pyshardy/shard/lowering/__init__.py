# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shard dialect in StableHLO.

| module          | what it holds                                                            |
|-----------------|--------------------------------------------------------------------------|
| `to_stablehlo`  | the pass                                                                 |
| `registry`      | the lowering of each operation                                           |
| `builder`       | building StableHLO on a grid                                             |
| `reductions`    | kinds of reductions                                                      |
| `device_values` | what each device computes of its indices alone                           |
| `collectives`   | collectives of all members of a group                                    |
| `rooted`        | those in which one member is special                                     |
| `halo`          | exchanges with neighbours                                                |
| `messages`      | sends and receives that belong together                                  |
| `branches`      | branches that devices take by their indices                              |
| `integers`      | what becomes of integers that depend on the device                       |
"""
