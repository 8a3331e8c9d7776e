# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files around the package are valid, and agree with the package."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pyshardy as sdy
from check_pythons import SUPPORTED
from pyshardy.toml import loads

ROOT = Path(__file__).resolve().parents[2]
PROJECT = loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def load_yaml(path):
    return pytest.importorskip("yaml").safe_load(path.read_text(encoding="utf-8"))


def test_every_public_name_has_one_stability_label():
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8").partition("## Python")[2]
    stable, provisional = page.split("Provisional:")
    labelled = [re.findall(r"`(\w+)`", part.partition(";")[0]) for part in (stable, provisional)]
    assert sorted(labelled[0] + labelled[1]) == sorted(sdy.__all__)


def test_version_is_that_of_the_changelog():
    version = PROJECT["project"]["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev0)?", version)
    assert _newest_section() == ("Unreleased" if version.endswith(".dev0") else version)


def _newest_section():
    return re.search(r"^## \[(.*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]


def test_classifiers_name_the_supported_pythons():
    prefix = "Programming Language :: Python :: 3."
    listed = [each for each in PROJECT["project"]["classifiers"] if each.startswith(prefix)]
    assert listed == [f"{prefix}{minor}" for _, minor in SUPPORTED]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_of_workflows_exist(path):
    jobs = load_yaml(path)["jobs"]
    commands = "\n".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    for script in re.findall(r"(?:bash|python) ((?:\.ci|tools)/\S+)", commands):
        assert (ROOT / script).exists(), script
    for target in re.findall(r"^make (\S+)", commands, re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target
    for extras in re.findall(r"\[([\w,]+)\]", commands):
        assert set(extras.split(",")) <= set(PROJECT["project"]["optional-dependencies"])


def test_workflows_test_every_supported_python():
    names = [".".join(map(str, version)) for version in SUPPORTED]
    for name, job in (("ci", "quick"), ("release", "test")):
        jobs = load_yaml(ROOT / ".github" / "workflows" / f"{name}.yml")["jobs"]
        assert jobs[job]["strategy"]["matrix"]["python"] == names


def test_other_files_of_github_are_valid():
    folder = ROOT / ".github"
    for path in (folder / "dependabot.yml", *(folder / "ISSUE_TEMPLATE").glob("*.yml")):
        assert isinstance(load_yaml(path), dict), path.name
    assert load_yaml(ROOT / "CITATION.cff")["cff-version"] == "1.2.0"


def test_the_changelog_can_be_cut_by_the_release_workflow():
    script = f'index($0, "## [") {{ on = index($0, "## [{_newest_section()}]") }} on'
    cut = subprocess.run(
        ["awk", script, str(ROOT / "CHANGELOG.md")], capture_output=True, text=True, check=True
    )
    assert cut.stdout.startswith(f"## [{_newest_section()}]")
    assert cut.stdout.count("## [") == 1


def test_security_page_names_the_flags_that_load_code():
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    said = subprocess.run(
        [sys.executable, "-m", "pyshardy", "run", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for flag in ("--load-rules", "--custom-call"):
        assert flag in page
        assert flag in said
