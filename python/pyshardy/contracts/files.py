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
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.files import read_text
from mlir_sdy.suggest import did_you_mean
from pyshardy.contracts.contract import Contract
from pyshardy.toml import TOMLDecodeError, loads


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
    text = read_text(path, "the contract")
    try:
        given = loads(text)
    except TOMLDecodeError as refusal:
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


_SIZE = "a number of bytes or a text such as '8MB'"


def contract_of(
    entries: Mapping[str, Any], place_of: Callable[[str], SourceLocation | None]
) -> Contract:
    """Return the contract of entries, whose keys are the arguments of `Contract.of`.

    Args:
        entries: the entries by key.
        place_of: returns the place of the entry with a key.

    Raises:
        UsageError: a key is unknown, or an entry is invalid.
    """
    for key, value in entries.items():
        if key not in _KEYS:
            known = did_you_mean(key, _KEYS) or f"; the keys are {', '.join(_KEYS)}"
            raise UsageError(error(f"a contract has no key '{key}'{known}", place_of(key)))
        is_valid, what = _KEYS[key]
        if not is_valid(value):
            message = f"'{key}' of a contract is {what}, got: {value!r}"
            raise UsageError(error(message, place_of(key)))
    return Contract.of(**entries)


def _is_counts(value: object) -> bool:
    return all(type(each) is int for each in _values(value))


def _is_kinds(value: object) -> bool:
    return all(_is_texts(each) for each in _values(value))


def _is_size(value: object) -> bool:
    return type(value) in (int, str)


def _is_texts(value: object) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(each, str) for each in cast("Sequence[object]", value))


def _values(table: object) -> Sequence[object]:
    """Return the values of a table, or one that no check accepts."""
    return list(cast("Mapping[str, object]", table).values()) if isinstance(table, dict) else [None]


_KEYS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "at_most": (_is_counts, "a table of numbers by kind"),
    "no_axes": (_is_kinds, "a table of lists of kinds by axis"),
    "max_bytes": (_is_size, _SIZE),
    "max_memory": (_is_size, _SIZE),
    "limits": (_is_texts, "a list of texts"),
}
"""The check and the description of each entry."""
