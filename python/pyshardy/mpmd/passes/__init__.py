# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on MPMD programs, a file for each family of them, in the order of the pipelines.

The decorator of a pass names it. A file is imported when one of its passes is first used.

| module               | contents                                                       |
|----------------------|----------------------------------------------------------------|
| `import_names`       | names of JAX programs, as operations                           |
| `loops`              | loops that are unrolled, of the dialect and around names       |
| `calls`              | calls of functions on several meshes                           |
| `named_operations`   | named computations and tensors, until they are fragments       |
| `meshes`             | the meshes of the topology, and shardings on them              |
| `placing`            | meshes that users state, transfers between them                |
| `analysis`           | inference: where values are used, and where they can be        |
| `conflicts`          | inference: errors of operations that need transfers            |
| `inferred_meshes`    | inference: fragments of operations without a name              |
| `merging`            | fragments that are merged                                      |
| `splitting`          | fragments that are split in two                                |
| `cleaning`           | values that are dropped or copied                              |
| `transfers`          | transfers that are moved or merged, fragments that are delayed |
| `pipeline_scheduler` | the order of a schedule                                        |
| `scheduling`         | orders by rules, copies of fragments, checks of units          |
| `reshards`           | where values change their sharding                             |
| `shardings`          | shardings that propagation has found                           |
| `marking`            | memory, layouts and donations of values                        |
| `validating`         | what an exported program should not have                       |
| `lowering`           | functions of fragments                                         |
"""
