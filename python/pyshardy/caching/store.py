# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of a folder, each found by a key, with a limit of their total size.

A file is written under a temporary name and then renamed, so that processes that share a folder
never read a part of it. Its modification time is that of its last use.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mlir_sdy.diagnostics import UsageError, emit, error, warning

CACHE = "PYSHARDY_CACHE"
"""The environment variable with the folder of the cache."""

CACHE_LIMIT = "PYSHARDY_CACHE_LIMIT"
"""The environment variable with the limit of the size of the folder's entries, in MiB."""

CacheFolder = str | os.PathLike[str] | bool | None
"""A folder; True for the default one; False for none; None for that of `PYSHARDY_CACHE`, if any."""

_DEFAULT_LIMIT = 1024
_MIB = 1 << 20
_MAGIC = b"pyshardy cache entry 1\n"
_DIGEST_SIZE = 16
_SUFFIX = ".sdycache"
_ENTRY = re.compile(rf"[0-9a-f]+{re.escape(_SUFFIX)}")
_TEMPORARY = ".sdycache-tmp-"
_SECONDS_TO_WRITE = 3600
"""The age from which a temporary file is one of a process that has ended."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The content of a file.

    Attributes:
        data: values of JSON.
        payload: other bytes.
    """

    data: dict[str, Any]
    payload: bytes


class Store:
    """The entries of a folder, which is created when the first one is written.

    A folder that can't be read or written causes warnings only.

    Args:
        folder: the folder.
        limit: the largest total size of the entries, in bytes.
    """

    def __init__(self, folder: Path, limit: int):
        self._folder = folder
        self._limit = limit

    @classmethod
    def at(cls, folder: CacheFolder) -> Store | None:
        """Return the store of a folder; None if there is none.

        Raises:
            UsageError: the limit in `PYSHARDY_CACHE_LIMIT` is no positive number.
        """
        path = folder_of(folder)
        return None if path is None else cls(path, _limit())

    def read(self, key: str) -> Entry | None:
        """Return the entry of a key; None if there is none, with a warning if it is broken."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as reason:
            self._warn(f"cannot read '{path}': {reason.strerror or reason}")
            return None
        entry = _decoded(content)
        if entry is None:
            self.refuse(key)
            return None
        with contextlib.suppress(OSError):  # of a folder that others own
            os.utime(path)
        return entry

    def refuse(self, key: str) -> None:
        """Warn that the entry of a key can't be used."""
        self._warn(f"'{self._path(key)}' is damaged, or not a file of the cache: it isn't used")

    def write(self, key: str, entry: Entry) -> None:
        """Write an entry, and remove those that were not used for the longest time if need be."""
        content = _encoded(entry)
        if len(content) > self._limit:
            size = f"{len(content) / _MIB:,.1f} MiB"
            self._warn(
                f"a result of {size} is larger than the limit of {self._limit // _MIB} MiB: set "
                f"{CACHE_LIMIT} to a larger one"
            )
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _replace(self._path(key), content)
            self._evict()
        except OSError as reason:
            self._warn(f"cannot write to '{self._folder}': {reason.strerror or reason}")

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{_SUFFIX}"

    def _evict(self) -> None:
        """Remove the entries above the limit, and temporary files that were left behind."""
        entries: list[tuple[float, int, str]] = []
        abandoned = time.time() - _SECONDS_TO_WRITE
        with os.scandir(self._folder) as files:
            for file in files:
                with contextlib.suppress(FileNotFoundError):  # removed by another process
                    found = file.stat(follow_symlinks=False)
                    if _ENTRY.fullmatch(file.name):
                        entries.append((found.st_mtime, found.st_size, file.path))
                    elif file.name.startswith(_TEMPORARY) and found.st_mtime < abandoned:
                        Path(file.path).unlink()
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self._limit:
                break
            Path(path).unlink(missing_ok=True)
            total -= size

    def _warn(self, problem: str) -> None:
        emit(warning(f"cache of programs: {problem}"))


def folder_of(folder: CacheFolder) -> Path | None:
    """Return the folder of a cache; None if there is none.

    On the command line, `true` stands for the default one, and no text for none.
    """
    given = os.environ.get(CACHE)
    if folder is None:
        return Path(given) if given else None
    if folder in (False, ""):
        return None
    if folder in (True, "true"):
        base = os.environ.get("XDG_CACHE_HOME")
        default = (Path(base) if base else Path.home() / ".cache") / "pyshardy"
        return Path(given) if given else default
    return Path(cast("str", folder))


def _limit() -> int:
    text = os.environ.get(CACHE_LIMIT) or str(_DEFAULT_LIMIT)
    if not text.isdecimal() or int(text) == 0:
        message = f"{CACHE_LIMIT} is '{text}': expected a number of MiB of at least 1"
        raise UsageError(error(message))
    return int(text) * _MIB


def _replace(path: Path, content: bytes) -> None:
    """Write a file at once: other processes see the former file or the entire new one."""
    temporary = path.parent / f"{_TEMPORARY}{os.urandom(16).hex()}"
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)  # there is one after an error only


def _encoded(entry: Entry) -> bytes:
    data = json.dumps(entry.data, separators=(",", ":")).encode()
    content = b"%b\n%b" % (data, entry.payload)
    return b"%b%b%b" % (_MAGIC, _digest(content), content)


def _decoded(content: bytes) -> Entry | None:
    """Return the entry of a file; None if it is damaged, or another file."""
    start = len(_MAGIC) + _DIGEST_SIZE
    rest = content[start:]
    if not content.startswith(_MAGIC) or content[len(_MAGIC) : start] != _digest(rest):
        return None
    text, _, payload = rest.partition(b"\n")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return Entry(cast("dict[str, Any]", data), payload) if isinstance(data, dict) else None


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_SIZE).digest()
