# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of the cache: damage, limits, and processes that share a folder."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlir_sdy.diagnostics import UsageError, collect
from pyshardy.caching.store import CACHE, CACHE_LIMIT, Entry, Store, folder_of

ENTRY = Entry({"data": {"a": [1, None, "x\ny"]}}, b"\n\x00payload\n")
MIB = 1 << 20

WRITER = """
import sys
from pathlib import Path
from pyshardy.caching.store import Entry, Store
store = Store(Path(sys.argv[1]), 1 << 30)
for round in range(60):
    store.write("ab", Entry({"by": sys.argv[2]}, sys.argv[2].encode() * 200_000))
    found = store.read("ab")
    assert found is not None
    assert found.payload == found.data["by"].encode() * 200_000
"""


def file_of(folder: Path) -> Path:
    (only,) = folder.iterdir()
    return only


def test_an_entry_is_read_as_written(tmp_path: Path):
    store = Store(tmp_path / "new" / "folder", MIB)
    assert store.read("ab") is None
    store.write("ab", ENTRY)
    assert store.read("ab") == ENTRY
    assert store.read("cd") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content[:10],
        lambda _: b"",
        lambda _: b"PNG",
        lambda content: content.replace(b"payload", b"PAYLOAD"),
        lambda content: content.replace(b"entry 1", b"entry 9"),
    ],
    ids=["truncated", "header", "empty", "foreign", "changed", "format"],
)
def test_a_damaged_entry_is_ignored_with_a_warning_and_replaced(tmp_path: Path, damage):
    store = Store(tmp_path, MIB)
    store.write("ab", ENTRY)
    file = file_of(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    with collect() as told:
        assert store.read("ab") is None
    assert [str(each) for each in told] == [
        f"warning: cache of programs: '{file}' is damaged, or not a file of the cache: it isn't "
        "used"
    ]
    store.write("ab", ENTRY)
    assert store.read("ab") == ENTRY


@pytest.mark.parametrize("text", [b"[1]", b"no JSON", b"[" * 100_000])
def test_an_entry_with_a_right_digest_and_no_data_is_damaged(tmp_path: Path, text: bytes):
    store = Store(tmp_path, MIB)
    store.write("ab", ENTRY)
    file = file_of(tmp_path)
    magic, content = file.read_bytes().split(b"\n", 1)
    content = text + b"\n"
    digest = hashlib.blake2b(content, digest_size=16).digest()
    file.write_bytes(magic + b"\n" + digest + content)
    with collect() as told:
        assert store.read("ab") is None
    assert "is damaged" in told[0].message


def test_a_folder_that_cannot_be_used_causes_warnings(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("")
    store = Store(file, MIB)
    with collect() as told:
        assert store.read("ab") is None
        store.write("ab", ENTRY)
    assert [each.message.partition(": ")[2] for each in told] == [
        f"cannot read '{file / 'ab.sdycache'}': Not a directory",
        f"cannot write to '{file}': File exists",
    ]


def test_entries_that_were_not_used_for_the_longest_time_are_removed(tmp_path: Path):
    store = Store(tmp_path, 3 * MIB)
    (tmp_path / "notes.txt").write_bytes(b"x" * 4 * MIB)
    for age, key in ((50, "a1"), (40, "a2")):
        store.write(key, Entry({}, b"x" * (MIB - 200)))
        used = time.time() - age
        os.utime(tmp_path / f"{key}.sdycache", (used, used))
    assert store.read("a1") is not None
    store.write("a3", Entry({}, b"x" * (MIB - 200)))
    assert store.read("a2") is not None
    os.utime(tmp_path / "a2.sdycache", (0, 0))
    store.write("a4", Entry({}, b"x" * (MIB - 200)))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a1.sdycache",
        "a3.sdycache",
        "a4.sdycache",
        "notes.txt",
    ]


def test_temporary_files_of_ended_processes_are_removed(tmp_path: Path):
    old, new = tmp_path / ".sdycache-tmp-1", tmp_path / ".sdycache-tmp-2"
    old.write_text("")
    new.write_text("")
    os.utime(old, (0, 0))
    Store(tmp_path, MIB).write("ab", ENTRY)
    assert (old.exists(), new.exists()) == (False, True)


def test_a_result_above_the_limit_is_not_kept(tmp_path: Path):
    with collect() as told:
        Store(tmp_path, MIB).write("ab", Entry({}, b"x" * 2 * MIB))
    assert "a result of 2.0 MiB is larger than the limit of 1 MiB" in told[0].message
    assert list(tmp_path.iterdir()) == []


def test_processes_write_and_read_one_entry_at_once(tmp_path: Path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name], stderr=subprocess.PIPE
        )
        for name in ("first", "second")
    ]
    assert [process.communicate()[1] for process in processes] == [b"", b""]
    assert [path.name for path in tmp_path.iterdir()] == ["ab.sdycache"]


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(CACHE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder_of(None) is None
    assert folder_of(True) == folder_of("true") == tmp_path / "pyshardy"
    assert folder_of("given") == Path("given")
    monkeypatch.setenv(CACHE, "of environment")
    assert folder_of(None) == folder_of(True) == Path("of environment")
    assert folder_of(False) is folder_of("") is None


@pytest.mark.parametrize("limit", ["0", "1GiB", "-3"])
def test_a_wrong_limit_is_an_error(monkeypatch: pytest.MonkeyPatch, limit: str):
    monkeypatch.setenv(CACHE_LIMIT, limit)
    with pytest.raises(UsageError, match="expected a number of MiB of at least 1"):
        Store.at("folder")
