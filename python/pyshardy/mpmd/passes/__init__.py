# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on MPMD programs, a file for each family of them.

The decorator of a pass names it. A file is imported when one of its passes is first used.
"""
