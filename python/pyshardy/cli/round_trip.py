# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check of `sdy-opt --verify-roundtrip`."""

from __future__ import annotations

from mlir_sdy.assembly import asm
from mlir_sdy.diagnostics import SdyError, VerificationError, error
from mlir_sdy.host import ir, location_of
from pyshardy.frontends.files import Kind, dump, load


def check_round_trip(module: ir.Module) -> None:
    """Check that a module stays the same if it is written and read.

    As text in custom and in generic form, and as bytecode.

    Raises:
        VerificationError: it doesn't, or what was written can't be read.
    """
    expected = asm(module, generic=True)
    written = {
        "text": asm(module).encode(),
        "generic text": expected.encode(),
        "bytecode": dump(module, Kind.BYTECODE),
    }
    for form, data in written.items():
        try:
            read = load(data, module.context, f"<{form}>")
        except SdyError as failure:
            message = f"the program can't be read again from its {form}"
            place = location_of(module.operation.location)
            raise VerificationError(error(message, place), *failure.diagnostics) from None
        if asm(read, generic=True) != expected:
            message = f"the program differs after writing and reading it as {form}"
            raise VerificationError(error(message, location_of(module.operation.location)))
