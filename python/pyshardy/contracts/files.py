# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contracts in TOML files, for `sdy-explain --check`.

    at_most = { all_reduce = 2, all_gather = 0 }
    no_axes = { data = ["all_gather"] }
    max_bytes = "8MB"
    max_memory = "1GiB"
    limits = ["no collectives in layer_3/*", "at most 1MB along model"]

The keys are the arguments of `Contract.of`; each may be left out.
"""

from __future__ import annotations

import os
from pathlib import Path

import tomli

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from pyshardy.contracts.contract import Contract
from pyshardy.contracts.entries import contract_of


def read_contract(text: str | os.PathLike[str]) -> Contract:
    """Return the contract of a file if the text ends with `.toml`, else that of the text.

    Raises:
        UsageError: it is invalid, or the file can't be read.
    """
    if isinstance(text, str) and not text.endswith(".toml"):
        return Contract.parse(text)
    return load_contract(text)


def load_contract(path: str | os.PathLike[str]) -> Contract:
    """Return the contract of a TOML file.

    Raises:
        UsageError: the file can't be read, or is invalid.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        given = tomli.loads(text)
    except OSError as refusal:
        reason = refusal.strerror or refusal
        raise UsageError(error(f"cannot read the contract '{path}': {reason}")) from None
    except (UnicodeDecodeError, tomli.TOMLDecodeError) as refusal:
        raise UsageError(error(f"the contract '{path}' is not valid TOML: {refusal}")) from None
    contract = contract_of(given, lambda key: _place_of(key, text, os.fspath(path)))
    if contract == Contract():
        raise UsageError(error(f"the contract '{path}' has no limits"))
    return contract


def _place_of(key: str, text: str, path: str) -> SourceLocation | None:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().strip("[").startswith(key):
            return SourceLocation(path, number, line.index(key) + 1)
    return None
