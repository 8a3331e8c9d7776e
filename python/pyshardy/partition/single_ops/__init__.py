# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partitioning of single operations: their choice, and outlining into functions."""
