# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of the tests of IR helpers."""

import pytest

from mlir_sdy.dialect import Context


@pytest.fixture(scope="session")
def context():
    """One context for all tests: they don't change it."""
    return Context()
