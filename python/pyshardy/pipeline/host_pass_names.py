# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of common passes of the MLIR host, for help and suggestions."""

from __future__ import annotations

WELL_KNOWN_HOST_PASSES = {
    "canonicalize": "Canonicalize operations",
    "cse": "Eliminate common sub-expressions",
    "inline": "Inline function calls",
    "sccp": "Propagate constants sparsely and conditionally",
    "symbol-dce": "Eliminate dead symbols",
    "symbol-privatize": "Mark symbols private",
    "strip-debuginfo": "Strip locations",
    "print-op-stats": "Print the number of operations of each kind",
    "chlo-legalize-to-stablehlo": "Decompose CHLO operations into StableHLO",
    "stablehlo-legalize-to-linalg": "Lower StableHLO to linalg",
    "stablehlo-legalize-to-vhlo": "Convert StableHLO to VHLO, for portable artifacts",
    "vhlo-legalize-to-stablehlo": "Convert VHLO of portable artifacts to StableHLO",
    "stablehlo-refine-shapes": "Refine result shapes",
    "stablehlo-refine-arguments": "Refine argument shapes",
    "stablehlo-canonicalize-dynamism": "Replace dynamic operations by static ones if possible",
    "stablehlo-legalize-composite-to-call": "Replace composites by calls",
}
"""The most common passes of the host; it has many more."""
