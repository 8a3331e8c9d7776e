# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs on MPI, without XLA: by the shard dialect, linalg, and upstream's MPI dialect.

| module          | what it holds                                            |
|-----------------|----------------------------------------------------------|
| `prepare`       | the pass that leaves only what upstream lowers soundly   |
| `builder`       | collectives by those that upstream lowers soundly        |
| `elements`      | element types that MPI doesn't know                      |
| `compiler`      | from a local program to machine code that calls MPI      |
| `communicators` | groups of processes, made once                           |
| `library`       | the MPI library, by ctypes                               |
| `backend`       | the backend `mpi`: each process runs its part            |
"""
