# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The help of `sdy-opt`, generated from the flags and the declarations of the passes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.cli.opt_flags import FLAGS
from pyshardy.pipeline import Option, passes, pipelines
from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
from pyshardy.pipeline.options import option_text, origin_text
from pyshardy.pipeline.registry import PassInfo, PipelineInfo, pass_summaries

_COLUMN = 44
_WIDTH = 100

_PASSES = """\
There are {num_passes} passes and {num_pipelines} pipelines, and those of MLIR:
  sdy-opt --list-passes       lists them
  sdy-opt --help=PASS         describes a pass and its options
  sdy-opt --help-all          describes all
"""

_OVERVIEW = """\
OVERVIEW: runs passes on programs in the sdy, StableHLO and upstream MLIR dialects

USAGE: sdy-opt [flags] [<input file>]

Reads standard input if no file is given. Flags start with one or two dashes. Passes run in the
given order; options follow '=': --sdy-basic-propagate='keep-sharding-rules=true'.
"""


def help_text() -> str:
    """Return the text of `--help`: the flags, and how to learn about passes."""
    lines = [_OVERVIEW]
    for group in dict.fromkeys(flag.group for flag in FLAGS.values()):
        flags = [flag for flag in FLAGS.values() if flag.group == group]
        lines.append(f"{group}:\n")
        lines += [_entry(2, str(flag), flag.description) for flag in flags]
        lines.append("")
    lines.append(_PASSES.format(num_passes=len(passes()), num_pipelines=len(pipelines())))
    return "\n".join(lines)


def full_help_text() -> str:
    """Return the text of `--help-all`: also all passes and pipelines with their options."""
    lines = [help_text(), "Passes:\n"]
    for name, info in sorted(passes().items()):
        lines += _pass_entries(name, info)
    lines += ["", "Pipelines:\n"]
    for name, info in sorted(pipelines().items()):
        lines += _pipeline_entries(name, info)
    lines += ["", "Common passes of the MLIR host:\n"]
    lines += [_entry(2, f"--{name}", text) for name, text in WELL_KNOWN_HOST_PASSES.items()]
    return "\n".join(lines) + "\n"


def pass_help_text(name: str) -> str:
    """Return the text of `--help=PASS`: the description and the options of a pass.

    Raises:
        UsageError: there is no such pass or pipeline.
    """
    name = name.lstrip("-")
    if (info := passes().get(name)) is not None:
        lines = [*_pass_entries(name, info), "", _paragraphs(info.description)]
    elif (pipeline := pipelines().get(name)) is not None:
        lines = _pipeline_entries(name, pipeline)
    elif name in WELL_KNOWN_HOST_PASSES:
        lines = [_entry(2, f"--{name}", f"{WELL_KNOWN_HOST_PASSES[name]}; a pass of MLIR")]
    else:
        known = [*passes(), *pipelines(), *WELL_KNOWN_HOST_PASSES]
        advice = did_you_mean(name, known) or "; 'sdy-opt --list-passes' lists them"
        raise UsageError(error(f"no help on '{name}', which is no pass or pipeline{advice}"))
    return "\n".join(lines).rstrip("\n") + "\n"


def pass_list() -> str:
    """Return the text of `--list-passes`: a line with name and summary per pass."""
    return "".join(f"{name:<{_COLUMN - 1}} {text}\n" for name, text in all_summaries().items())


def all_summaries() -> dict[str, str]:
    """Return the summaries of passes, pipelines and common passes of the host by name."""
    of_pipelines = {name: info.summary for name, info in sorted(pipelines().items())}
    return {**pass_summaries(), **of_pipelines, **WELL_KNOWN_HOST_PASSES}


def _pass_entries(name: str, info: PassInfo) -> Iterator[str]:
    yield _entry(2, f"--{name}", f"{info.summary}{origin_text(info.release)}")
    yield from _option_entries(info.options)


def _pipeline_entries(name: str, info: PipelineInfo) -> Iterator[str]:
    yield _entry(2, f"--{name}", f"{info.summary}{origin_text(info.release)}")
    yield _entry(2, "", f"Runs {', '.join(info.default_steps())}.")
    yield from _option_entries(info.options)


def _paragraphs(text: str) -> str:
    """Return a description with the indentation of the help."""
    return textwrap.indent(textwrap.dedent(text).strip("\n"), "  ")


def _option_entries(options: Iterable[Option]) -> Iterator[str]:
    for option in options:
        default = option_text(option.default)
        shown = f" (default: {default})" if default else ""
        shown += origin_text(option.release)
        yield _entry(6, f"{option.name}=<{option.type}>", f"{option.description}{shown}")


def _entry(indent: int, left: str, right: str) -> str:
    start = f"{' ' * indent}{left}"
    if len(start) > _WIDTH:  # many choices: one a line
        start = start.replace("|", f"\n{'':<{indent + 2}}|")
    # Names of passes are not wrapped, so that they can be searched for.
    described = textwrap.wrap(right, _WIDTH - _COLUMN, break_on_hyphens=False)
    # The description of a long name starts on the next line.
    first = described.pop(0) if described and len(start) < _COLUMN else ""
    lines = [f"{start:<{_COLUMN}}{first}".rstrip()]
    return "\n".join(lines + [f"{'':<{_COLUMN}}{line}" for line in described])
