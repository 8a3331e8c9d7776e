# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion between programs of other frameworks or formats and modules of the dialect.

| module     | contents                                                             |
|------------|----------------------------------------------------------------------|
| `jax`      | import of JAX functions, and partitioned programs as JAX functions   |
| `torch`    | import of PyTorch modules                                            |
| `portable` | portable artifacts of StableHLO, in which strings represent sdy      |
| `files`    | program files of all formats                                         |
| `meshes`   | declaration of the meshes of user-provided shardings                 |

Frameworks are imported at their first use.
"""
