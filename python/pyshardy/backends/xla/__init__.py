# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA on virtual CPU devices, by jaxlib, in a child process.

| module    | what it holds                                        |
|-----------|------------------------------------------------------|
| `text`    | partitioned programs as text that XLA takes as it is |
| `program` | compiled programs, and the processes that hold them  |
| `worker`  | such a process                                       |
"""
