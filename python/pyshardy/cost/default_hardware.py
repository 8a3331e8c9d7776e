# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The name of the default hardware, apart from the model so that options load without it."""

DEFAULT_HARDWARE = "default"
"""The preset that the partitioner assumes: fast links between hosts, of power-of-two rates."""
