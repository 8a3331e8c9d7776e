# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The meshes of JAX as a type that is known without JAX."""

from __future__ import annotations

from typing import Any, Protocol


class MeshOfJax(Protocol):
    """A `jax.sharding.Mesh` or `jax.sharding.AbstractMesh`."""

    @property
    def axis_names(self) -> tuple[Any, ...]:
        """The names of the axes."""
        ...

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """Their sizes."""
        ...
