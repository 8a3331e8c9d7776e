# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process in which the importer converts programs: `python -m` this module.

It has the bindings of MLIR, and not PyTorch.
"""

from __future__ import annotations

from mlir_sdy.host import converted_from_torch, diagnostics_of, ir
from pyshardy.backends.engines.worker import serve


def convert(bytecode: bytes) -> bytes:
    """Convert a module; an error has the message of its first diagnostic.

    Raises:
        ValueError: an operation has no counterpart.
    """
    try:
        return converted_from_torch(bytecode)
    except ir.MLIRError as failure:
        raise ValueError(diagnostics_of(failure)[0].message) from None


if __name__ == "__main__":
    serve(convert)
