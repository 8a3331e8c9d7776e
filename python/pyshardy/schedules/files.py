# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules in TOML files.

    [[tactic]]
    kind = "batch"
    name = "BP"
    inputs = ["x", "y"]
    axis = "data"

    [[tactic]]
    kind = "manual"
    dims = { "*['norm']" = "replicated", "*['up']" = 1 }
    axis = "model"

The keys of a tactic besides `kind` and `name` are its options.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import tomli

import pyshardy.schedules.library  # noqa: F401 (registers the tactics of the package)
from mlir_sdy.diagnostics import UsageError, error
from pyshardy.schedules.schedule import Schedule
from pyshardy.schedules.tactics import Tactic, make_tactic


def load_schedule(path: str | os.PathLike[str]) -> Schedule:
    """Return the schedule of a TOML file.

    Raises:
        UsageError: the file can't be read or is invalid; there is no such tactic or option.
    """
    try:
        entries = tomli.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as refusal:
        reason = refusal.strerror or refusal
        raise UsageError(error(f"cannot read the schedule '{path}': {reason}")) from None
    except (UnicodeDecodeError, tomli.TOMLDecodeError) as refusal:
        raise UsageError(error(f"the schedule '{path}' is not valid TOML: {refusal}")) from None
    tactics: object = entries.get("tactic")
    if set(entries) != {"tactic"} or not isinstance(tactics, list):
        message = "has other entries than '[[tactic]]'" if entries else "has no '[[tactic]]'"
        raise UsageError(error(f"the schedule '{path}' {message}"))
    return Schedule([_tactic(each, path) for each in cast("list[object]", tactics)])


def _tactic(entry: object, path: str | os.PathLike[str]) -> Tactic:
    options = dict(cast("Mapping[str, Any]", entry)) if isinstance(entry, dict) else {}
    kind = options.pop("kind", None)
    name = options.pop("name", None)
    if not isinstance(kind, str) or not isinstance(name, str | None):
        message = "needs a text 'kind', such as \"batch\", and may have a text 'name'"
        raise UsageError(error(f"a tactic of the schedule '{path}' {message}"))
    return make_tactic(kind, options, name)
