# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one failure of this package: a value that must not exist, or an axis that a mesh lacks."""

from __future__ import annotations


class ModelError(ValueError):
    """A value cannot be built, or a question cannot be answered; the text says why."""
