# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that partition a propagated program into one local program."""
