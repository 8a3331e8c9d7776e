# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets the tests here import the helpers of the model's tests."""

import sys
from pathlib import Path

import pytest

from mlir_sdy.dialect import Context

sys.path.insert(0, str(Path(__file__).parents[1] / "model"))


@pytest.fixture(scope="session")
def context() -> Context:
    return Context()
