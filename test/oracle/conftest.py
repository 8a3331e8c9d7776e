# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of the tests against C++ Shardy."""

import pytest
from shardy import Shardy

from mlir_sdy.dialect import Context


@pytest.fixture(scope="session")
def shardy():
    """C++ Shardy in a child process, shared by the tests of a session."""
    process = Shardy()
    yield process
    process.close()


@pytest.fixture(scope="session")
def context():
    """One context for all tests: they don't change it."""
    return Context()
