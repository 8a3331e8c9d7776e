# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IR helpers of all layers: walks, functions, symbols, constants, types."""
