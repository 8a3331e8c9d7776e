# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text forms of options of MPMD passes: assignments to meshes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Literal, NamedTuple

from mlir_sdy.diagnostics import PassError, UsageError, error
from mlir_sdy.mpmd.values import MEMORY_KINDS
from pyshardy.pipeline.options import Help

_ASSIGNED = re.compile(r"(?P<name>[^@]+)@(?P<mesh>[^@/#]+(?:/cpu)?)(?P<rest>.*)")

NameAssignment = Annotated[
    tuple[str, ...],
    Help("meshes of names: `name@mesh`, `name@mesh/stage` or `name@mesh#memory_kind`"),
]
IndexAssignment = Annotated[tuple[str, ...], Help("meshes by index: `0@mesh`")]
Constraints = Annotated[
    tuple[str, ...], Help("pairs of an argument and a result on one mesh: `0:1`")
]
InferTransfers = Annotated[bool, Help("whether to insert transfers where meshes conflict")]
InferReductions = Annotated[bool, Help("whether to infer reductions across meshes")]
Transfers = Annotated[
    Literal["auto", "direct", "same-sharding"],
    Help(
        "how values go to meshes that need another sharding: the way of least estimated time, "
        "always as they are, or between equal meshes always with equal shardings",
        release="pyshardy",
    ),
]
ErrorLimit = Annotated[int, Help("the most errors to report; -1 for all")]
FailOnReshards = Annotated[
    bool, Help("whether fragments that only return their arguments are errors")
]
FailOnBackwardDeps = Annotated[
    bool, Help("whether values that go to an earlier mesh of a forward program are errors")
]
FailOnInferredFragments = Annotated[
    bool, Help("whether fragments that no fragment of the user absorbed are errors")
]
FailOnParamTransfers = Annotated[bool, Help("whether transfers of parameters are errors")]
ParamTransferPattern = Annotated[str, Help("the text in the names of parameters")]
NoEffect = Annotated[bool, Help("has no effect; accepted as by C++ Shardy")]
LeavesNoDependencies = Annotated[
    bool, Help("whether nothing of the order remains but the order itself; always true here")
]
MaxClones = Annotated[int, Help("the most copies of an operation that several fragments use")]


class Assigned(NamedTuple):
    """The assignment of a name, an argument or a result.

    Attributes:
        mesh: the name of the mesh.
        stage: the stage of a named computation; None without it.
        memory_kind: the kind of memory; None without it.
    """

    mesh: str
    stage: int | None = None
    memory_kind: str | None = None


def read_assignment(entries: Iterable[str]) -> dict[str, Assigned]:
    """Return the assignments by their names.

    Raises:
        PassError: an entry is malformed.
    """
    found: dict[str, Assigned] = {}
    for entry in entries:
        match = _ASSIGNED.fullmatch(entry.strip())
        if match is None:
            raise _malformed(entry, "expected 'name@mesh'")
        stage: int | None = None
        kind: str | None = None
        rest = match["rest"]
        if rest.startswith("/"):
            if not rest[1:].isdecimal():
                raise _malformed(entry, f"the stage '{rest[1:]}' is no number")
            stage = int(rest[1:])
        elif rest:
            kind = rest[1:]
            if kind not in MEMORY_KINDS:
                kinds = " or ".join(f"'{each}'" for each in MEMORY_KINDS)
                raise _malformed(entry, f"the memory kind '{kind}' is not {kinds}")
        found[match["name"]] = Assigned(match["mesh"], stage, kind)
    return found


def read_indices(entries: Iterable[str]) -> dict[int, Assigned]:
    """Return the assignments of arguments or results by their indices.

    Raises:
        PassError: an entry is malformed.
    """
    found: dict[int, Assigned] = {}
    for index, assigned in read_assignment(entries).items():
        if not index.isdecimal():
            raise _malformed(f"{index}@{assigned.mesh}", f"the index '{index}' is no number")
        found[int(index)] = assigned
    return found


def read_constraints(entries: Iterable[str]) -> list[tuple[int, int]]:
    """Return pairs of the indices of an argument and a result.

    Raises:
        PassError: an entry is malformed.
    """
    pairs: list[tuple[int, int]] = []
    for entry in entries:
        argument, _, result = entry.strip().partition(":")
        if not (argument.isdecimal() and result.isdecimal()):
            raise _malformed(entry, "expected 'argument:result', two numbers")
        pairs.append((int(argument), int(result)))
    return pairs


def check_leaves_no_dependencies(*, remove_control_dependencies: bool) -> None:
    """Check that a pass that orders fragments is asked to leave the order alone.

    Raises:
        UsageError: it is asked to leave control dependencies.
    """
    if not remove_control_dependencies:
        message = "'remove-control-dependencies' is false, but the order leaves no dependencies"
        raise UsageError(error(f"{message}: drop the option"))


def _malformed(entry: str, reason: str) -> PassError:
    return PassError(error(f"malformed assignment '{entry}': {reason}"))
