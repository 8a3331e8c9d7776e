# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A mesh from the command line: `--mesh=mesh=data:4,model:2`."""

from __future__ import annotations

import re

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import SourceLocation, UsageError, VerificationError, error, note
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, MeshAxis, ModelError
from mlir_sdy.op_classes import view_as
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.symbols import mesh_operation, meshes_of
from mlir_sdy.verify import verify
from pyshardy.cli.source_files import SourceFiles
from pyshardy.frontends.meshes import DEFAULT_NAME

_FORM = re.compile(r"(?:(?P<name>[\w.$-]+)=)?(?P<axes>[^=]+)")
_AXIS = re.compile(r"(?P<name>[\w.$-]+):(?P<size>\d+)")


def read_mesh(text: str, flag: str = "--mesh") -> tuple[str | None, Mesh]:
    """Parse a mesh with an optional name, None by default.

    Example: `mesh=data:4,model:2` is `<["data"=4, "model"=2]>` of the name `mesh`.

    Raises:
        UsageError: the text can't be read.
    """
    form = _FORM.fullmatch(text)
    axes = [_AXIS.fullmatch(part) for part in form["axes"].split(",")] if form else [None]
    try:
        if form is not None and all(axes):
            found = [axis for axis in axes if axis is not None]
            return form["name"], Mesh(tuple(MeshAxis(a["name"], int(a["size"])) for a in found))
        reason = "expected a form such as 'mesh=data:4,model:2' or 'data:4,model:2'"
    except ModelError as refusal:
        reason = str(refusal)
    raise UsageError(error(f"'{flag}={text}' is not a mesh: {reason}"))


def give_mesh(module: ir.Module, text: str, sources: SourceFiles) -> None:
    """Declare a mesh in a module, replacing a mesh of that name.

    Args:
        module: the module.
        text: the value of the flag. Without a name, it is for the module's only mesh, or `mesh`.
        sources: gets the text, for errors in it.

    Raises:
        UsageError: the text can't be read; the module has several meshes, and no name is given;
            none of them has the name; or the shardings of the module don't fit the mesh.
    """
    name, mesh = read_mesh(text)
    names = [known for known, declared in meshes_of(module).items() if declared.axes]
    if name is None:
        if len(names) > 1:
            listed = ", ".join(f"'{known}'" for known in names)
            message = f"the program has several meshes, {listed}: select one, as in"
            raise UsageError(error(f"{message} '--mesh={names[0]}=data:4,model:2'"))
        name = names[0] if names else DEFAULT_NAME
    elif names and name not in names:
        listed = ", ".join(f"'{each}'" for each in names)
        advice = did_you_mean(name, names)
        message = f"'--mesh={name}=...' replaces no mesh: the program has {listed}{advice}"
        raise UsageError(error(message))
    attribute = attribute_of(mesh, module.context)
    declared = mesh_operation(module.operation, name)
    before = meshes_of(module).get(name)
    if declared is not None:
        view_as(sdy.MeshOp, declared).mesh = attribute
    else:
        with module.context, ir.Location.unknown():
            sdy.mesh(name, attribute, ip=ir.InsertionPoint.at_block_begin(module.body))
    try:
        verify(module)
    except VerificationError as failure:
        sources.add("--mesh", text)
        raise _unfit(text, mesh, before, failure) from None


def _unfit(text: str, mesh: Mesh, before: Mesh | None, failure: VerificationError) -> UsageError:
    """Return the error of a mesh that the shardings of the program don't fit, at the flag."""
    reason = failure.diagnostics[0]
    names, former = ([axis.name for axis in each.axes] for each in (mesh, before or mesh))
    column, advice = 1, ""
    for axis in names:
        if axis not in former:
            column = text.index(f"{axis}:") + 1
            advice = did_you_mean(axis, [each for each in former if each not in names], '"')
            break
    message = reason.message.partition("; did you mean")[0]
    return UsageError(
        error(
            f"the program has shardings that don't fit this mesh{advice}",
            SourceLocation("--mesh", 1, column),
            [note(message, reason.location)],
        )
    )
