# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""StableHLO operations written out in simpler ones of StableHLO.

`registry.decomposed` decomposes the operations that an engine lacks. Each operation has a file;
`tensors` provides expressions in the style of NumPy.
"""
