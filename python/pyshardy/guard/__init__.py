# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guards against crashes of the MLIR host, which end the process instead of raising an exception.

Code that may crash runs in a forked process; the parent process survives and reports the crash.

- `crash`: the description of a crash.
- `child`: the memory that the forked process shares, its stage and its last message; and trial
  runs, for `pyshardy.parse(..., guard=True)`.

The tools guard their entire run; see `pyshardy.cli.supervisor`.
"""
