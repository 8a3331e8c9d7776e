# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process in which the importer converts programs: `python -m` this module.

It has the bindings of MLIR, and not PyTorch.
"""

from __future__ import annotations

from mlir_sdy.host import TorchConversion, diagnostics_of, ir
from pyshardy.backends.engines.worker import serve


class Converter:
    """Converts programs, each in a context of its own, which is made before it is needed."""

    def __init__(self) -> None:
        self._conversion: TorchConversion

    def prepare(self) -> None:
        """Replace the context by a new one."""
        self._conversion = TorchConversion()

    def convert(self, bytecode: bytes) -> bytes:
        """Convert a module; an error has the message of its first diagnostic.

        Raises:
            ValueError: an operation has no counterpart.
        """
        try:
            return self._conversion.convert(bytecode)
        except ir.MLIRError as failure:
            raise ValueError(diagnostics_of(failure)[0].message) from None


if __name__ == "__main__":
    converter = Converter()
    serve(converter.convert, converter.prepare)
