# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that clean a module up after propagation."""
