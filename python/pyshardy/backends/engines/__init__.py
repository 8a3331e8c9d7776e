# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local engines: the interface, child processes, caches and fallbacks."""
