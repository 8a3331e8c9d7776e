# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plan as Python code for JAX: shardings of arguments and results, and constraints on values.

Constraints are for the values that propagation from arguments and results alone would shard
otherwise. An elementwise operation needs none: its operands decide. JAX refuses constraints by
which the shards of a value are uneven. An axis of which a plan uses parts is split in the mesh of
the code, since JAX knows whole axes only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir_sdy.host import location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import get_sharding, set_argument_shardings, set_result_shardings
from pyshardy.api import propagate
from pyshardy.auto.problem.arrays import Ints
from pyshardy.auto.search.program_search import Search
from pyshardy.forms import spec_of_names
from pyshardy.frontends.jax.meshes import refined_mesh
from pyshardy.irtools.functions import main_function
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.named_values import NamedValues, mark_of, operations_with_results
from pyshardy.irtools.tensor_types import is_even, shape_of
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.rules.lookup import is_elementwise


def jax_code(search: Search, choice: Ints) -> str:
    """Return Python code with the shardings of a choice.

    Args:
        search: the program.
        choice: the strategy of each node.
    """
    shardings = search.shardings(choice)
    constraints: dict[str, TensorSharding] = {}
    for place, own in constraints_of(search, choice):
        constraints.setdefault(place, own)
    grid = refined_mesh(
        search.mesh,
        ((own, search.mesh) for own in (*shardings.values(), *constraints.values())),
    )

    def spec(own: TensorSharding) -> str:
        return spec_of_names(grid.axes_of(own, search.mesh))

    axes = _tuple_text([str(axis.size) for axis in grid.mesh.axes])
    names = _tuple_text([f'"{axis.name}"' for axis in grid.mesh.axes])
    lines = [
        "import jax",
        "from jax.sharding import NamedSharding, PartitionSpec as P",
        "",
        f"mesh = jax.make_mesh({axes}, {names})",
        "shardings = {",
    ]
    for name, own in shardings.items():
        lines.append(f"    {name!r}: NamedSharding(mesh, {spec(own)}),")
    lines.append("}")
    if constraints:
        lines += ["", "# Values for which propagation alone would find other shardings:"]
    for place, own in constraints.items():
        constrained = f"jax.lax.with_sharding_constraint(value, NamedSharding(mesh, {spec(own)}))"
        lines.append(f"# {place}: value = {constrained}")
    return "\n".join([*lines, ""])


def constraints_of(search: Search, choice: Ints) -> Iterator[tuple[str, TensorSharding]]:
    """Yield the source places of values that need a constraint, and their planned shardings."""
    module = copy_of(search.module)
    originals = operations_with_results(search.module)
    NamedValues.marked(module)
    main = main_function(module)
    assert main is not None, "checked by the search"
    arguments = {
        number: search.as_sharding(axes)
        for number, argument in enumerate(search.arguments)
        if (axes := search.axes_of(choice, argument)) is not None
    }
    results = {
        number: search.as_sharding(axes) for number, axes in search.result_axes(choice).items()
    }
    set_argument_shardings(main, arguments)
    set_result_shardings(main, results)
    propagate(module)
    for view in operations_in(module.operation):
        number = mark_of(view.operation.location)
        if number is None or is_elementwise(originals[number]):
            continue
        place = location_of(originals[number].location)
        pairs = zip(originals[number].results, view.operation.results, strict=False)
        for original, result in pairs if place is not None else ():
            planned = search.axes_of(choice, original)
            if planned is None or not is_even(shape_of(original.type), planned, search.mesh):
                continue
            if planned != _axes_of(get_sharding(result), len(planned)):
                yield str(place), search.as_sharding(planned)


def _axes_of(sharding: TensorSharding | None, rank: int) -> AxesPerDim:
    """Return the axes of each dimension; none without a sharding."""
    return ((),) * rank if sharding is None else sharding.dim_axes


def _tuple_text(entries: Sequence[str]) -> str:
    """Return the text of a tuple in Python."""
    return f"({entries[0]},)" if len(entries) == 1 else f"({', '.join(entries)})"
