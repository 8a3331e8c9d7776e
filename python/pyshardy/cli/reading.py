# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that tools read, and the flags that belong to reading and propagating them."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterable, Iterator, Sequence

from mlir_sdy.diagnostics import SourceLocation, UsageError, error, remarks
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.symbols import meshes_of
from pyshardy.any_program import check_one_mesh
from pyshardy.cli.flags import RuleFlags
from pyshardy.cli.mesh_flag import give_mesh, read_mesh
from pyshardy.cli.tool import Tool
from pyshardy.forms import dims_of_spec
from pyshardy.frontends.files import Kind, load
from pyshardy.rules import load_rules, strict_rules
from pyshardy.sizes.signature import takes_sizes
from pyshardy.sizes.static_program import static_at
from pyshardy.sizes.symbols import values_in

_QUOTED = re.compile(r"""['"]([^'"]+)['"]""")
_LOG = logging.getLogger(__name__)


def shown_name(file: str) -> str:
    """Return the name of an input file in diagnostics and reports."""
    return "<stdin>" if file == "-" else file


def read_program(
    file: str,
    tool: Tool,
    mesh: str | None = None,
    sizes: Sequence[str] | None = None,
    *,
    several_meshes: bool = False,
) -> ir.Module:
    """Return the program of a file of any kind.

    Args:
        file: the file; "-" for standard input.
        tool: reads it, and shows its lines in diagnostics.
        mesh: the value of `--mesh`, if it is given.
        sizes: the values of `--size`, for which dynamic sizes become static; None to keep them.
        several_meshes: whether the tool takes MPMD programs.

    Raises:
        UsageError: the file can't be read, or `mesh`, a size or the number of meshes is wrong.
        ParseError: the text has a syntax error.
        VerificationError: an operation or attribute is invalid, or doesn't fit the mesh.
    """
    if mesh:
        read_mesh(mesh)  # before the program, which may be large
    data = tool.read_input(file)
    kind = Kind.of(data)
    if kind is Kind.TEXT:
        tool.sources.add(shown_name(file), data.decode("utf-8-sig", errors="replace"))
    module = load(data, Context(), shown_name(file))
    _LOG.info("read %s: %s, %s bytes", shown_name(file), kind.value, f"{len(data):,}")
    if not several_meshes:
        check_one_mesh(tool.name, module, "sdy-mpmd")
    if mesh:
        give_mesh(module, mesh, tool.sources)
    return module if sizes is None else at_sizes(module, sizes)


def at_sizes(module: ir.Module, sizes: Sequence[str]) -> ir.Module:
    """Return a program with static sizes; the module itself if it has no others.

    Args:
        module: the program.
        sizes: the values of `--size`; other symbols have their hints.

    Raises:
        UsageError: a size is malformed, or the program doesn't have it.
    """
    if takes_sizes(module, {"--size": sizes}):
        return static_at(module, values_in(sizes, "--size"), "--size")
    return module


def check_axes(flag: str, texts: Iterable[str], module: ir.Module, tool: Tool) -> None:
    """Check that the shardings of a flag name axes of the program's meshes.

    Raises:
        UsageError: one doesn't; at its place in the text.
    """
    known = {axis.name for mesh in meshes_of(module).values() for axis in mesh.axes}
    for text in texts:
        start = max(text.rfind("=["), text.rfind("=P("))
        for axis in _QUOTED.finditer(text, max(start, 0)):
            if axis[1] not in known:
                tool.sources.add(flag, text)
                advice = (
                    did_you_mean(axis[1], known) or f"; the axes are {', '.join(sorted(known))}"
                )
                message = f"the program has no mesh with an axis '{axis[1]}'{advice}"
                raise UsageError(error(message, SourceLocation(flag, 1, axis.start(1) + 1)))


def read_shardings(flag: str, texts: Iterable[str]) -> list[tuple[str, str]]:
    """Return the values and the shardings of a flag such as `--fix="w=[{'x'}, {}]"`.

    They may be written as a `PartitionSpec`: `--fix="w=P('x', None)"`.

    Raises:
        UsageError: a text is malformed.
    """
    shardings: list[tuple[str, str]] = []
    for text in texts:
        name, _, spec = text.rpartition("=P(")
        if name and dims_of_spec(f"P({spec}") is not None:
            shardings.append((name, f"P({spec}"))
            continue
        name, equals, dims = text.rpartition("=[")
        if not equals:
            message = f"expected '{flag}' with a value and a sharding, got: '{text}'"
            example = "\"arg0=[{'model'}, {}]\" or \"arg0=P('model', None)\""
            raise UsageError(error(f"{message}; write {example}"))
        shardings.append((name, f"[{dims}"))
    return shardings


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
