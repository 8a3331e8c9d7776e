# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of MPMD functions, calls and regions, for the passes.

| module      | contents                                                              |
|-------------|-----------------------------------------------------------------------|
| `functions` | the functions of a program, their signatures and calls                |
| `regions`   | operations with bodies: fewer operands and results, inlining, merging |
| `transfers` | assignments of values that are on meshes, as transfers                |
| `merging`   | merging of two fragments of a mesh; fragments by their descriptions   |
| `splitting` | fragments that are split into two                                     |
| `bodies`    | bodies of fragments as functions, which equal ones share for a while  |
| `meshes`    | the meshes of the topology around operations, findings of passes      |
| `marks`     | marks of inferred fragments, labels of origins, copies of values      |
| `lifetimes` | last uses of values, and their memory                                 |
| `ordering`  | the order of operations, by dependencies and further edges            |
"""
