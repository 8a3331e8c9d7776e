# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference documentation of the named pipelines, which are declared in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyshardy.pipeline import Option, PipelineInfo, pipelines
from pyshardy.pipeline.declarations import PassDecl
from pyshardy.pipeline.options import option_text, origin_text

OLDEST = "0.10.2"
"""The oldest supported release of jaxlib."""


def pipeline_reference() -> str:
    """Return a section on each named pipeline, in the format of mlir-tblgen's on passes."""
    sections = [_section(info) for _, info in sorted(pipelines().items())]
    return "\n".join(["## Pipelines\n", *sections])


def _section(info: PipelineInfo) -> str:
    steps = ",\n".join(info.default_steps())
    lines = [
        f"### `-{info.argument}`\n",
        f"_{info.summary.removesuffix('.')}_\n",
        f"With default options, the pipeline runs:\n\n```\n{steps}\n```\n",
    ]
    if info.options:
        lines += ["#### Options\n", "```", *_option_lines(info.options), "```\n"]
    return "\n".join(lines)


def _option_lines(options: Iterable[Option]) -> Iterator[str]:
    width = max(len(option.name) for option in options)
    for option in options:
        default = option_text(option.default)
        shown = f" (default: {default})" if default else ""
        origin = origin_text(option.release)
        yield f"-{option.name:<{width}} : {option.description}{shown}{origin}"


def release_reference(declared: Iterable[PassDecl]) -> str:
    """Return a table of the passes and options that some supported releases of Shardy lack."""
    rows: list[str] = []
    for info in (*declared, *pipelines().values()):
        if info.release not in ("", OLDEST):
            rows.append(f"| `{info.argument}` | | {_origin(info.release)} |")
        rows += [
            f"| `{info.argument}` | `{option.name}` | {_origin(option.release)} |"
            for option in info.options
            if option.release not in ("", OLDEST, info.release)
        ]
    return "\n".join(
        [
            "## Passes and options by release\n",
            f"All other passes and options are in Shardy from jaxlib {OLDEST} on.\n",
            "| pass or pipeline | option | in |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _origin(release: str) -> str:
    return "pyshardy only" if release == "pyshardy" else f"Shardy from jaxlib {release} on"
