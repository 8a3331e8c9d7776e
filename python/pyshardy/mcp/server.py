# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The server for coding agents: the protocol, and the process that answers.

The process is started when first needed, and again after it crashed, was too slow, or has run code
of the user, whose state would be there for the next request.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

import pyshardy
from mlir_sdy.diagnostics import SdyError
from pyshardy.mcp.requests import REQUESTS, description, input_schema, read_request
from pyshardy.processes.child_process import ChildDiedError, ChildProcess

_INSTRUCTIONS = """\
Checks shardings of StableHLO programs (MLIR with the sdy dialect, or traced from JAX or PyTorch): \
why a value has its sharding, which collectives partitioning inserts, what they cost, and whether \
limits hold. Try a sharding by what_if before you write it into a program; the 'what_if' of an \
explanation is an argument for it. Nothing writes files. Answers with 'errors' say where, what and \
how to fix it.\
"""


class Analyst:
    """The process that answers requests, one at a time.

    Args:
        folder: the folder with the files that may be read.
        allows_code: whether files of Python may be run.
        timeout: the seconds after which a request is given up.
    """

    def __init__(self, folder: Path, *, allows_code: bool, timeout: float):
        self._flags = (str(folder), *(["--allow-code"] if allows_code else []))
        self._timeout = timeout
        self._process: ChildProcess | None = None
        self._one_at_a_time = anyio.Lock()

    async def ask(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request, or the reason why there is none as its `errors`."""
        try:
            runs_code = bool(read_request(tool, arguments).code)
        except SdyError:
            runs_code = False  # the process says what is wrong
        async with self._one_at_a_time:
            process = self._process = self._process or self._started()
            try:
                with anyio.fail_after(self._timeout):
                    succeeded, answer = await anyio.to_thread.run_sync(
                        process.ask, (tool, dict(arguments)), abandon_on_cancel=True
                    )
            except ChildDiedError as death:
                self.close()
                return _failed(f"the analysis crashed: {death}")
            except TimeoutError:
                self.close()
                message = f"no answer within {self._timeout:g} s: try a smaller program, or ask the"
                return _failed(f"{message} user to start the server with a larger '--timeout'")
            except BaseException:  # the client has cancelled the request
                self.close()
                raise
            if runs_code:
                self.close()
        return json.loads(answer) if succeeded else _failed(f"internal error: {answer}")

    def _started(self) -> ChildProcess:
        return ChildProcess(("-m", "pyshardy.mcp.worker", *self._flags))

    def close(self) -> None:
        """End the process, also while it works."""
        if self._process is not None:
            self._process.process.kill()
            self._process.close()
            self._process = None


def _failed(message: str) -> dict[str, Any]:
    return {"errors": [{"severity": "error", "message": message}]}


def create_server(
    folder: str | Path, *, allows_code: bool = False, timeout: float = 120
) -> Server[None]:
    """Return the server for the programs in a folder.

    Args:
        folder: the folder.
        allows_code: whether files of Python under it may be run.
        timeout: the seconds after which a request is given up.
    """
    analyst = Analyst(Path(folder).resolve(), allows_code=allows_code, timeout=timeout)
    hints = ToolAnnotations(
        read_only_hint=not allows_code, idempotent_hint=not allows_code, open_world_hint=allows_code
    )
    tools = [
        Tool(
            name=name,
            description=description(request),
            input_schema=input_schema(request),
            annotations=hints,
        )
        for name, request in REQUESTS.items()
    ]

    async def list_tools(
        _: ServerRequestContext[None], __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(
        _: ServerRequestContext[None], params: CallToolRequestParams
    ) -> CallToolResult:
        answer = await analyst.ask(params.name, params.arguments or {})
        text = TextContent(type="text", text=json.dumps(answer))
        return CallToolResult(
            content=[text], structured_content=answer, is_error="errors" in answer
        )

    @asynccontextmanager
    async def lifespan(_: Server[None]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            analyst.close()

    return Server(
        "sdy-mcp",
        version=pyshardy.__version__,
        instructions=_INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
