# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guards against crashes of the MLIR host, which end the process instead of raising an exception.

Work that may crash runs in a forked process; the process that forked it lives on and reports.

- `crash`: what is known about a crash, and how to say it.
- `child`: the forked process: what it is doing and what it said last.
- `parsing`: `guarded`, for `pyshardy.parse(..., guard=True)`.

The tools guard all that they do; see `pyshardy.cli.supervisor`.
"""
