# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compatible shardings of the tensors of an operation, and their resolution."""
