# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of `sdy-opt` as a parser of `argparse`, for completion by shells."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable

from pyshardy.cli.completion import last_word
from pyshardy.cli.opt_flags import FLAGS
from pyshardy.pipeline import passes, pipelines
from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
from pyshardy.pipeline.options import OptionType


def completing_parser() -> argparse.ArgumentParser:
    """Return a parser with the flags of `sdy-opt`, its passes and their options."""
    names = [*passes(), *pipelines(), *WELL_KNOWN_HOST_PASSES]
    # argcomplete completes the values of flags that require one; passes take options or none.
    completed = last_word().partition("=")[0].lstrip("-")
    parser = argparse.ArgumentParser(prog="sdy-opt", add_help=False)
    parser.add_argument("input", nargs="?")
    for flag in FLAGS.values():
        if flag.type == "bool":
            parser.add_argument(flag.spelling, action="store_true", help=flag.description)
            continue
        choices = names if flag.metavar in ("pass", "pass,...") else flag.choices or None
        nargs = None if flag.alone is None or flag.name == completed else "?"
        action = parser.add_argument(
            flag.spelling, nargs=nargs, choices=choices, help=flag.description
        )
        if flag.name == "pass-pipeline":
            setattr(action, "completer", _pipelines)  # noqa: B010 (for argcomplete)
    for name in names:
        nargs = None if name == completed else "?"
        options = _option_values(name) if name == completed else None
        parser.add_argument(f"--{name}", nargs=nargs, choices=options)
    return parser


def _pipelines(prefix: str, **_: object) -> list[str]:
    """Return the pipelines that continue one with the name of a pass or an operation."""
    last = re.split(r"[(,]", prefix)[-1]
    begun = prefix.removesuffix(last)
    names = [*passes(), *pipelines(), *WELL_KNOWN_HOST_PASSES, "builtin.module(", "func.func("]
    return [f"{begun}{name}" for name in names if name.startswith(last)]


def _option_values(name: str) -> list[str] | None:
    """Return the options of a pass or pipeline with values to propose, if it has any."""
    info = passes().get(name) or pipelines().get(name)
    declared = info.options if info is not None else ()
    return [f"{each.name}={value}" for each in declared for value in _values(each.type)] or None


def _values(option: OptionType) -> Iterable[str]:
    """Return the values of an option to propose."""
    return option.choices or (("true", "false") if option.scalar == "bool" else ("",))
