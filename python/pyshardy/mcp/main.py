# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-mcp`: let a coding agent explain and check shardings.

    sdy-mcp programs
    sdy-mcp --allow-code --timeout=300 project

The server talks the Model Context Protocol on standard input and output. It reads the files in one
folder, writes none, and runs Python files only with `--allow-code`.

Exit status: 0 when the client ends it, else 1.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.cli.flags import argument, flag
from pyshardy.cli.tool import Parser, Tool, entry_point
from pyshardy.packages import require


@dataclass(frozen=True, kw_only=True)
class AgentFlags:
    """The flags of sdy-mcp."""

    folder: str = argument(
        "folder with the programs; files outside of it are not read", default="."
    )
    allow_code: bool = flag(
        False,
        "run Python files of this folder when the agent asks for it: programs that they trace, and "
        "passes; and passes of MLIR that may read and write files",
    )
    timeout: float = flag(
        120.0, "end a request after this number of seconds (default: %(default)g)", "SECONDS"
    )


parser = partial(
    Parser[AgentFlags],
    "sdy-mcp",
    "Server for coding agents: explains shardings and collectives, tries other shardings, and "
    "checks contracts. Clients of the Model Context Protocol start it and talk to it on "
    "standard input and output.",
    AgentFlags,
)
"""Makes the parser of the command line."""


def _run(arguments: AgentFlags, _: Tool) -> int:
    require("mcp", "sdy-mcp", extra="mcp")
    if not Path(arguments.folder).is_dir():
        raise UsageError(error(f"there is no folder '{arguments.folder}'"))
    if not arguments.timeout > 0:
        raise UsageError(error(f"'--timeout' is more than 0 seconds, got: {arguments.timeout:g}"))
    import anyio  # noqa: PLC0415 (needs an extra)
    from mcp.server.stdio import stdio_server  # noqa: PLC0415

    from pyshardy.mcp.server import create_server  # noqa: PLC0415

    server = create_server(
        arguments.folder, allows_code=arguments.allow_code, timeout=arguments.timeout
    )

    async def serve() -> None:
        async with stdio_server() as (requests, answers):
            await server.run(requests, answers, server.create_initialization_options())

    anyio.run(serve)
    return 0


main = entry_point("sdy-mcp", parser, _run)
"""Runs the tool; see `entry_point`."""


if __name__ == "__main__":
    sys.exit(main())
