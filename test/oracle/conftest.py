# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of the tests against C++ Shardy."""

import sys

import pytest
from shardy import INSTALLED, Shardy

from mlir_sdy.dialect import Context
from oracle_environment import MISSING, oracle_python

NEWEST = (0, 12)


def pytest_generate_tests(metafunc):
    """Run tests against each release; those marked `shardy_since` against releases from one on."""
    if "shardy" in metafunc.fixturenames:
        since = metafunc.definition.get_closest_marker("shardy_since")
        releases = [r for r in sorted({INSTALLED, NEWEST}) if since is None or r >= since.args]
        ids = [f"shardy-{major}.{minor}" for major, minor in releases]
        metafunc.parametrize("shardy", releases, indirect=True, ids=ids, scope="session")


@pytest.fixture(scope="session")
def shardy(request):
    """C++ Shardy of a release, in a child process that the tests of a session share.

    One is in the jaxlib of this environment, the newest one in an environment of its own.
    """
    python = sys.executable if request.param == INSTALLED else oracle_python()
    if python is None:
        pytest.skip(MISSING)
    process = Shardy(request.param, python)
    yield process
    process.close()


@pytest.fixture(scope="session")
def context():
    """One context for all tests: they don't change it."""
    return Context()
