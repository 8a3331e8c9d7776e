# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tactics in TOML files, and in the options of passes.

    [[tactic]]
    kind = "batch"
    name = "BP"
    inputs = ["x", "y"]
    axis = "data"

    [[tactic]]
    kind = "manual"
    dims = { "*['norm']" = "replicated", "*['up']" = 1 }
    axis = "model"

The keys of a tactic besides `kind` and `name` are its options. The
option of a pass is an array of such tables:

    [{kind="batch", inputs="x", axis="data"}, {kind="manual", dims={"*.up"=1}, axis="model"}]
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

import pyshardy.schedules.library  # noqa: F401 (registers the tactics of the package)
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.files import read_text
from pyshardy.schedules.tactics import Tactic, make_tactic
from pyshardy.toml import TOMLDecodeError, loads


def read_tactics(path: str | os.PathLike[str]) -> list[Tactic]:
    """Return the tactics of a TOML file.

    Raises:
        UsageError: the file can't be read or is invalid; there is no such tactic or option.
    """
    return _tactics(read_text(path, "the schedule"), f"the schedule '{path}'")


def parse_tactics(text: str) -> list[Tactic]:
    """Return the tactics of an array of inline tables.

    Raises:
        UsageError: the text is invalid; there is no such tactic or option.
    """
    return _tactics(f"tactic = {text}", "the text of the schedule")


def _tactics(text: str, what: str) -> list[Tactic]:
    try:
        entries = loads(text)
    except TOMLDecodeError as refusal:
        raise UsageError(error(f"{what} is not valid TOML: {refusal}")) from None
    tactics: object = entries.get("tactic")
    if set(entries) != {"tactic"} or not isinstance(tactics, list):
        message = "has other entries than '[[tactic]]'" if entries else "has no '[[tactic]]'"
        raise UsageError(error(f"{what} {message}"))
    return [_tactic(each, what) for each in cast("list[object]", tactics)]


def _tactic(entry: object, what: str) -> Tactic:
    options = dict(cast("Mapping[str, Any]", entry)) if isinstance(entry, dict) else {}
    kind = options.pop("kind", None)
    name = options.pop("name", None)
    if not isinstance(kind, str) or not isinstance(name, str | None):
        message = "needs a text 'kind', such as \"batch\", and may have a text 'name'"
        raise UsageError(error(f"a tactic of {what} {message}"))
    return make_tactic(kind, options, name)
