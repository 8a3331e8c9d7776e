# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library of the partitioning passes. Each package imports only those above it.

| package            | contents                                                           |
|--------------------|--------------------------------------------------------------------|
| `types`            | factors, reshapes, devices and exchanges as values; builders       |
| `function_context` | the common set-up of passes over functions                         |
| `op_facts`         | facts about single operations: their records, and analyses of them |
| `partial`          | partial results: kinds, completion, and what may stay partial      |
| `resharding`       | the collectives of a reshard, and their cost                       |
| `halo`             | halo exchange: operations whose shards need elements of others     |
| `regions`          | regions of operations that are computed along other axes           |
| `padding`          | padding of dimensions that don't divide evenly                     |
| `local`            | local forms: each operation of a global program on one device      |
| `choice`           | the choice of compatible shardings for the tensors of an operation |
| `records`          | what is known of each operation, one family per file               |

The passes themselves are in `pyshardy.passes.partitioning`.
"""
