# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The analysis of mesh inference: where values are used, and where they can be.

| module       | contents                                                         |
|--------------|------------------------------------------------------------------|
| `mesh_sets`  | sets of meshes with origins, and the attributes that hold them   |
| `use_sets`   | the meshes that values are used on                               |
| `src_sets`   | the meshes that values can be on without a new transfer          |
| `reductions` | reductions across meshes                                         |
| `conflicts`  | errors of operations that need transfers                         |
| `signatures` | the meshes of arguments and of callees                           |
"""
