# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host's own compiler as a local engine: StableHLO to loops to machine code of this CPU.

| module          | contents                                                         |
|-----------------|------------------------------------------------------------------|
| `engine`        | the engine                                                       |
| `worker`        | its child process                                                |
| `compiler`      | the passes from StableHLO to machine code, and the compiled code |
| `empty_tensors` | removal of tensors without elements                              |
| `control_flow`  | the conversion of loops and branches to `scf`                    |
| `signs`         | the conversion of unsigned to signless integers                  |
| `retype`        | changes of the element types of all values                       |
| `small_floats`  | arithmetic on floating-point numbers of fewer than 32 bits       |
| `conversions`   | conversions of small floats as functions on their bits           |
| `float_formats` | the bit layouts of floating-point formats                        |
| `library`       | calls of the C library                                           |
| `machine_code`  | the compilation of LLVM's dialect to machine code                |
| `target`        | the CPU to compile for                                           |
"""
