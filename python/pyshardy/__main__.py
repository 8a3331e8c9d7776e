# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m pyshardy TOOL ...`: the tools, for environments without their scripts on the PATH."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from mlir_sdy.suggest import did_you_mean
from pyshardy.cli.version import version_text

TOOLS = {
    "opt": "run passes on a program",
    "run": "partition a program, run it, and compare the results",
    "explain": "report why values have their shardings, and what communication costs",
    "auto": "find the shardings of a program with the least cost",
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
    if not words or words[0] in ("-h", "--help"):
        sys.stdout.write(help_text())
        return 0
    if words[0] == "--version":
        sys.stdout.write(version_text("python -m pyshardy"))
        return 0
    name = words[0].removeprefix("sdy-")
    if name not in TOOLS:
        advice = did_you_mean(name, TOOLS) or f"; the tools are {', '.join(TOOLS)}"
        sys.stderr.write(f"python -m pyshardy: error: no tool '{words[0]}'{advice}\n")
        return 1
    module = f"{name}.main" if name in ("lsp", "mcp") else f"cli.{name}"
    tool = importlib.import_module(f"pyshardy.{module}")
    if argv is not None:
        return tool.main(words[1:])
    sys.argv = [f"sdy-{name}", *words[1:]]
    return tool.main()


if __name__ == "__main__":
    sys.exit(main())
