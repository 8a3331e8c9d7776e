# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA on virtual CPU devices and on GPUs, by jaxlib, in a child process.

| module      | contents                                               |
|-------------|--------------------------------------------------------|
| `backend`   | the backend                                            |
| `text`      | partitioned programs as text for XLA                   |
| `preparation` | rewrites that XLA requires; see `layouts`, `split_collectives`, `nan_safe` |
| `callbacks` | custom calls that functions of this process implement  |
| `program`   | compiled programs                                      |
| `process`   | child processes with XLA, and arrays on their devices  |
| `hlo`       | collectives in the text of optimised HLO               |
| `worker`    | the code of such a process                             |
"""
