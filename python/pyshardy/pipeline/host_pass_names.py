# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Some names of passes that the MLIR host brings, for help and for suggestions."""

from __future__ import annotations

WELL_KNOWN_HOST_PASSES = {
    "canonicalize": "Canonicalizes operations",
    "cse": "Eliminates common sub-expressions",
    "inline": "Inlines function calls",
    "sccp": "Propagates constants sparsely and conditionally",
    "symbol-dce": "Eliminates dead symbols",
    "symbol-privatize": "Marks symbols private",
    "strip-debuginfo": "Strips locations",
    "print-op-stats": "Prints how many operations of each kind there are",
    "chlo-legalize-to-stablehlo": "Decomposes CHLO operations into StableHLO",
    "stablehlo-legalize-to-linalg": "Lowers StableHLO to linalg",
    "stablehlo-legalize-to-vhlo": "Makes a portable artifact of StableHLO",
    "vhlo-legalize-to-stablehlo": "Reads a portable artifact of StableHLO",
    "stablehlo-refine-shapes": "Refines result shapes",
    "stablehlo-refine-arguments": "Refines argument shapes",
    "stablehlo-canonicalize-dynamism": "Makes dynamic operations static where they are",
    "stablehlo-legalize-composite-to-call": "Replaces composites by calls",
}
"""The passes of the host that this project's users meet most; it has many more."""
