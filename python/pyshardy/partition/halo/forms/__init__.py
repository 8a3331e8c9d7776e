# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The halo exchanges of operations, one family per file."""
