# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-lsp`: serve an editor with diagnostics, shardings and explanations.

    sdy-lsp
    sdy-lsp --tcp=7777

The server talks the language server protocol on standard input and output. It serves programs in
MLIR, and Python files that trace programs.

Exit status: 0 when the editor ends it, else 1.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import partial

from pyshardy.cli.flags import flag
from pyshardy.cli.tool import Parser, Tool, entry_point
from pyshardy.lsp import WORKER
from pyshardy.packages import require
from pyshardy.processes.child_process import ChildProcess


@dataclass(frozen=True, kw_only=True)
class ServerFlags:
    """The flags of sdy-lsp."""

    tcp: int | None = flag(None, "listen on a port of this machine instead", "PORT")


parser = partial(
    Parser[ServerFlags],
    "sdy-lsp",
    "Language server for MLIR programs with shardings, and for Python files that trace "
    "them. Editors start it and talk to it on standard input and output.",
    ServerFlags,
)
"""Makes the parser of the command line."""


def _run(arguments: ServerFlags, _: Tool) -> int:
    require("pygls", "sdy-lsp", extra="lsp")
    worker = ChildProcess(WORKER)
    from pyshardy.lsp.server import create_server  # noqa: PLC0415 (needs an extra)

    server = create_server(worker)
    if arguments.tcp is not None:
        server.start_tcp("127.0.0.1", arguments.tcp)
        return 0
    # Other output must not be mixed with the protocol.
    protocol = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server.start_io(os.fdopen(os.dup(sys.stdin.fileno()), "rb"), protocol)
    return 0


main = entry_point("sdy-lsp", parser, _run)
"""Runs the tool; see `entry_point`."""


if __name__ == "__main__":
    sys.exit(main())
