# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The `sdy` dialect on the MLIR Python bindings.

| module             | contents                                                        |
|--------------------|-----------------------------------------------------------------|
| `model`            | axes, meshes, shardings, rules: plain values with their algebra |
| `dialect`          | registration of the dialect with a context                      |
| `assembly`         | parser and printer of the custom syntax                         |
| `sdy`              | operation, attribute and enum classes with their builders       |
| `attributes`       | conversion between attributes and plain values                  |
| `values`           | reading and writing the sharding of any value                   |
| `symbols`          | the meshes of a module                                          |
| `traversal`        | iteration over operations                                       |
| `uses`             | the definitions and uses of values, and their replacement       |
| `effects`          | the operations that may be erased if their results are unused   |
| `fold`             | canonicalization patterns                                       |
| `shard`            | the shard dialect of upstream                                   |
| `mpmd`             | the mpmd dialect: programs on several meshes                    |
| `on_demand`        | the mpmd dialect, loaded for programs that mention it           |
| `verify`           | verification of attributes, operations and modules              |
| `diagnostics`      | errors, warnings, remarks and notes                             |
| `files`            | reading and writing files of users, with errors                 |
| `host`             | the only module that names the package of the bindings          |
| `isolation`        | keeps the bindings apart from another LLVM in the process       |
| `ods`              | files generated from `td/`                                      |
| `ambient`          | state that holds inside of a `with` block                       |
| `attribute_base`   | base of the attribute classes of the dialect                    |
| `attribute_search` | search for operations by their attributes                       |
| `discardable`      | discardable attributes by their names                           |
| `host_build`       | the build of the MLIR host that is supported                    |
| `last_words`       | what a library in C++ says before it ends the process           |
| `late_numpy`       | NumPy, loaded when it is used                                   |
| `notebook`         | HTML representations of attributes in notebooks                 |
| `op_classes`       | operations as objects of their generated classes                |
| `programs`         | the module in what users pass as a program                      |
| `stages`           | the current stage of the process                                |
| `suggest`          | suggestions for unknown names                                   |
"""
