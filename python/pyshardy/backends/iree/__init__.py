# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IREE's compiler and run time as a local engine, in a child process.

| module   | contents                                           |
|----------|----------------------------------------------------|
| `engine` | the engine, and `.vmfb` files                      |
| `worker` | its process, which also compiles files alone       |
"""
