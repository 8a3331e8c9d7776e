# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry of decompositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyshardy.frontends.torch.registry import Registry

DECOMPOSITIONS: Registry[Callable[..., Any]] = Registry()

decomposition = DECOMPOSITIONS.register
"""Register a decomposition: a function with the arguments of operations, given by their names."""
