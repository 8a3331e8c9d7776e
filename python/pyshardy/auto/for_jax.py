# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.jax.auto_shard`: automatic sharding of functions, as shardings for `jax.jit`."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlir_sdy.model import Mesh
from pyshardy.auto.entry import auto_shard as auto_shard_module
from pyshardy.auto.options import Objective
from pyshardy.auto.plan import ShardingPlan
from pyshardy.cost.hardware import Hardware
from pyshardy.frontends.jax.meshes import abstract_mesh
from pyshardy.frontends.jax.tracing import trace
from pyshardy.irtools.tokens import is_token
from pyshardy.partition.resharding.steps import AxesPerDim

if TYPE_CHECKING:
    from pyshardy.frontends.jax.mesh_type import MeshOfJax


@dataclass(frozen=True)
class JaxShardings:
    """The shardings of a function.

    Attributes:
        plan: the plan.
        in_shardings: a tuple with the `NamedSharding`s of each argument, for `jax.jit`.
        out_shardings: those of the result.
    """

    plan: ShardingPlan
    in_shardings: tuple[Any, ...]
    out_shardings: Any


def auto_shard(
    function: Callable[..., Any],
    *arguments: Any,
    mesh: Mesh | MeshOfJax,
    hardware: Hardware | str = "h100",
    memory: float | str | None = None,
    in_shardings: Any = "auto",
    out_shardings: Any = "auto",
    objective: Objective = "time",
    axes: Sequence[str] | None = None,
    uneven: bool = False,
    timeout: float = 60.0,
    gap: float = 0.01,
    static_argnums: int | Sequence[int] = (),
    donate_argnums: int | Sequence[int] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> JaxShardings:
    """Find shardings for `jax.jit`.

        found = sdy.jax.auto_shard(step, parameters, batch, mesh=mesh, hardware="h100")
        step = jax.jit(step, in_shardings=found.in_shardings, out_shardings=found.out_shardings)

    XLA propagates the shardings of arguments and results itself. To keep all decisions of the plan,
    partition its module by `sdy.partition`.

    Args:
        function: a function that `jax.jit` accepts or returned. Donated arguments have the
            shardings of the results that reuse their memory.
        arguments: its arguments: arrays, or `jax.ShapeDtypeStruct` in their place.
        mesh: the mesh; of JAX, if the shardings are for `jax.jit`.
        hardware: the devices and links.
        memory: the memory of a device, in bytes or as a text: "80GB".
        in_shardings: the shardings of the arguments that are given: a tree like `arguments` or a
            prefix of it, with `sdy.AUTO` for those to find.
        out_shardings: the same for the result.
        objective: what is minimized: the time, or the bytes that a device sends.
        axes: the names of the axes that may be used.
        uneven: whether axes may shard dimensions that they don't divide; see `sdy.auto_shard`.
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
        timeout=timeout,
        gap=gap,
    )
    of_jax: Any = abstract_mesh(mesh) if isinstance(mesh, Mesh) else mesh

    def sharding_of(found: AxesPerDim | None) -> Any:
        dims = [tuple(axis.name for axis in dim) or None for dim in found or ()]
        spec = jax.sharding.PartitionSpec(*dims)
        return jax.sharding.NamedSharding(of_jax, spec)

    search, choice = plan.search, plan.choice
    static = {static_argnums} if isinstance(static_argnums, int) else {*static_argnums}
    dynamic = [each for at, each in enumerate(arguments) if at not in static]
    values = [each for each in search.arguments if not is_token(each.type)]
    flat = [sharding_of(search.axes_of(choice, value)) for value in values]
    trees = (tuple(dynamic), dict(kwargs or {}))
    given, _ = jax.tree.unflatten(jax.tree.structure(trees), flat)
    results = jax.eval_shape(function, *arguments, **(kwargs or {}))
    leaves, structure = jax.tree.flatten(results)
    axes_of_results = search.result_axes(choice)
    out = [sharding_of(axes_of_results.get(number)) for number in range(len(leaves))]
    return JaxShardings(plan, given, jax.tree.unflatten(structure, out))
