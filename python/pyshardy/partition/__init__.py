# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From shardings to one program per device.

In order: `explicit_reshards` makes the tensors of each operation agree, `reshard_to_collectives`
says how each reshard communicates, and `global_to_local` turns global shapes into local ones and
the dialect's collectives into those of StableHLO.
"""
