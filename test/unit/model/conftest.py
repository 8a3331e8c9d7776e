# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets the tests here import their common helpers, model_helpers.py."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("model", max_examples=60, deadline=None)
settings.load_profile("model")
