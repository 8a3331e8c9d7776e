# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host's own compiler as a local engine: StableHLO to loops to machine code of this CPU.

| module         | contents                                                         |
|----------------|------------------------------------------------------------------|
| `engine`       | the engine, and the one that replaces it where it can't compile  |
| `compiler`     | the passes to machine code, compiled code, and the child process |
| `small_floats` | arithmetic on floating-point numbers of fewer than 32 bits       |
| `conversions`  | conversions of small floats as functions on their bits           |
| `machine_code` | the compilation of LLVM's dialect to machine code of a CPU       |
"""
