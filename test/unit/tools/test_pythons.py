# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pythons are found on the PATH and among pyenv's versions, if they work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pythons import find_pythons

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without any Python but that of the tests; returns what adds one."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def add(place, script):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return add


def own_version():
    return sys.version_info[:2]


def test_the_running_python_is_found(machine):
    del machine
    assert set(find_pythons()) == {own_version()}


def test_pythons_on_the_path_and_of_pyenv(machine):
    machine("bin/python3.98", "echo 3 98 /on/the/path")
    machine("pyenv/versions/3.99.1/bin/python", "echo 3 99 /old")
    machine("pyenv/versions/3.99.10/bin/python", "echo 3 99 /new")
    machine("pyenv/versions/3.98.9/bin/python", "echo 3 98 /of/pyenv")
    found = find_pythons()
    assert list(found) == sorted(found)
    assert found[3, 98] == Path("/on/the/path"), "the PATH counts first"
    assert found[3, 99] == Path("/new"), "3.99.10 is newer than 3.99.1"


def test_what_does_not_work_is_left_out(machine):
    # As pyenv's shim for a version that isn't selected.
    machine("bin/python3.97", "echo 'pyenv: python3.97: command not found' >&2; exit 127")
    machine("bin/python3.96", "echo hello")
    machine("bin/python3.95-config", "echo 3 95 /config")
    assert set(find_pythons()) == {own_version()}


def test_the_one_behind_a_broken_one_counts(machine, tmp_path, monkeypatch):
    machine("bin/python3.97", "exit 1")
    machine("other/python3.97", "echo 3 97 /working")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{tmp_path / 'other'}")
    assert find_pythons()[3, 97] == Path("/working")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((), 0, "3.99 /new"),
        (("3.99",), 0, "/new"),
        (("--at-least", "3.12"), 0, "/new"),
        (("3.77",), 1, "there is no such Python here"),
    ],
)
def test_the_command_line(machine, arguments, status, said):
    machine("bin/python3.99", "echo 3 99 /new")
    ran = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "pythons.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == status
    assert said in (ran.stdout + ran.stderr).splitlines()
