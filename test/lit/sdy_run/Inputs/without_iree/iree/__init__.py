# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands before the real package on the search path, and has no compiler."""
