# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The context of the tests of sizes."""

import pytest

from mlir_sdy.dialect import Context


@pytest.fixture(scope="session")
def context():
    return Context()
