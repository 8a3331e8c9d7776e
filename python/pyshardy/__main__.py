# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m pyshardy TOOL ...`: the tools, for environments without their scripts on the PATH."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.cli.tool import Tool, version_text

TOOLS = {
    "opt": "run passes on a program",
    "run": "partition a program, run it, and compare the results",
    "explain": "report why values have their shardings, and what communication costs",
    "auto": "find the shardings of a program with the least cost",
    "calibrate": "measure devices and links, for costs that hold there",
    "mpmd": "partition a program for several meshes, run it, and compare schedules",
    "translate": "convert a program between text, bytecode and portable artifacts",
    "lsp": "serve an editor: diagnostics, shardings, explanations",
    "mcp": "serve a coding agent: explanations, what-if, contracts",
    "examples": "copy the programs that the documentation uses",
}
"""The tools by their names without `sdy-`, with a summary."""


def help_text() -> str:
    """Return the text of `--help`."""
    lines = [f"  {name:<10} {summary}" for name, summary in TOOLS.items()]
    return "\n".join(
        [
            "usage: python -m pyshardy [--help] [--version] TOOL ...",
            "",
            "Most tools are scripts as well: sdy-opt, sdy-run and so on.",
            "",
            *lines,
            "",
            "python -m pyshardy TOOL --help lists the options of a tool.",
            "",
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run a tool, and return its exit status.

    Args:
        argv: the name of the tool and its arguments; those of the process by default, which is then
            guarded against crashes.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    name = words[0].removeprefix("sdy-") if words else "--help"
    if name not in TOOLS:
        return Tool("python -m pyshardy", argv).run(lambda: _answer(name))
    module = f"{name}.main" if name in ("lsp", "mcp") else f"cli.{name}"
    tool = importlib.import_module(f"pyshardy.{module}")
    if argv is not None:
        return tool.main(words[1:])
    sys.argv = [f"sdy-{name}", *words[1:]]
    return tool.main()


def _answer(word: str) -> int:
    """Print what is asked for instead of a tool."""
    if word in ("-h", "--help"):
        sys.stdout.write(help_text())
    elif word == "--version":
        sys.stdout.write(version_text("python -m pyshardy"))
    else:
        advice = did_you_mean(word, TOOLS) or f"; the tools are {', '.join(TOOLS)}"
        raise UsageError(error(f"no tool '{word}'{advice}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
