# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts about single operations: blocked factors, local rules, completion of partial results."""
