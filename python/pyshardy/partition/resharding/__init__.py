# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshards: the plan of collectives and its cost."""
