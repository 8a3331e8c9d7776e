# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IREE's compiler and run time as a local engine, in a child process.

| module           | what it holds                |
|------------------|------------------------------|
| `engine`         | the engine                   |
| `worker`         | its process                  |
| `compiler`       | StableHLO to `.vmfb` files   |
| `files`          | such files of whole programs |
| `compile_worker` | the process that makes these |
"""
