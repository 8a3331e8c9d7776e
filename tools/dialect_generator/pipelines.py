# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference documentation of the named pipelines, which are declared in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyshardy.pipeline import Option, PipelineInfo, pipelines
from pyshardy.pipeline.options import option_text


def pipeline_reference() -> str:
    """A section on each named pipeline, as mlir-tblgen writes those on passes."""
    sections = [_section(info) for _, info in sorted(pipelines().items())]
    return "\n".join(["# Pipelines\n", *sections])


def _section(info: PipelineInfo) -> str:
    steps = ",\n".join(info.default_steps())
    lines = [
        f"### `-{info.argument}`\n",
        f"_{info.summary.removesuffix('.')}_\n",
        f"With its default options it stands for\n\n```\n{steps}\n```\n",
    ]
    if info.options:
        lines += ["#### Options\n", "```", *_option_lines(info.options), "```\n"]
    return "\n".join(lines)


def _option_lines(options: Iterable[Option]) -> Iterator[str]:
    width = max(len(option.name) for option in options)
    for option in options:
        default = option_text(option.default)
        shown = f" (default: {default})" if default else ""
        yield f"-{option.name:<{width}} : {option.description}{shown}"
