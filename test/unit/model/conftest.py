# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many examples the tests of the model try."""

from hypothesis import settings

settings.register_profile("model", max_examples=60, deadline=None)
settings.load_profile("model")
