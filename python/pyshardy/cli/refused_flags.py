# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The flags of `mlir-opt` that `sdy-opt` refuses, with reasons."""

from __future__ import annotations

_ASSERTIONS = "it needs an MLIR that is built with assertions; use --verbose"
_COUNTERS = "passes have no debug counters; use --pass-pipeline with fewer passes"
_CATEGORIES = "remarks have no categories here; use --remarks-filter"
_ONE_OUTPUT = "remarks are diagnostics here, on standard error"

REFUSED = {
    "color": "set the environment variable NO_COLOR or FORCE_COLOR",
    "debug": _ASSERTIONS,
    "debug-counter": _COUNTERS,
    "debug-only": _ASSERTIONS,
    "elide-resource-data-from-bytecode": "the bindings of the MLIR host can't ask for it",
    "emit-bytecode-version": "bytecode is that of the MLIR host; 'sdy-translate' writes portable "
    "artifacts for a version",
    "irdl-file": "operations of further dialects are accepted by --allow-unregistered-dialect",
    "load-dialect-plugin": "plugins are built for another MLIR than the host; use "
    "--allow-unregistered-dialect",
    "load-pass-plugin": "passes are written in Python; use --load-passes=FILE.py",
    "log-mlir-actions-filter": "--log-actions-to logs all passes",
    "mlir-debug-counter": _COUNTERS,
    "mlir-diagnostic-verbosity-level": "errors and warnings are always shown, and remarks by "
    "--remarks",
    "mlir-enable-debugger-hook": "the MLIR host has no debugger hook; --no-guard runs everything "
    "in one process",
    "mlir-pass-pipeline-local-reproducer": "use --mlir-pass-pipeline-crash-reproducer",
    "mlir-pass-statistics-display": "statistics are in the order of the passes",
    "mlir-pretty-debuginfo": "use --mlir-print-debuginfo",
    "mlir-print-debug-counter": _COUNTERS,
    "mlir-print-elementsattrs-with-hex-if-larger": "the bindings of the MLIR host can't ask for it",
    "mlir-very-unsafe-disable-verifier-on-parsing": "programs are verified when they are read; "
    "--verify-each=false is about passes",
    "output-split-marker": "outputs are separated by the text of --split-input-file",
    "print-debug-counter": _COUNTERS,
    "print-pipeline-passes": "use --dump-pass-pipeline",
    "profile-actions-to": "use --mlir-timing, or --log-actions-to",
    "remark-format": _ONE_OUTPUT,
    "remark-policy": "all remarks are shown",
    "remarks-filter-analyse": _CATEGORIES,
    "remarks-filter-failed": _CATEGORIES,
    "remarks-filter-missed": _CATEGORIES,
    "remarks-filter-passed": _CATEGORIES,
    "remarks-output-file": _ONE_OUTPUT,
    "stats": "use --mlir-pass-statistics",
    "threads": "passes run in a single thread",
    "verify-region-info": "it is about LLVM IR",
}
"""The reason, or what to use instead, by the name of a flag without dashes."""
