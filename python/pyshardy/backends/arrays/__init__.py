# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Global and sharded arrays: distribution, random inputs, comparison."""
