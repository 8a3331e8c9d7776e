# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shard dialect of upstream: to and from sdy, to StableHLO, and to MPI."""
