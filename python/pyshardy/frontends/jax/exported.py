# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import of functions exported by `jax.export`."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.frontends.jax.dtypes import implementations
from pyshardy.frontends.jax.locations import locate_by_calls, locate_in_user_code
from pyshardy.frontends.jax.structure import Structure, remember
from pyshardy.packages import require

if TYPE_CHECKING:
    import jax.export


def from_exported(
    exported: jax.export.Exported | bytes | bytearray | str | os.PathLike[str],
    context: ir.Context | None = None,
) -> ir.Module:
    """Return the module of a function exported by `jax.export`.

        module = sdy.jax.from_exported(jax.export.export(jax.jit(f))(x))
        module = sdy.jax.from_exported("f.jax")  # the bytes of `serialize()`

    Args:
        exported: the function; or serialized, as bytes or the file with them.
        context: a context with the dialect; a new one by default.

    Raises:
        UsageError: JAX is missing; the argument isn't an exported function; or the function is for
            several platforms, or has symbolic dimensions.
        ParseError: the program can't be parsed.
    """
    require("jax", "sdy.jax.from_exported", extra="jax")
    import jax.export  # noqa: PLC0415

    if not isinstance(exported, jax.export.Exported):
        exported = _deserialized(exported)
    if exported.uses_global_constants:
        message = (
            f"'{exported.fun_name}' was exported for several platforms or with symbolic "
            "dimensions; export it for one platform and with static shapes"
        )
        raise UsageError(error(message))
    module = parse(exported.mlir_module(), context or Context())
    locate_by_calls(module)
    locate_in_user_code(module)
    kept, keys = tuple(exported.module_kept_var_idx), implementations(exported.out_avals)
    remember(Structure(exported.in_tree, exported.out_tree, kept, keys), module)
    return module


def _deserialized(
    source: bytes | bytearray | str | os.PathLike[str],
) -> jax.export.Exported:
    import jax.export  # noqa: PLC0415

    if isinstance(source, bytes | bytearray):
        name, data = "the data", bytearray(source)
    else:
        name = f"'{os.fspath(source)}'"
        try:
            data = bytearray(Path(source).read_bytes())
        except OSError as refusal:
            raise UsageError(error(f"{name} can't be read: {refusal.strerror}")) from None
    try:
        return jax.export.deserialize(data)
    except Exception as refusal:  # JAX has no class for it
        reason = str(refusal) or type(refusal).__name__
        message = f"{name} is not a program that 'jax.export' serialized: {reason}"
        raise UsageError(error(message)) from None
