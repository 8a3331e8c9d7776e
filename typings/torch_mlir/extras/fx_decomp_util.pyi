# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `mlir_sdy.host` needs of it to import programs of PyTorch."""

from typing import Any

def get_decomposition_table() -> dict[Any, Any]: ...
