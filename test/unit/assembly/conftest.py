# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of reading and printing share."""

import pytest
from hypothesis import settings

from mlir_sdy.dialect import Context

settings.register_profile("assembly", max_examples=30, deadline=None)
settings.load_profile("assembly")


@pytest.fixture(scope="session")
def context():
    """One context for all tests: they don't change it."""
    return Context()
