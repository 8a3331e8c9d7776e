# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The `sdy` dialect on the MLIR Python bindings.

| module        | what it is for                                                        |
|---------------|-----------------------------------------------------------------------|
| `model`       | axes, meshes, shardings, rules: plain values with their algebra       |
| `drawing`     | pictures of which device holds what                                   |
| `dialect`     | registering the dialect with a context                                |
| `assembly`    | reading and printing the custom syntax                                |
| `sdy`         | operation, attribute and enum classes with their builders             |
| `attributes`  | between attributes and plain values                                   |
| `values`      | the sharding of any value: read and write                             |
| `symbols`     | the meshes of a module                                                |
| `effects`     | which operations may be erased when nobody uses their results         |
| `verify`      | verification of attributes, operations and modules                    |
| `diagnostics` | errors, warnings, remarks and notes                                   |
| `host`        | the only module that names the package of the bindings                |
| `isolation`   | keeps the bindings apart from another LLVM in the process             |
| `ods`         | what is generated from `td/`                                          |
"""
