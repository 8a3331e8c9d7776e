#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs pyshardy into .venv, if it isn't there yet, and runs an example:
#     bash examples/run.sh [FILE] [options of sdy-run]
set -euo pipefail
cd "$(dirname "$0")/.."

bash tools/setup.sh
if (($#)); then
    exec .venv/bin/sdy-run "$@"
fi
exec .venv/bin/sdy-run examples/transformer_block.mlir
