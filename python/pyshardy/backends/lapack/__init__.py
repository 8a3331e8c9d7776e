# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The routines of LAPACK that JAX calls on CPUs, in NumPy, for engines that don't have them.

Each works on one matrix, in double precision, and stores its results as LAPACK does.

| module         | contents                                                                |
|----------------|-------------------------------------------------------------------------|
| `calls`        | the custom calls by their targets, and batches of matrices              |
| `reflections`  | factorizations by Householder reflections: QR, Hessenberg, tridiagonal  |
| `solvers`      | factors of square matrices, and systems of equations                    |
| `spectral`     | singular values, eigenvalues, and the Schur form                        |
"""
