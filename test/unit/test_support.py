# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page on supported versions says what the package declares."""

import re
from pathlib import Path

import pytest

from check_pythons import EXTRAS_OF_USERS, REQUIRED, SUPPORTED
from host_assumptions import ASSUMPTIONS
from mlir_sdy import host_build
from pyshardy.toml import loads

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
PROJECT = loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


@pytest.mark.parametrize("extra", EXTRAS_OF_USERS)
def test_ranges_of_extras(extra):
    first = EXTRAS[extra][0]
    assert f"| extra `{extra}`: `{first}` |" in PAGE
    for requirement in EXTRAS[extra]:
        assert "==" not in requirement, "users bring these: a range is enough"
        assert requirement.startswith("flatbuffers") or "<" in requirement


def test_exact_versions_of_development_are_in_the_ranges_and_on_the_page():
    packaging = pytest.importorskip("packaging.requirements")
    pins = dict(re.findall(r"^([\w-]+)==(.+)$", "\n".join(EXTRAS["dev"]), re.MULTILINE))
    for extra in EXTRAS_OF_USERS:
        for requirement in map(packaging.Requirement, EXTRAS[extra]):
            if requirement.name in pins:
                assert requirement.specifier.contains(pins[requirement.name])
    row = next(line for line in PAGE.splitlines() if line.startswith("| 3.11 | "))
    tested = [pins[name] for name in ("jax", "torch", "iree-base-compiler", "mpich")]
    assert row.startswith(f"| 3.11 | {' | '.join(tested)} | all |")


def test_pythons():
    names = [".".join(map(str, version)) for version in SUPPORTED]
    assert f"| | {' | '.join(f'Python {name}' for name in names)} |" in PAGE
    kinds = PROJECT["classifiers"]
    assert [kind.rpartition(" ")[2] for kind in kinds if " :: Python :: 3." in kind] == names
    assert PROJECT["requires-python"] == f">={names[0]}"
    assert REQUIRED in SUPPORTED


def test_the_host():
    assert f"`{host_build.DISTRIBUTION}` {host_build.BUILD}" in PAGE
    assert f"{host_build.DISTRIBUTION}=={host_build.BUILD}" in PROJECT["dependencies"]
    assert 25 <= len(ASSUMPTIONS) <= 35, "the page says: some thirty"
