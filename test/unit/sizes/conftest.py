# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of sizes share."""

import pytest

from mlir_sdy.dialect import Context


@pytest.fixture(scope="session")
def context():
    return Context()
