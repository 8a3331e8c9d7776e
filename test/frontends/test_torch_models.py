# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of `transformers` and `diffusers`, where these are installed (the extra `models`)."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="the extra 'models' is not installed")
pytest.importorskip("diffusers", reason="the extra 'models' is not installed")

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "torch_models"
sys.path.insert(0, str(FOLDER))

from models import MODELS  # noqa: E402

from torch_models import check_model  # noqa: E402


@pytest.mark.parametrize("name", MODELS)
def test_model(name):
    check = check_model(name)
    assert check.is_right, check
