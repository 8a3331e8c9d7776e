# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engine of the StableHLO reference interpreter."""
