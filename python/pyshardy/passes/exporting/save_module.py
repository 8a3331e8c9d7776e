# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-save-module`: write a module to a file during a pipeline."""

from pyshardy.irtools.module_files import save_module

__all__ = ["save_module"]
