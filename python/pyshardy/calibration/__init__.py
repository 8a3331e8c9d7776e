# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measured hardware: `sdy-calibrate`.

| module      | contents                                                           |
|-------------|--------------------------------------------------------------------|
| `measuring` | what is measured, and how by JAX; runs alone as a script           |
| `mpi`       | the same by the backend `mpi`                                      |
| `fitting`   | the constants of the hardware, by least squares                    |
| `report`    | the tables of the tool, and the files of measurements and hardware |
"""
