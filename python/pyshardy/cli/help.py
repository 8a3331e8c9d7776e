# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The help of `sdy-opt`, generated from the flags and the declarations of the passes."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Iterator

from pyshardy.cli.flags import FLAGS
from pyshardy.pipeline import Option, passes, pipelines
from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
from pyshardy.pipeline.options import option_text, origin_text

_COLUMN = 44
_WIDTH = 100

_OVERVIEW = """\
OVERVIEW: runs passes on programs in the sdy, StableHLO and upstream MLIR dialects

USAGE: sdy-opt [flags] [<input file>]

Reads standard input if no file is given. Flags start with one or two dashes. Passes run in the
given order; options follow '=': --sdy-basic-propagate='keep-sharding-rules=true'.
"""


def help_text() -> str:
    """Return the text of `--help`."""
    lines = [_OVERVIEW]
    for group, flags in itertools.groupby(FLAGS.values(), key=lambda flag: flag.group):
        lines.append(f"{group}:\n")
        lines += [_entry(2, str(flag), flag.description) for flag in flags]
        lines.append("")
    lines.append("Passes:\n")
    for name, info in sorted(passes().items()):
        lines.append(_entry(2, f"--{name}", f"{info.summary}{origin_text(info.release)}"))
        lines += _option_entries(info.options)
    lines += ["", "Pipelines:\n"]
    for name, info in sorted(pipelines().items()):
        summary = info.summary.removesuffix(".")
        lines.append(_entry(2, f"--{name}", f"{summary}{origin_text(info.release)}"))
        lines.append(_entry(2, "", f"Runs {', '.join(info.default_steps())}."))
        lines += _option_entries(info.options)
    lines += ["", "Common passes of the MLIR host:\n"]
    lines += [_entry(2, f"--{name}", text) for name, text in WELL_KNOWN_HOST_PASSES.items()]
    return "\n".join(lines) + "\n"


def pass_list() -> str:
    """Return the text of `--list-passes`: a line with name and summary per pass."""
    summaries = {
        **{name: info.summary for name, info in sorted(passes().items())},
        **{name: info.summary for name, info in sorted(pipelines().items())},
        **WELL_KNOWN_HOST_PASSES,
    }
    return "".join(
        f"{name:<{_COLUMN - 1}} {text.removesuffix('.')}\n" for name, text in summaries.items()
    )


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
