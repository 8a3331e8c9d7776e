# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traits of operations registered at run time."""

from torch_mlir import ir

class Pure(ir.DynamicOpTrait): ...
