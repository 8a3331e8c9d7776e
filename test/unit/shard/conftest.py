# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One context for all tests: they don't change it."""

import pytest

from mlir_sdy.dialect import Context


@pytest.fixture(scope="session")
def context() -> Context:
    return Context()
