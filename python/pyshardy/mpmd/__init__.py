# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MPMD programs: pipelines of fragments on named meshes.

| module       | contents                                                  |
|--------------|-----------------------------------------------------------|
| `passes`     | the passes, by stage                                      |
| `pipelines`  | the named pipelines of the passes                         |
| `options`    | the text forms of options of passes                       |
| `inference`  | the analysis of mesh inference, for the passes            |
| `rewriting`  | changes of functions, fragments and calls, for the passes |
| `schedules`  | in which order each mesh runs its fragments               |
| `simulator`  | when each mesh runs each fragment under a schedule        |
| `boundaries` | which layers are on which mesh                            |
"""
