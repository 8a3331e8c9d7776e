# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of the tests of timelines."""

import pytest

from mlir_sdy.dialect import Context


@pytest.fixture(scope="session")
def context():
    return Context()
