# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of mesh inference, for its passes.

| module       | contents                                                         |
|--------------|------------------------------------------------------------------|
| `mesh_sets`  | sets of meshes with origins, and the attributes that hold them   |
| `reductions` | reductions across meshes                                         |
| `signatures` | the meshes of arguments and of callees                           |
"""
