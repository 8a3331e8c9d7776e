# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generating the dialect's Python files and reference documentation from its ODS definitions.

| module         | what it holds                                              |
|----------------|------------------------------------------------------------|
| `layout`       | where things are, and what generated files begin with      |
| `tablegen`     | running TableGen and reading its records                   |
| `declarations` | records as declarations (`mlir_sdy.ods.declarations`)      |
| `formats`      | assembly formats as directives                             |
| `irdl`         | declarations as IRDL modules                               |
| `tables`       | declarations as Python data                                |
| `attributes`   | classes of attributes                                      |
| `bindings`     | classes of operations and enums, as mlir-tblgen makes them |
| `reference`    | the reference documentation                                |
"""
