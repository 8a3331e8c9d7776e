# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts about single operations: their records, and analyses of operations and bodies."""
