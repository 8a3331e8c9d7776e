# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of the MLIR Python bindings that the project uses, typed.

The wheel brings no stubs. What a registered class decides at run time (the class of an attribute
found in the IR, say) is `Any` here. `test/unit/test_typings.py` holds the names to the wheel's.
"""
