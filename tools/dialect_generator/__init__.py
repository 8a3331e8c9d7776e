# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generation of the dialect's Python files and reference documentation from ODS definitions.

| module         | contents                                                   |
|----------------|------------------------------------------------------------|
| `layout`       | paths, and the header of generated files                   |
| `tablegen`     | running TableGen and reading its records                   |
| `declarations` | records as declarations (`mlir_sdy.ods.declarations`)      |
| `formats`      | assembly formats as directives                             |
| `irdl`         | declarations as IRDL modules                               |
| `tables`       | declarations as Python data                                |
| `attributes`   | classes of attributes                                      |
| `bindings`     | classes of operations and enums, by mlir-tblgen            |
| `reference`    | the reference documentation                                |
"""
