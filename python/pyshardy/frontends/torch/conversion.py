# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion from the dialect of PyTorch to StableHLO, in a child process.

The passes of the importer abort the process for some operations instead of reporting an error. The
process, `python -m` this module, has the bindings of MLIR, and not PyTorch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache

from mlir_sdy.host import TorchConversion, diagnostics_of, ir
from pyshardy.processes.child_process import ChildDiedError, ChildProcess
from pyshardy.processes.worker import serve

_ONE_AT_A_TIME = threading.Lock()


class ConversionError(Exception):
    """The importer can't convert a program."""


def start_conversion() -> None:
    """Start the process in the background, if it hasn't started yet."""
    _process()


def convert(bytecode: bytes, meanwhile: Callable[[], None] | None = None) -> bytes:
    """Convert a module to StableHLO; see `host.TorchConversion`.

    Args:
        bytecode: the module.
        meanwhile: does other work while the process converts.

    Raises:
        ConversionError: it has an operation without a counterpart, or that ends the process.
    """
    with _ONE_AT_A_TIME:
        try:
            succeeded, answer = _process().ask(bytecode, meanwhile=meanwhile)
        except ChildDiedError as death:
            _process.cache_clear()
            raise ConversionError(f"the importer ended its process: {death}") from None
        except BaseException:
            _process.cache_clear()
            raise
    if not succeeded:
        raise ConversionError(answer)
    return answer


@cache
def _process() -> ChildProcess:
    return ChildProcess(("-m", "pyshardy.frontends.torch.conversion"))


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
