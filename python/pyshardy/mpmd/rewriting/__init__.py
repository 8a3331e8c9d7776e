# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of MPMD functions, calls and regions, for the passes.

| module      | contents                                                              |
|-------------|-----------------------------------------------------------------------|
| `functions` | the functions of a program, their signatures and calls                |
| `regions`   | operations with bodies: fewer operands and results, inlining, merging |
| `transfers` | assignments of values that are on meshes, as transfers                |
| `merging`   | merging of two fragments of a mesh                                    |
| `splitting` | fragments that are split into two                                     |
| `meshes`    | the meshes of the topology around operations                          |
| `marks`     | marks of inferred fragments, and copies of values by such fragments   |
| `origins`   | labels of the origins of assignments                                  |
| `lifetimes` | last uses of values, and their memory                                 |
| `names`     | names of the functions of fragments                                   |
| `reports`   | errors and warnings of the passes that validate                       |
| `ordering`  | the order of operations, by dependencies and further edges            |
| `infos`     | fragments by their descriptions in rules of users                     |
| `counters`  | the attributes with numbers of iterations                             |
"""
