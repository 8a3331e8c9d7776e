# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""StableHLO operations written out in simpler ones of StableHLO.

An engine that lacks an operation asks `registry.decomposed` to write it out. Each operation has a
file; `tensors` lets them read like NumPy.
"""
