# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on whole modules and functions, one a file."""
