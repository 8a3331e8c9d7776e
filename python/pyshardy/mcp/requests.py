# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments of the server's tools.

A tool is a class. Its docstring is the description that agents see, and its fields are the input
schema; both are short, since they are a part of each conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean


class Request(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def code(self) -> tuple[str, ...]:
        """The files of Python that the request runs."""
        return ()


class ProgramRequest(Request):
    """The arguments of a tool for a program."""

    program: str = Field(
        description="File in the server's folder: MLIR (text, bytecode, portable artifact), or "
        "Python that calls sdy.jax.trace or sdy.torch.trace once"
    )
    mesh: str = Field("", description="Mesh instead of the program's: 'data:4,model:2'")

    @property
    def code(self) -> tuple[str, ...]:
        """The program, if it is one in Python."""
        return (self.program,) if self.program.endswith(".py") else ()


class PartitionRequest(ProgramRequest):
    """The arguments of a tool that partitions a program."""

    hardware: str = Field(
        "default", description="A preset (see help) or a TOML file, to partition for"
    )


class ListRequest(PartitionRequest):
    """The arguments of a tool that answers with explanations in a list."""

    most: int = Field(20, ge=1, description="The most entries of a list")
    form: Literal["", "sdy", "jax", "dtensor"] = Field(
        "", description="Form of shardings in texts; by default jax for Python, else sdy"
    )


class ExplainRequest(ListRequest):
    """Explain why values have their shardings, axis by axis, with remedies for what_if.

    Without values: mesh, arguments, results, cost, collectives by kind and axes, and the largest
    replicated values.
    """

    values: list[str] = Field(
        [],
        description="Values: '%5', '%name', 'arg2', 'result 0', an argument's name "
        "\"params['w']\", a pattern '*.weight', or a source line '12', 'model.py:40'",
    )


class WhatIfRequest(PartitionRequest):
    """Show what other shardings of values would change: cost, memory, collectives.

    The program is not changed.
    """

    shardings: dict[str, str | None] = Field(
        min_length=1,
        description="Shardings by value, such as {\"params['w']\": \"P(None, 'model')\"} or "
        "{'%5': '[{\"data\"}, {}]'}; null removes an annotation",
    )


class CollectivesRequest(ListRequest):
    """List the collectives that partitioning inserts, with bytes, place, reason, alternatives."""

    axis: str = Field("", description="Only those along this axis")
    kind: str = Field("", description="Only this kind, such as 'all_gather'")


class AutoShardRequest(PartitionRequest):
    """Find the shardings with the least cost, with a proven distance from the optimum."""

    hardware: str = Field(
        "default", description="A preset (see help) or a TOML file; 'default' is an H100"
    )
    memory: str = Field("", description="Memory of a device, such as '16GiB'")
    objective: Literal["time", "bytes"] = "time"
    free: bool = Field(False, description="Ignore the shardings that the program has")
    seconds: float = Field(60, gt=0, description="End the search after this time")


class CheckContractRequest(PartitionRequest):
    """Check that collectives and memory are within limits; else say why not, and what helps."""

    contract: str = Field(
        description="Limits such as 'no all_gather along data; at most 8MB of all_reduce; at most "
        "1GiB of memory', or a TOML file"
    )


class RunPipelineRequest(ProgramRequest):
    """Run passes on a program, and return the resulting program."""

    pipeline: str = Field(description="As 'sdy-propagation-pipeline,canonicalize'")
    load_passes: list[str] = Field([], description="Python files with passes of the user")

    @property
    def code(self) -> tuple[str, ...]:
        """The program, if it is one in Python, and the files of passes."""
        return (*super().code, *self.load_passes)


class ListPassesRequest(Request):
    """List passes and pipelines with their summaries."""

    word: str = Field("", description="Only those whose name or summary has this word")


class HelpRequest(Request):
    """Describe a pass or pipeline with its options, a tool, or a topic."""

    topic: str = Field(
        description="A pass, a pipeline, a tool such as 'sdy-explain', or 'contracts', 'forms', "
        "'hardware', 'values'"
    )


REQUESTS: Mapping[str, type[Request]] = {
    "explain": ExplainRequest,
    "what_if": WhatIfRequest,
    "collectives": CollectivesRequest,
    "auto_shard": AutoShardRequest,
    "check_contract": CheckContractRequest,
    "run_pipeline": RunPipelineRequest,
    "list_passes": ListPassesRequest,
    "help": HelpRequest,
}
"""The requests by the names of their tools."""


def read_request(tool: str, arguments: Mapping[str, Any]) -> Request:
    """Return the request for the arguments of a tool.

    Raises:
        UsageError: there is no such tool; an argument is unknown, missing or invalid.
    """
    if tool not in REQUESTS:
        advice = did_you_mean(tool, REQUESTS) or f"; the tools are {', '.join(REQUESTS)}"
        raise UsageError(error(f"no tool '{tool}'{advice}"))
    request = REQUESTS[tool]
    known = request.model_fields
    for name in arguments:
        if name not in known:
            advice = did_you_mean(name, known) or f"; the arguments are {', '.join(known)}"
            raise UsageError(error(f"'{tool}' has no argument '{name}'{advice}"))
    try:
        return request.model_validate(arguments)
    except ValidationError as invalid:
        raise UsageError(*(error(_message(tool, each)) for each in invalid.errors())) from None


def _message(tool: str, problem: Mapping[str, Any]) -> str:
    name = ".".join(map(str, problem["loc"]))
    if problem["type"] == "missing":
        return (
            f"'{tool}' needs the argument '{name}': {REQUESTS[tool].model_fields[name].description}"
        )
    reason = problem["msg"][:1].lower() + problem["msg"][1:]
    return f"argument '{name}' of '{tool}': {reason}, got: {problem['input']!r}"


def description(request: type[Request]) -> str:
    """Return the description of a tool."""
    return " ".join((request.__doc__ or "").split())


def input_schema(request: type[Request]) -> dict[str, Any]:
    """Return the JSON schema of the arguments of a tool."""
    schema = request.model_json_schema()
    fields: dict[str, dict[str, Any]] = schema["properties"]
    for described in (schema, *fields.values()):
        del described["title"]  # repeats the name
    del schema["description"]  # that of the tool
    return schema
