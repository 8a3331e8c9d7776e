# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check of the MLIR host finds out what another build does differently."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from host_assumptions import ASSUMPTIONS
from mlir_sdy import host

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = host.ods_common.__name__.partition(".")[0]
# What stands in for the host: the same modules, one of which is changed.
STAND_IN = """
__path__ = {path!r}
{change}
"""


def checked(folder, *names, change=None):
    """The exit status and the report, with the host as it is or with a change to it."""
    search = [str(ROOT / "dialect"), str(ROOT / "python")]
    if change is not None:
        package = folder / PACKAGE
        package.mkdir()
        path = list(find_spec(PACKAGE).submodule_search_locations)
        (package / "__init__.py").write_text(STAND_IN.format(path=path, change=change))
        search.insert(0, str(folder))
    ran = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "check_host.py"), *names],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(search)},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_the_pinned_host_does_all(tmp_path):
    status, report = checked(tmp_path)
    assert status == 0, report
    assert f"{len(ASSUMPTIONS)} of {len(ASSUMPTIONS)} assumptions hold" in report


CHANGES = {
    "a function is missing": (
        "patterns",
        f"import {PACKAGE}.rewrite as changed\ndel changed.walk_and_apply_patterns",
        "AttributeError: module",
    ),
    "a pass is missing": (
        "pass-names",
        f"import {PACKAGE}.passmanager as changed\n"
        "class Changed(changed.PassManager):\n"
        "    @staticmethod\n"
        "    def parse(pipeline, *rest):\n"
        "        old = changed_parse(pipeline.replace('sccp', 'gone'), *rest)\n"
        "        return old\n"
        "changed_parse = changed.PassManager.parse\n"
        "changed.PassManager = Changed",
        "unknown passes: expected [], got ['sccp']",
    ),
    "the process ends": (
        "interpreter",
        f"from {PACKAGE}._mlir_libs import _stablehlo as changed\n"
        "import os\n"
        "changed.eval_module = lambda *_: os.abort()",
        "it ends the process by SIGABRT",
    ),
    "results differ": (
        "interpreter",
        f"from {PACKAGE}._mlir_libs import _stablehlo as changed\n"
        "changed.eval_module = lambda module, inputs: inputs",
        "the result: expected [2.0, 4.0], got [1.0, 2.0]",
    ),
    "a module is missing": (
        "modules",
        f"import sys\nsys.modules['{PACKAGE}.rewrite'] = None",
        "ModuleNotFoundError: ",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_host_that_differs(tmp_path, change):
    name, code, said = CHANGES[change]
    status, report = checked(tmp_path, name, "identity", change=code)
    assert status == 1
    assert f"broken  {name}: {ASSUMPTIONS[name].statement}" in report
    assert said in report
    assert f"breaks: {ASSUMPTIONS[name].relied_on_by}" in report


def test_every_assumption_says_what_it_is_and_who_needs_it():
    for each in ASSUMPTIONS.values():
        assert each.statement.endswith(".")
        assert each.relied_on_by
