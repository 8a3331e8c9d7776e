# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of the tests against C++ Shardy."""

import importlib.util
from pathlib import Path

import pytest

from mlir_sdy.dialect import Context


def _load_oracle():
    """The module beside this file; pytest's import mode puts no folder on the search path."""
    path = Path(__file__).with_name("shardy.py")
    spec = importlib.util.spec_from_file_location("shardy_oracle", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def oracle():
    """The module `shardy.py`, for its exceptions."""
    return _load_oracle()


@pytest.fixture(scope="session")
def shardy(oracle):
    """C++ Shardy in a child process, shared by the tests of a session."""
    process = oracle.Shardy()
    yield process
    process.close()


@pytest.fixture(scope="session")
def context():
    """One context for all tests: they don't change it."""
    return Context()
