# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules from a user's Python file."""

from __future__ import annotations

from os import PathLike

from pyshardy.irtools.user_files import run_user_file
from pyshardy.rules.registry import kept_on_success


def load_rules(path: str | PathLike[str]) -> None:
    """Run a Python file that registers sharding rules.

        # my_rules.py
        import pyshardy as sdy

        @sdy.sharding_rule("stablehlo.custom_call", target="my_attention")
        def attention_rule(op):
            return sdy.rule("b s h d, b t h d -> b s h d", reduction="t")

    If the file fails, none of its rules is registered.

    Args:
        path: the file.

    Raises:
        UsageError: the file can't be read, is not valid Python, or raises an exception; the
            diagnostic has the line.
    """
    with kept_on_success():
        run_user_file(path, "sharding rules")
