# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""StableHLO operations written out in simpler ones of StableHLO.

`registry.decomposed` decomposes the operations that an engine lacks; the other modules register the
decompositions by topic, and `tensors` provides expressions in the style of NumPy.
"""
