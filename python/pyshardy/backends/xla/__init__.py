# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA on virtual CPU devices and on GPUs, by jaxlib, in a child process.

| module      | what it holds                                          |
|-------------|--------------------------------------------------------|
| `backend`   | the backend                                            |
| `text`      | partitioned programs as text that XLA takes as it is   |
| `callbacks` | custom calls that functions of this process do         |
| `program`   | compiled programs                                      |
| `process`   | the processes that hold them, and arrays on devices    |
| `worker`    | such a process                                         |
"""
