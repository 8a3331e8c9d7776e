# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interface of a partitioned program: its arguments and results, globally and on a device."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_sdy.assembly.attribute_text import read_stripped
from mlir_sdy.assembly.source import Cursor, SourceText
from mlir_sdy.diagnostics import UsageError, error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import (
    OF_GSPMD,
    argument_shardings,
    interface_attributes,
    result_shardings,
)
from pyshardy.display import Displayed
from pyshardy.irtools.functions import ENTRY, functions_of
from pyshardy.irtools.modules import text_of
from pyshardy.irtools.named_values import argument_names, result_names
from pyshardy.irtools.stablehlo_views import function_type_of, symbol_name
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.local_program.values import spec_of
from pyshardy.partition.types.one_mesh import device_mesh_of
from pyshardy.pipeline import Instrumentation, Step

WITH_SHARDY = (
    "export the program with Shardy, in JAX by "
    "jax.config.update('jax_use_shardy_partitioner', True)"
)
"""The remedy for a program of GSPMD."""

LIFT_MESHES = "sdy-lift-inlined-meshes"
"""The pass after which all meshes are symbols."""

_TRIM_SHARDINGS = "sdy-update-non-divisible-input-output-shardings"


@dataclass(frozen=True, slots=True, repr=False)
class Port(Displayed):
    """An argument or a result of a partitioned program.

    Attributes:
        name: its name in the source, else its position: `%arg0`, `result 0`.
        spec: the global type.
        sharding: its sharding; None if replicated.
        local_spec: the type on each device.
        mesh: the mesh of the sharding, with its device order.
        donated_to: for a donated argument the position of the result that reuses its memory.
    """

    name: str
    spec: TensorSpec
    sharding: TensorSharding | None
    local_spec: TensorSpec
    mesh: Mesh
    donated_to: int | None = None

    def summary(self) -> str:
        """Return the name, the global type and the sharding in one line."""
        return f"{self.name}: {self.spec}, {self.sharding or 'replicated'}"


class InterfaceRecorder(Instrumentation):
    """Records the interface of the global program while the pipeline runs.

    Attributes:
        mesh: the mesh that the program is partitioned for.
        meshes: all meshes by name.
        names: the names of arguments and results.
        specs: their types.
        shardings: their shardings, which divide them evenly.
    """

    mesh: Mesh
    meshes: Mapping[str, Mesh]
    names: tuple[list[str], list[str]]
    specs: tuple[list[TensorSpec], list[TensorSpec]]
    shardings: tuple[Sequence[TensorSharding | None], ...]

    def before_pipeline(self, module: ir.Module, steps: tuple[Step, ...]) -> None:
        """Record the names, which are locations that other observers may change."""
        del steps
        self.names = port_names(main_of(module), text_of(module))

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Record meshes once they are symbols, and shardings once they divide their tensors."""
        if step.argument == LIFT_MESHES:
            entry = main_of(module)
            self.meshes = meshes_of(module)
            self.mesh = _mesh_of(module, entry)
            self.specs = signature_of(entry)
            self.shardings = argument_shardings(entry), result_shardings(entry)
        elif step.argument == _TRIM_SHARDINGS:
            entry = main_of(module)
            trimmed = argument_shardings(entry), result_shardings(entry)
            self.shardings = tuple(
                [_with_axes_of(*pair) for pair in zip(*ends, strict=True)]
                for ends in zip(self.shardings, trimmed, strict=True)
            )

    def to_json(self) -> dict[str, Any]:
        """Return the record as values of JSON."""
        return {
            "mesh": str(self.mesh),
            "meshes": {name: str(mesh) for name, mesh in self.meshes.items()},
            "names": self.names,
            "specs": [[[each.shape, each.element] for each in some] for some in self.specs],
            "shardings": [[each and str(each) for each in some] for some in self.shardings],
        }

    def restore(self, told: Mapping[str, Any]) -> None:
        """Take over the record that another recorder returned as JSON."""
        self.mesh = _read("mesh", told["mesh"])
        self.meshes = {name: _read("mesh", text) for name, text in told["meshes"].items()}
        self.names = told["names"][0], told["names"][1]
        arguments, results = (
            [TensorSpec(tuple(shape), element) for shape, element in some] for some in told["specs"]
        )
        self.specs = arguments, results
        self.shardings = tuple(
            [text and _read("sharding", text) for text in some] for some in told["shardings"]
        )


@functools.lru_cache(maxsize=1024)
def _read(kind: str, text: str) -> Any:
    """Return the value of an attribute of the dialect from its text."""
    return read_stripped(kind)(Cursor(SourceText(text, "interface")))


def _with_axes_of(
    declared: TensorSharding | None, trimmed: TensorSharding | None
) -> TensorSharding | None:
    """Return a sharding with the axes of a trimmed one; dimensions that were open stay open."""
    if declared is None or trimmed is None:
        return trimmed
    pairs = enumerate(zip(declared.dim_shardings, trimmed.dim_axes, strict=True))
    return declared.with_dims_replaced(
        {dim: before.with_axes(axes) for dim, (before, axes) in pairs if before.axes != axes}
    )


def _mesh_of(module: ir.Module, entry: ir.Operation) -> Mesh:
    """Return the mesh that the program is partitioned for; see `types.device_meshes`."""
    name = device_mesh_of(entry)
    if name is not None:
        return meshes_of(module)[name]
    place = location_of(entry.location)
    hint = 'declare one, such as sdy.mesh @mesh = <["x"=2, "y"=4]>, and annotate values'
    if any(any(column) for column in interface_attributes(entry, OF_GSPMD)):
        hint = f"'{OF_GSPMD}' is of GSPMD, and isn't read: {WITH_SHARDY}"
    raise UsageError(error("the program has no mesh", place, [note(hint, place)]))


def main_of(module: ir.Module) -> ir.Operation:
    """Return the entry of a module, the function `@main`.

    Other symbols may have that name, too, until the module is verified.
    """
    return next(each for each in functions_of(module) if symbol_name(each) == ENTRY)


def signature_of(function: ir.Operation) -> tuple[list[TensorSpec], list[TensorSpec]]:
    """Return the types of the arguments and of the results."""
    function_type = function_type_of(function)
    place = location_of(function.location)
    return (
        [spec_of(argument, place) for argument in function_type.inputs],
        [spec_of(result, place) for result in function_type.results],
    )


def port_names(function: ir.Operation, text: str | None = None) -> tuple[list[str], list[str]]:
    """Return the names of the arguments and of the results, else `%arg0`, `result 0` and so on.

    Args:
        function: the function.
        text: the text that it was parsed from; None if it is unknown.
    """
    arguments, results = argument_names(function, text), result_names(function)
    return (
        [name or f"%arg{index}" for index, name in enumerate(arguments)],
        [name or f"result {index}" for index, name in enumerate(results)],
    )
