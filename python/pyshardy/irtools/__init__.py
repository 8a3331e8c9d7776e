# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IR helpers that every layer uses: walks, functions, symbols, constants, types."""
