# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library of the partitioning passes, in reading order.

| package         | contents                                                                     |
|-----------------|------------------------------------------------------------------------------|
| `records`       | what is known of each operation, one family per file                         |
| `op_facts`      | look-up of records: blocked factors, rules on shards, completion, work       |
| `function_context` | the common set-up of passes over functions                                |
| `compatibility` | compatible shardings of the tensors of an operation                          |
| `resharding`    | the collectives of a reshard, and their cost                                 |
| `halo`          | halo exchange: operations whose shards need elements of others               |
| `padding`       | padding of dimensions that don't divide evenly                               |
| `local`         | builder of local forms: each operation of a global program on one device     |
| `single_ops`    | partitioning of single operations                                            |

The passes themselves are in `pyshardy.passes.partitioning`.
"""
