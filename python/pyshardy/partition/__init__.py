# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library of the partitioning passes, in reading order.

| package         | contents                                                                     |
|-----------------|------------------------------------------------------------------------------|
| `op_facts`      | facts about single operations: blocked factors, local rules, completion      |
| `compatibility` | compatible shardings of the tensors of an operation                          |
| `resharding`    | the collectives of a reshard, and their cost                                 |
| `halo`          | halo exchange: operations whose shards need elements of others               |
| `padding`       | padding of dimensions that don't divide evenly                               |
| `local`         | local forms: each operation of a global program on one device                |
| `single_ops`    | partitioning of single operations                                            |

The passes themselves are in `pyshardy.passes.partitioning`.
"""
