# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.jax.auto_shard`: automatic sharding of functions, as shardings for `jax.jit`."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mlir_sdy.model import Mesh, TensorSharding
from pyshardy.auto.entry import auto_shard as auto_shard_module
from pyshardy.auto.plans.plan import ShardingPlan
from pyshardy.auto.search.options import Objective
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware
from pyshardy.frontends.jax.libraries import plain_function
from pyshardy.frontends.jax.meshes import (
    RefinedMesh,
    abstract_mesh,
    automatic_mesh,
    cut_abstract_mesh,
    cut_mesh,
    refined_mesh,
)
from pyshardy.frontends.jax.tracing import trace
from pyshardy.irtools.tokens import is_token

if TYPE_CHECKING:
    from pyshardy.frontends.jax.meshes import MeshOfJax


@dataclass(frozen=True)
class JaxShardings:
    """The shardings of a function.

    Attributes:
        plan: the plan.
        in_shardings: a tuple with the `NamedSharding`s of each argument, for `jax.jit`. Those of a
            module of flax or equinox that was given in place of a function come first.
        out_shardings: those of the result.
    """

    plan: ShardingPlan
    in_shardings: tuple[Any, ...] = field(repr=False)  # as long as the arguments are
    out_shardings: Any = field(repr=False)


def auto_shard(
    function: Callable[..., Any],
    *arguments: Any,
    mesh: Mesh | MeshOfJax,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    memory: float | str | None = None,
    in_shardings: Any = "auto",
    out_shardings: Any = "auto",
    objective: Objective = "time",
    axes: Sequence[str] | None = None,
    uneven: bool = False,
    sub_axes: bool = False,
    once: bool = False,
    timeout: float = 60.0,
    gap: float = 0.01,
    static_argnums: int | Sequence[int] = (),
    donate_argnums: int | Sequence[int] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> JaxShardings:
    """Find shardings for `jax.jit`.

        mesh = jax.make_mesh((2, 4), ("data", "model"))
        found = sdy.jax.auto_shard(step, parameters, batch, mesh=mesh)
        step = jax.jit(step, in_shardings=found.in_shardings, out_shardings=found.out_shardings)

    XLA propagates the shardings of arguments and results itself. To keep all decisions of the plan,
    partition its module by `sdy.partition`. Where the plan uses sub-axes, the shardings are on a
    mesh of the same devices whose axes are split.

    Args:
        function: a function or a module, as for `sdy.jax.trace`. Donated arguments have the
            shardings of the results that reuse their memory.
        arguments: its arguments: arrays, or `jax.ShapeDtypeStruct` in their place.
        mesh: the mesh. `jax.jit` runs on the devices of a mesh of JAX; the shardings on an
            `sdy.Mesh` have none. All axes of the shardings are of kind Auto, also those of a mesh
            with explicit axes, on which JAX would leave no choice to XLA.
        hardware: the devices and links.
        memory: the memory of a device, in bytes or as a text: "80GB".
        in_shardings: the shardings of the arguments that are given: a tree like `arguments` or a
            prefix of it, with `sdy.AUTO` for those to find.
        out_shardings: the same for the result.
        objective: what is minimized: the time, or the bytes that a device sends.
        axes: the names of the axes that may be used.
        uneven: whether axes may shard dimensions that they don't divide; see `sdy.auto_shard`.
        sub_axes: whether a part of an axis may shard a dimension that the whole one doesn't divide.
        once: whether results needn't have the shardings of the arguments that they replace.
        timeout: the seconds after which the search ends with the best plan so far.
        gap: the search ends when the plan is proven to be within this fraction of the optimum.
        static_argnums: the positions of arguments that aren't arrays.
        donate_argnums: the positions of arguments whose memory results may reuse.
        kwargs: the keyword arguments.

    Raises:
        UsageError: as for `sdy.auto_shard` and `sdy.jax.trace`.
    """
    import jax  # noqa: PLC0415

    module = trace(
        function,
        *arguments,
        in_shardings=in_shardings,
        out_shardings=out_shardings,
        mesh=mesh,
        static_argnums=static_argnums,
        donate_argnums=donate_argnums,
        kwargs=kwargs,
    )
    plan = auto_shard_module(
        module,
        hardware=hardware,
        memory=memory,
        objective=objective,
        axes=axes,
        uneven=uneven,
        sub_axes=sub_axes,
        once=once,
        timeout=timeout,
        gap=gap,
    )
    search, choice = plan.search, plan.choice
    values = [each for each in search.arguments if not is_token(each.type)]
    axes_of_results = search.result_axes(choice)
    static = {static_argnums} if isinstance(static_argnums, int) else {*static_argnums}
    plain = plain_function(function, arguments, kwargs or {}, sorted(static))
    results = jax.eval_shape(plain.function, *plain.arguments, **(kwargs or {}))
    leaves, structure = jax.tree.flatten(results)
    found = [search.as_sharding(search.axes_of(choice, value) or ()) for value in values]
    out = [search.as_sharding(axes_of_results.get(number, ())) for number in range(len(leaves))]
    grid = refined_mesh(search.mesh, ((own, search.mesh) for own in (*found, *out)))
    of_jax = _cut(abstract_mesh(mesh) if isinstance(mesh, Mesh) else automatic_mesh(mesh), grid)

    def sharding_of(own: TensorSharding) -> Any:
        dims = grid.axes_of(own, search.mesh)
        spec = jax.sharding.PartitionSpec(*(names or None for names in dims))
        return jax.sharding.NamedSharding(of_jax, spec)

    held = plain.positions(sorted(static))
    dynamic = [each for at, each in enumerate(plain.arguments) if at not in held]
    trees = (tuple(dynamic), dict(kwargs or {}))
    given, _ = jax.tree.unflatten(jax.tree.structure(trees), map(sharding_of, found))
    return JaxShardings(plan, given, jax.tree.unflatten(structure, map(sharding_of, out)))


def _cut(mesh: Any, grid: RefinedMesh) -> Any:
    """Return a mesh of JAX with the axes of a refined mesh; the mesh itself if no axis is split."""
    import jax  # noqa: PLC0415

    if len(grid.mesh.axes) == len(mesh.axis_names):
        return mesh
    is_abstract = isinstance(mesh, jax.sharding.AbstractMesh)
    return cut_abstract_mesh(grid, mesh) if is_abstract else cut_mesh(grid, mesh)
