# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reports of the check of Pythons; `make pythons` runs the check."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("packaging", reason="the extra 'dev' isn't installed")
import check_pythons
import environments
import quick
from check_pythons import CheckFailed, Report, missing_extras, run, table
from environments import CommandFailed

ROOT = Path(__file__).resolve().parents[3]
REFUSALS = {
    "jax": (
        "error: No solution found when resolving dependencies\n  cause: Because the current Python "
        "version (3.10.13) does not satisfy Python>=3.11 and jax==0.10.2 depends on Python>=3.11, "
        "...\n does not satisfy Python>=3.12 and jax>=0.11.0 depends on Python>=3.12, we can ..."
    ),
    "mpich": "error: the index\n  can't be reached\n",
}


def test_a_python_that_is_missing_and_an_extra_that_cannot_be_had():
    report = Report((3, 10), {"install": "ok, 9 s"}, missing_extras={"jax": "it needs more"})
    told = table({(3, 10): report}).splitlines()
    assert told[:2] == [
        "Python 3.10: install ok, 9 s",
        "Python 3.10: extra 'jax' is not available: it needs more",
    ]
    assert told[2] == "Python 3.11: not run: no Python 3.11 on the PATH or among pyenv's"
    assert len(told) == 5


def test_reasons_for_extras_that_are_missing(monkeypatch):
    def install(_: Path, *wanted: str) -> None:
        for name, said in REFUSALS.items():
            if any(requirement.startswith(f"{name}>") for requirement in wanted):
                raise CommandFailed("uv", said)

    monkeypatch.setattr(environments, "install", install)
    assert missing_extras(Path("python")) == {
        "jax": "jax<0.13,>=0.10.2 needs Python >=3.11",
        "mpi": "error: the index can't be reached",
    }


def test_a_failure_carries_the_output():
    with pytest.raises(CheckFailed, match=r"status 3:\nlast words"):
        run([sys.executable, "-c", "print('last words'); raise SystemExit(3)"])


def test_a_python_whose_check_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(check_pythons, "FOLDER", tmp_path)
    report = check_pythons.check((3, 11), Path("/bin/false"), Path("none.whl"), is_end=False)
    assert report.results == {"install": "FAILED"}
    assert "/bin/false" in report.failure


def test_the_quick_tier_is_there():
    for folder, names in (("test/unit", quick.UNIT_TESTS), ("test/lit", quick.TOOL_TESTS)):
        assert [name for name in names if not (ROOT / folder / name).exists()] == []


def test_the_quick_tier_needs_the_package():
    ran = subprocess.run(
        [sys.executable, "-S", "-E", str(ROOT / "tools" / "quick.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert "pyshardy isn't installed for this Python" in ran.stderr
