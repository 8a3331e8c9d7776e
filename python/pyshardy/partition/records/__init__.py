# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The local forms of operations, one family per file."""
