# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-save-module`: write a module to a file during a pipeline."""

from pyshardy.irtools.modules import save_module

__all__ = ["save_module"]
