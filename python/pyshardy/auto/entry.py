# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.auto_shard`: automatic sharding of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.diagnostics import UsageError, emit, error, warning, wrong_type
from mlir_sdy.model import Mesh
from mlir_sdy.model.mesh import MeshWithNames
from mlir_sdy.symbols import meshes_of
from pyshardy.any_program import Program, is_function, is_of_torch, module_of
from pyshardy.auto.plans.plan import Constraints, ShardingPlan
from pyshardy.auto.search.options import HIDE, Objective, SearchOptions, cost_model
from pyshardy.auto.search.program_search import Search
from pyshardy.auto.solvers.solver import ProgressCallback
from pyshardy.auto.strategies.costs import CostModel
from pyshardy.caching.store import CacheFolder, Store
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, report_hardware_of
from pyshardy.dynamic.plan import at_hints
from pyshardy.frontends.meshes import declare_meshes
from pyshardy.irtools.modules import copy_of
from pyshardy.pipelines.partition import Overlap
from pyshardy.sizes.signature import takes_sizes


def auto_shard(
    module: Program,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    mesh: Mesh | MeshWithNames | None = None,
    memory: float | str | None = None,
    objective: Objective = "time",
    axes: Sequence[str] | None = None,
    fixed: bool = True,
    uneven: bool = False,
    sub_axes: bool = False,
    once: bool = False,
    timeout: float = 60.0,
    gap: float = 0.01,
    solver: str = "combined",
    overlap: Overlap = "none",
    hide: float = HIDE,
    costs: CostModel | None = None,
    progress: ProgressCallback | None = None,
    cache: CacheFolder = None,
    hints: Mapping[str, int] | None = None,
) -> ShardingPlan:
    """Find the shardings of a program with the least cost, and prove how good they are.

        plan = sdy.auto_shard(module, memory="16GiB")
        print(plan)
        sdy.propagate(plan.module)

    The cost is the estimate of `sdy.explain`: the work of operations on shards, and the collectives
    of the partitioner; without overlap, if none is asked for.

    Args:
        module: a program in any form, which isn't changed.
        hardware: the devices and links: a preset, a TOML file, or a value; the default stands for
            an H100.
        mesh: the mesh, or one of JAX or PyTorch; needed if the program declares none.
        memory: the memory of a device, in bytes or as a text: "16GiB".
        objective: what is minimized: the time, or the bytes that a device sends.
        axes: the names of the axes that may be used; by default all of the mesh.
        fixed: whether shardings in the program are kept. Open dimensions may be sharded further.
        uneven: whether axes may shard dimensions that they don't divide. Shards are padded, and
            count with their padding. Arguments and results are always even.
        sub_axes: whether a part of an axis may shard a dimension that the whole one doesn't divide,
            such as 4 attention heads on an axis of 8. The rest of the axis may shard another
            dimension of the same operation.
        once: whether the program is called once, so that results needn't have the shardings of the
            arguments that they replace in the next call, such as the parameters of a training step.
        timeout: the seconds after which the search ends with the best plan so far.
        gap: the search ends when the plan is proven to be within this fraction of the optimum.
        solver: the solver: "highs", "message_passing", or "combined": HiGHS, and message passing
            for what is too large for it or isn't proven in time.
        overlap: what hides communication in the partitioned program, as for `partition`. If it
            isn't "none", communication that can run beside the computation of its loop, or of the
            program around loops, costs what this doesn't hide. The best plan, some that are nearly
            as good, and that without overlap are partitioned, and the fastest by the timeline is
            returned. The search and that without overlap have the time limit each.
        hide: the part of the computation of a loop, or of the program around loops, that can hide
            communication.
        costs: the cost of operations and collectives, in place of the objective.
        progress: called with the state of the search now and then.
        cache: a folder in which the solution is kept, and looked up if the program and all that it
            depends on are unchanged; as for `propagate`. Not used with `costs`.
        hints: for a program with dynamic sizes, values of its symbols, for which the plan is found,
            as for `propagate`. The program of the plan stays dynamic.

    Returns:
        The plan, with the annotated program.

    Raises:
        UsageError: the program has no mesh or no entry; there is no such hardware, axis or solver;
            no plan fits into the memory, or was found in time.
        WrongTypeError: it is no program, or one with arguments: see `sdy.jax.auto_shard` for
            functions, and `sdy.torch.auto_shard` for modules of PyTorch.
        MissingPackageError: HiGHS is missing: install the extra `auto`.
    """
    if is_function(module) or is_of_torch(module):
        raise wrong_type("auto_shard", "a program without arguments", module, _call_for(module))
    module = module_of("auto_shard", module)
    model = report_hardware_of(hardware)
    options = SearchOptions(
        memory=memory,
        axes=axes,
        fixed=fixed,
        uneven=uneven,
        sub_axes=sub_axes,
        once=once,
        gap=gap,
        timeout=timeout,
        solver=solver,
        overlap=overlap,
        hide=hide,
    )
    has_own_costs = costs is None
    if objective == "bytes" and not has_own_costs:
        raise UsageError(error("the objective 'bytes' has costs of its own: give no others"))
    costs = cost_model(objective, model) if costs is None else costs
    if mesh is not None:
        module = copy_of(module)
        declare_meshes(module, (), Mesh.of(mesh))
        declared = meshes_of(module).values()
        if Mesh.of(mesh).axes not in [each.axes for each in declared]:
            own = ", ".join(str(each) for each in declared if each.axes)
            raise UsageError(error(f"the program has another mesh than {Mesh.of(mesh)}: {own}"))
    dynamic = None
    if takes_sizes(module, {"hints": hints}):
        dynamic, module = at_hints(module, hints or {})
    search = Search(module, costs, options)
    for each in search.built.graph.replicated:
        emit(warning(f"{each} can't be computed on shards, and is replicated"))
    store = Store.at(cache) if has_own_costs else None
    given = Constraints(search, model, objective, store=store, dynamic=dynamic)
    return given.solve(progress=progress)


def _call_for(program: object) -> str:
    """Return the call that shards a function or a module of PyTorch."""
    if is_of_torch(program):
        return "use 'sdy.torch.auto_shard(module, *inputs, mesh=mesh)'"
    return "use 'sdy.jax.auto_shard(function, *arguments, mesh=mesh)'"
