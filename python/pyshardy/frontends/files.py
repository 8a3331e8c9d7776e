# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Program files of all formats, detected by their first bytes."""

from __future__ import annotations

import enum
import io

from mlir_sdy import assembly
from mlir_sdy.diagnostics import ParseError, SourceLocation, UsageError, error
from mlir_sdy.host import diagnostics_of, ir
from mlir_sdy.on_demand import register_if_mentioned
from mlir_sdy.stages import stage
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.verify import verify
from pyshardy.irtools.modules import remember_text

_BYTECODE_MAGIC = b"ML\xefR"
_PRODUCER_OF_ARTIFACTS = b"StableHLO_v"


class Kind(enum.Enum):
    """The format of a program; the values are the names in the tools."""

    TEXT = "text"
    BYTECODE = "bytecode"
    PORTABLE = "portable"
    EXPORTED = "exported"

    @classmethod
    def of(cls, data: bytes) -> Kind:
        """Return the format of a file's contents.

        1. Contents with the magic number of MLIR bytecode elsewhere than at the beginning are those
           that `jax.export` serializes: bytecode inside of a flat buffer.
        2. Other contents without the magic number are text.
        3. Bytecode whose producer is a version of StableHLO is a portable artifact. The name of the
           producer follows the magic number and one byte.
        """
        if not data.startswith(_BYTECODE_MAGIC):
            return cls.EXPORTED if _BYTECODE_MAGIC in data else cls.TEXT
        producer = data[len(_BYTECODE_MAGIC) + 1 :]
        return cls.PORTABLE if producer.startswith(_PRODUCER_OF_ARTIFACTS) else cls.BYTECODE


def kind_named(name: str) -> Kind:
    """Return the format of a name.

    Raises:
        UsageError: there is none.
    """
    kinds = [kind.value for kind in Kind if kind is not Kind.EXPORTED]  # which JAX alone writes
    if name in kinds:
        return Kind(name)
    known = ", ".join(f"'{kind}'" for kind in kinds)
    advice = did_you_mean(name, kinds)
    raise UsageError(error(f"unknown file kind '{name}'; expected one of: {known}{advice}"))


def load(data: bytes, context: ir.Context, filename: str = "-") -> ir.Module:
    """Load the module of a file of any format.

    Args:
        data: the contents of the file.
        context: a context with the dialect.
        filename: the name of the file in diagnostics.

    Raises:
        UsageError: the data is empty, or neither UTF-8 text nor of another format.
        ParseError: the data can't be parsed.
        VerificationError: an operation or attribute is invalid.
    """
    if not data.strip():
        raise UsageError(error("the file is empty", SourceLocation(filename, 0, 0)))
    register_if_mentioned(data, context)
    kind = Kind.of(data)
    if kind is Kind.EXPORTED:
        from pyshardy.frontends.jax.lowered import from_exported  # noqa: PLC0415 (loads JAX)

        with stage(f"reading '{filename}'"):
            return from_exported(data, context)
    if kind is Kind.PORTABLE:
        from pyshardy.frontends.portable import deserialize  # noqa: PLC0415 (for few files)

        with stage(f"reading '{filename}'"):
            return deserialize(data, context, filename)
    if kind is Kind.BYTECODE:
        with stage(f"reading '{filename}'"):
            return _from_bytecode(data, context, filename)
    text = assembly.decoded(data, filename)
    module = assembly.parse(text, context, filename)
    remember_text(module, text)
    return module


def dump(
    module: ir.Module, kind: Kind, version: str | None = None, *, debug_info: bool = False
) -> bytes:
    """Return the contents of a file of some format for a module.

    Args:
        module: the module. It isn't changed.
        kind: the format of the file.
        version: for a portable artifact, the version of StableHLO that must be able to read it;
            the current one if None.
        debug_info: whether a text has locations; the other formats always do.

    Raises:
        UsageError: there is no such version.
        PassError: the format can't represent the program.
    """
    with stage("writing the program"):
        if kind is Kind.PORTABLE:
            from pyshardy.frontends.portable import serialize  # noqa: PLC0415 (for few files)

            return serialize(module) if version is None else serialize(module, version)
        if kind is Kind.BYTECODE:
            buffer = io.BytesIO()
            module.operation.write_bytecode(buffer)
            return buffer.getvalue()
        return (assembly.asm(module, debug_info=debug_info).rstrip("\n") + "\n").encode()


def _from_bytecode(data: bytes, context: ir.Context, filename: str) -> ir.Module:
    try:
        module = ir.Module.parse(data, context)
    except ir.MLIRError as failure:
        place = SourceLocation(filename, 0, 0)
        found = diagnostics_of(failure)
        raise ParseError(*(diagnostic.moved(lambda _: place) for diagnostic in found)) from None
    verify(module)
    return module
