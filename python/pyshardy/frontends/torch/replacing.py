# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replacement of attributes of PyTorch while it traces."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Replacements = Mapping[Any, tuple[Callable[..., bool], Callable[..., Any]]]
"""For functions of PyTorch whether a call is replaced, and by which function."""


@contextlib.contextmanager
def replaced_attribute(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute inside the `with` block.

    Args:
        owner: a module, a class or an object.
        name: the attribute, which may be inherited by `owner`.
        value: its value. For a class, this is what its dictionary contains, such as a
            `staticmethod`.
    """
    own: dict[str, Any] = {**owner.__dict__}
    setattr(owner, name, value)
    try:
        yield
    finally:
        if name in own:
            setattr(owner, name, own[name])
        else:
            delattr(owner, name)
