# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import of functions lowered by JAX.

JAX has its own MLIR bindings. Both can be used in one process if they share no objects, so programs
are passed as text.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.backends.jax_internals import compile_arguments, text_and_constants
from pyshardy.frontends.jax.callbacks import put_on_one_device, remember_callbacks
from pyshardy.frontends.jax.custom_partitioning import remember_custom_partitioning
from pyshardy.frontends.jax.dtypes import implementations
from pyshardy.frontends.jax.inspections import remember_inspections
from pyshardy.frontends.jax.locations import locate_by_calls, locate_in_user_code
from pyshardy.frontends.jax.structure import Structure, remember
from pyshardy.irtools.stablehlo_views import ConstantView
from pyshardy.irtools.walks import operations_named
from pyshardy.packages import require

if TYPE_CHECKING:
    import jax

MOST_IN_TEXT = 2**18
"""The number of elements up to which constants are passed as text. No other attribute has more."""


def from_lowered(lowered: jax.stages.Lowered | Any, context: ir.Context | None = None) -> ir.Module:
    """Return the module of a function lowered by JAX.

        lowered = jax.jit(step, in_shardings=...).lower(parameters, batch)
        module = sdy.jax.from_lowered(lowered)

    Meshes, shardings, constraints and manual regions are kept. Arguments are named by their paths
    in the arguments of the function, and operations are located in its source.

    Args:
        lowered: the result of `jax.jit(f).lower(...)`.
        context: a context with the dialect; a new one by default.

    Raises:
        UsageError: JAX is missing, or the argument isn't a lowered function.
        ParseError: the program can't be parsed.
    """
    require("jax", "sdy.jax.from_lowered", extra="jax")
    import jax  # noqa: PLC0415

    if not isinstance(lowered, jax.stages.Lowered):
        got = f"got: {type(lowered).__name__}"
        raise UsageError(error(f"expected the result of 'jax.jit(f).lower(...)', {got}"))
    module = _parsed(lowered, context or Context())
    locate_by_calls(module)
    locate_in_user_code(module)
    # JAX stores the dropped arguments and the devices nowhere else.
    found = compile_arguments(lowered)
    structure = Structure(
        lowered.in_tree,
        lowered.out_tree,
        tuple(sorted(found["kept_var_idx"])),
        implementations(jax.tree.leaves(lowered.out_info)),
        _mesh((*found["in_shardings"], *found["out_shardings"])),
    )
    remember(structure, module)
    remember_callbacks(found["host_callbacks"], module)
    put_on_one_device(module)
    remember_custom_partitioning(found["keepalive"], module)
    remember_inspections(found["keepalive"], module)
    return module


def _parsed(lowered: jax.stages.Lowered, context: ir.Context) -> ir.Module:
    """Return the module of a lowered function, whose large constants aren't passed as text.

    Text takes several times their memory.
    """
    text, constants = text_and_constants(lowered, MOST_IN_TEXT)
    module = parse(text, context)
    elided = [
        constant
        for constant in operations_named({"stablehlo.constant"}, module)
        if not isinstance(ConstantView(constant).value, ir.DenseElementsAttr)
    ]
    for constant, contents in zip(elided, constants, strict=True):
        tensor = constant.results[0].type
        elements = ir.DenseElementsAttr.get(contents, type=tensor, context=context)
        ConstantView(constant).value = elements
    return module


def _mesh(shardings: Iterable[Any]) -> jax.sharding.Mesh | None:
    """The first mesh that has devices."""
    import jax  # noqa: PLC0415

    for sharding in shardings:
        if isinstance(sharding, jax.sharding.NamedSharding):
            mesh = sharding.mesh
            if isinstance(mesh, jax.sharding.Mesh):
                return mesh
    return None
