# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that tools read, and the flags that belong to reading and propagating them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from mlir_sdy.diagnostics import UsageError, error, remarks
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.cli.flags import RuleFlags
from pyshardy.cli.mesh_flag import give_mesh, read_mesh
from pyshardy.cli.tool import Tool
from pyshardy.explain.forms import dims_of_spec
from pyshardy.frontends.files import Kind, load
from pyshardy.rules import load_rules, strict_rules

_LOG = logging.getLogger(__name__)


def shown_name(file: str) -> str:
    """Return the name of an input file in diagnostics and reports."""
    return "<stdin>" if file == "-" else file


def read_program(file: str, tool: Tool, mesh: str | None = None) -> ir.Module:
    """Return the program of a file of any kind.

    Args:
        file: the file; "-" for standard input.
        tool: reads it, and shows its lines in diagnostics.
        mesh: the value of `--mesh`, if it is given.

    Raises:
        UsageError: the file can't be read, or `mesh` is malformed.
        ParseError: the text has a syntax error.
        VerificationError: an operation or attribute is invalid, or doesn't fit the mesh.
    """
    given = read_mesh(mesh) if mesh else None
    data = tool.read_input(file)
    kind = Kind.of(data)
    if kind is Kind.TEXT:
        tool.sources.add(shown_name(file), data.decode(errors="replace"))
    module = load(data, Context(), shown_name(file))
    _LOG.info("read %s: %s, %s bytes", shown_name(file), kind.value, f"{len(data):,}")
    if given is not None:
        give_mesh(module, *given)
    return module


def read_sharding(flag: str, text: str) -> tuple[str, str]:
    """Return the value and the dimensions of a flag such as `--fix="w=[{'x'}, {}]"`.

    They may be written as a `PartitionSpec`: `--fix="w=P('x', None)"`.

    Raises:
        UsageError: the text is malformed.
    """
    name, _, spec = text.rpartition("=P(")
    if name and (dims := dims_of_spec(f"P({spec}")) is not None:
        return name, dims
    name, equals, dims = text.rpartition("=[")
    if not equals:
        message = f"expected '{flag}' with a value and a sharding, got: '{text}'"
        raise UsageError(
            error(f"{message}; write \"arg0=[{{'model'}}, {{}}]\" or \"arg0=P('model', None)\"")
        )
    return name, "[" + dims.replace("'", '"')


@contextlib.contextmanager
def rule_flags_applied(arguments: RuleFlags) -> Iterator[None]:
    """Apply `--load-rules`, `--strict-rules` and `--remarks` inside the `with` block."""
    for path in arguments.load_rules:
        load_rules(path)
    with contextlib.ExitStack() as stack:
        if arguments.strict_rules:
            stack.enter_context(strict_rules())
        if arguments.remarks:
            stack.enter_context(remarks())
        yield
