# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Explanations of propagation: the steps that it took, the origins of axes, and refusals."""
