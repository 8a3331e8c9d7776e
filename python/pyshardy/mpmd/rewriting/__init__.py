# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of MPMD functions, calls and regions, for the passes.

| module      | contents                                                              |
|-------------|-----------------------------------------------------------------------|
| `functions` | the functions of a program, their signatures and calls                |
| `regions`   | operations with bodies: fewer operands and results, inlining, merging |
| `transfers` | assignments of values that are on meshes, as transfers                |
| `merging`   | merging of two fragments of a mesh; fragments by their descriptions   |
| `bodies`    | bodies of fragments as functions, which equal ones share for a while  |
| `marks`     | meshes of operations, marks of fragments and values, last uses        |
| `ordering`  | the order of operations, by dependencies and further edges            |
"""
