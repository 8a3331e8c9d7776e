# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of other frameworks and formats, to modules of the dialect and back.

| module     | what it holds                                                        |
|------------|----------------------------------------------------------------------|
| `jax`      | functions of JAX, and what it lowers and exports; programs for JAX   |
| `torch`    | modules of PyTorch                                                   |
| `portable` | portable artifacts of StableHLO, in which sdy is spelled in strings  |
| `files`    | files of all kinds                                                   |
| `meshes`   | meshes for shardings that come from outside of a program             |
| `packages` | what a user is told when a package is missing                        |

Frameworks are imported when they are first used, and never when this package is.
"""
