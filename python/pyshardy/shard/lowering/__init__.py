# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lowering of the shard dialect to StableHLO, for the pass `shard-to-stablehlo`.

| module          | contents                                                                 |
|-----------------|--------------------------------------------------------------------------|
| `registry`      | the lowering of each operation                                           |
| `builder`       | the builder of StableHLO on a grid                                       |
| `reductions`    | kinds of reductions                                                      |
| `device_values` | integers that depend on the device only                                  |
| `collectives`   | collectives of all members of a group, also those with a root            |
| `halo`          | halo exchange                                                            |
| `messages`      | pairs of sends and receives, also in branches on device indices          |
| `integers`      | the lowering of integers that depend on the device                       |
"""
