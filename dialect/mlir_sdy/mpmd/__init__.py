# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mpmd dialect: fragments on named meshes, and transfers between them.

| module           | contents                                                             |
|------------------|----------------------------------------------------------------------|
| `values`         | topologies, origins, kinds of reductions, mesh tensors: plain values |
| `dialect`        | registration of the dialect with a context                           |
| `attributes`     | conversion between attributes or types and plain values              |
| `attribute_text` | parser of attributes and types                                       |
| `syntax`         | parser and printer of the parts of operations                        |
| `building`       | builders of operations                                               |
| `reading`        | queries of operations and functions                                  |
| `verify`         | verification of operations                                           |
| `verify_calls`   | verification of calls by the functions that they name                |
| `fold`           | canonicalization patterns                                            |
"""
