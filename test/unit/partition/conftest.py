# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of the partitioner's tests."""

import pytest

from mlir_sdy.dialect import Context


@pytest.fixture(scope="session")
def context() -> Context:
    return Context()
