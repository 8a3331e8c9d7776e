# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of modules, for backends."""

from pyshardy.irtools.modules import copy_of

__all__ = ["copy_of"]
