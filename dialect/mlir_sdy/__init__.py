# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The `sdy` dialect on the MLIR Python bindings.

| module        | contents                                                              |
|---------------|-----------------------------------------------------------------------|
| `model`       | axes, meshes, shardings, rules: plain values with their algebra       |
| `drawing`     | pictures of the slice of a tensor on each device, and of meshes       |
| `dialect`     | registration of the dialect with a context                            |
| `assembly`    | parser and printer of the custom syntax                               |
| `sdy`         | operation, attribute and enum classes with their builders             |
| `attributes`  | conversion between attributes and plain values                        |
| `values`      | reading and writing the sharding of any value                         |
| `symbols`     | the meshes of a module                                                |
| `traversal`   | iteration over operations                                             |
| `effects`     | the operations that may be erased if their results are unused         |
| `fold`        | canonicalization patterns                                             |
| `shard`       | the shard dialect of upstream                                         |
| `verify`      | verification of attributes, operations and modules                    |
| `diagnostics` | errors, warnings, remarks and notes                                   |
| `host`        | the only module that names the package of the bindings                |
| `isolation`   | keeps the bindings apart from another LLVM in the process             |
| `ods`         | files generated from `td/`                                            |
"""
