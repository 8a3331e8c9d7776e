# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of common passes of the MLIR host, for help and suggestions."""

from __future__ import annotations

WELL_KNOWN_HOST_PASSES = {
    "canonicalize": "Canonicalizes operations",
    "cse": "Eliminates common sub-expressions",
    "inline": "Inlines function calls",
    "sccp": "Propagates constants sparsely and conditionally",
    "symbol-dce": "Eliminates dead symbols",
    "symbol-privatize": "Marks symbols private",
    "strip-debuginfo": "Strips locations",
    "print-op-stats": "Prints the number of operations of each kind",
    "chlo-legalize-to-stablehlo": "Decomposes CHLO operations into StableHLO",
    "stablehlo-legalize-to-linalg": "Lowers StableHLO to linalg",
    "stablehlo-legalize-to-vhlo": "Converts StableHLO to VHLO, for portable artifacts",
    "vhlo-legalize-to-stablehlo": "Converts VHLO of portable artifacts to StableHLO",
    "stablehlo-refine-shapes": "Refines result shapes",
    "stablehlo-refine-arguments": "Refines argument shapes",
    "stablehlo-canonicalize-dynamism": "Replaces dynamic operations by static ones if possible",
    "stablehlo-legalize-composite-to-call": "Replaces composites by calls",
}
"""The most common passes of the host; it has many more."""
