# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-save-module`: write a module to a file on its way through a pipeline."""

from pyshardy.irtools.module_files import save_module

__all__ = ["save_module"]
