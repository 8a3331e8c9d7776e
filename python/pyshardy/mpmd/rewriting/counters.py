# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attributes with numbers of iterations and microbatches."""

UNROLL_COUNTER = "unroll_counter"
"""The number of the iteration of a loop that an operation comes from."""
