# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host's own compiler as a local engine: StableHLO to loops to machine code of this CPU.

| module          | what it holds                                                    |
|-----------------|------------------------------------------------------------------|
| `engine`        | the engine                                                       |
| `worker`        | its child process                                                |
| `compiler`      | the passes from StableHLO to machine code, and the compiled code |
| `empty_tensors` | nothing is computed for tensors without elements                 |
| `control_flow`  | StableHLO's loops and branches as those of MLIR                  |
| `signs`         | unsigned integers as plain ones, once operations know            |
| `small_floats`  | arithmetic on floating-point numbers of fewer than 32 bits       |
| `conversions`   | conversions of those, written out as functions on their bits     |
| `float_formats` | their bits                                                       |
| `library`       | functions of the C library                                       |
| `machine_code`  | from LLVM's dialect to code, and what needs a missing function   |
| `target`        | the CPU that code is made for                                    |
"""
