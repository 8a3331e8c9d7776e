# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lowering of the shard dialect to StableHLO, for the pass `shard-to-stablehlo`.

| module          | contents                                                                 |
|-----------------|--------------------------------------------------------------------------|
| `registry`      | the lowering of each operation                                           |
| `builder`       | the builder of StableHLO on a grid                                       |
| `mpi_builder`   | the builder for the operations that upstream lowers to MPI correctly     |
| `mpi_elements`  | element types of MPI                                                     |
| `reductions`    | kinds of reductions                                                      |
| `device_values` | integers that depend on the device only                                  |
| `collectives`   | collectives of all members of a group                                    |
| `rooted`        | collectives with a root                                                  |
| `halo`          | halo exchange                                                            |
| `messages`      | pairs of sends and receives                                              |
| `branches`      | branches on device indices                                               |
| `integers`      | the lowering of integers that depend on the device                       |
"""
