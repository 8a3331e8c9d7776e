# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on MPMD programs, one per file, by stage."""
