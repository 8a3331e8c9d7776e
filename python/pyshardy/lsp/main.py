# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-lsp`: the language server for editors, on standard input and output."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from pyshardy.cli.tool import Tool
from pyshardy.cli.version import version_text
from pyshardy.packages import require


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server until the editor ends it, and return the exit status.

    Args:
        argv: the arguments; those of the process by default.
    """
    tool = Tool("sdy-lsp", argv)
    parser = argparse.ArgumentParser(
        prog="sdy-lsp",
        description="Language server for MLIR programs with shardings, and for Python files that "
        "trace them. Editors start it and talk to it on standard input and output.",
    )
    parser.add_argument("--version", action="store_true", help="print the versions and exit")
    parser.add_argument(
        "--tcp", type=int, metavar="PORT", help="listen on a port of this machine instead"
    )
    arguments = parser.parse_args(tool.arguments)
    if arguments.version:
        sys.stdout.write(version_text("sdy-lsp"))
        return 0

    def work() -> int:
        require("pygls", "sdy-lsp", extra="lsp")
        from pyshardy.lsp.server import create_server  # noqa: PLC0415 (needs an extra)

        server = create_server()
        if arguments.tcp is None:
            # Other output must not be mixed with the protocol.
            protocol = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
            server.start_io(os.fdopen(os.dup(sys.stdin.fileno()), "rb"), protocol)
        else:
            server.start_tcp("127.0.0.1", arguments.tcp)
        return 0

    return tool.run(work)


if __name__ == "__main__":
    sys.exit(main())
