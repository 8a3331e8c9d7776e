# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lowering of the shard dialect to StableHLO, for the pass `shard-to-stablehlo`.

| module          | contents                                                                 |
|-----------------|--------------------------------------------------------------------------|
| `builder`       | the builder of StableHLO on a grid, the registry, kinds of reductions    |
| `device_values` | integers that depend on the device only                                  |
| `collectives`   | collectives of groups, also those with a root, and halo exchange         |
| `messages`      | pairs of sends and receives, also in branches on device indices          |
"""
