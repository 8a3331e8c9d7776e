# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA on virtual CPU devices and on GPUs, by jaxlib, in a child process.

| module      | contents                                               |
|-------------|--------------------------------------------------------|
| `preparation` | rewrites that XLA requires                             |
| `callbacks` | custom calls that functions of this process implement  |
| `program`   | the backend: compiled programs, processes, and arrays  |
| `hlo`       | collectives in the text of optimised HLO               |
| `worker`    | the code of the child process with XLA                 |
"""
