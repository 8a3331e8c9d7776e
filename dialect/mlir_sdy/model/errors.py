# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exception of this package, for invalid values and unknown axes."""

from __future__ import annotations


class ModelError(ValueError):
    """A value or an argument is invalid; the text has the reason."""


class ModelTypeError(ModelError, TypeError):
    """An argument is of a type that the value can't be made from."""
