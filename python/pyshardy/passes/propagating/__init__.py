# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that propagate shardings, and write or drop sharding rules."""
