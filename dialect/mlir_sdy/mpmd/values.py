# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes and types of the mpmd dialect as plain values; `str` gives the text after the name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.text import quoted

DEVICE = "device"
"""The memory of the devices, which is the default."""

PINNED_HOST = "pinned_host"
"""The memory of the host."""

MEMORY_KINDS = (DEVICE, PINNED_HOST)

_MEMORY_SUFFIXES = tuple(f"#{kind}" for kind in MEMORY_KINDS)

_HOST_SUFFIX = "/cpu"


class MeshReduction(IntEnum):
    """The kind of a reduction across meshes."""

    NONE = 0
    ADD = 1
    MAX = 2
    MIN = 3
    MUL = 4
    OR = 5
    AND = 6

    def __str__(self) -> str:
        return f"<{self.name.lower()}>"


@dataclass(frozen=True, slots=True)
class NamedMesh:
    """A mesh with its name: `<"m1" : <["x"=2]>>`."""

    name: str
    mesh: Mesh

    @property
    def is_host(self) -> bool:
        """Whether the mesh is one of hosts, which is no part of the pipeline."""
        return self.name.endswith(_HOST_SUFFIX)

    def __str__(self) -> str:
        return f"<{quoted(self.name)} : {self.mesh}>"


@dataclass(frozen=True, slots=True)
class Topology:
    """The meshes of a program, in the order of the pipeline.

    Raises:
        ModelError: two meshes have one name, or a name can't occur in an assignment.
    """

    meshes: tuple[NamedMesh, ...]

    def __post_init__(self) -> None:
        for index, name in enumerate(self.names):
            if name in self.names[:index]:
                raise ModelError(f'the name of a mesh occurs twice: "{name}"')
            for part in ("@", *_MEMORY_SUFFIXES):
                if part in name:
                    raise ModelError(f'the name of a mesh must not contain "{part}": "{name}"')

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the meshes."""
        return tuple(each.name for each in self.meshes)

    def named(self, name: str) -> NamedMesh | None:
        """Return the mesh of a name; None if there is none."""
        return next((each for each in self.meshes if each.name == name), None)

    def __str__(self) -> str:
        return f"<{', '.join(map(str, self.meshes))}>"


@dataclass(frozen=True, slots=True)
class UserOrigin:
    """The named computation that a fragment comes from: `<"f"(1)>`.

    Attributes:
        name: the name of the computation.
        transpose_count: 0 for forward, 1 for backward, n after n transpositions.
    """

    name: str
    transpose_count: int = 0

    @property
    def short(self) -> str:
        """The text without angle brackets."""
        count = f"({self.transpose_count})" if self.transpose_count else ""
        return f"{quoted(self.name)}{count}"

    def __str__(self) -> str:
        return f"<{self.short}>"


@dataclass(frozen=True, slots=True)
class UserOrigins:
    """The origins of a fragment, which are an array in the IR: `["f", "g"(1)]`."""

    origins: tuple[UserOrigin, ...] = ()

    def __str__(self) -> str:
        return f"[{', '.join(each.short for each in self.origins)}]"


@dataclass(frozen=True, slots=True)
class MeshWithOrigins:
    """A mesh with the labels of the origins that assign values to it: `<"m1"["a", "b"]>`."""

    mesh_name: str
    origins: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The text without angle brackets."""
        origins = f"[{', '.join(map(quoted, self.origins))}]" if self.origins else ""
        return f"{quoted(self.mesh_name)}{origins}"

    def __str__(self) -> str:
        return f"<{self.short}>"


@dataclass(frozen=True, slots=True)
class MeshesWithOrigins:
    """A list of meshes with their origins, in the order in which they were found."""

    meshes: tuple[MeshWithOrigins, ...] = ()

    def __str__(self) -> str:
        return f"<{', '.join(each.short for each in self.meshes)}>"


@dataclass(frozen=True, slots=True)
class MeshTensor:
    """The type of a value on a mesh.

    Attributes:
        mesh_name: the name of the mesh.
        tensor: the text of its global type, such as `tensor<4x8xf32>`.
        sharding: how the mesh splits the tensor; None if it is replicated.
        memory_kind: `device` or `pinned_host`; None means the memory of the devices.
    """

    mesh_name: str
    tensor: str
    sharding: TensorSharding | None = None
    memory_kind: str | None = None

    @property
    def is_on_host(self) -> bool:
        """Whether the value is in the memory of the host."""
        return self.memory_kind == PINNED_HOST

    def __str__(self) -> str:
        sharding = "" if self.sharding is None else f", sharding={self.sharding}"
        kind = "" if self.memory_kind is None else f", memory_kind={quoted(self.memory_kind)}"
        return f"<{quoted(self.mesh_name)}, {self.tensor}{sharding}{kind}>"
