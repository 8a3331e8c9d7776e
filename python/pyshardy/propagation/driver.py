# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver shared by the passes in `passes/propagating`: checks, runs, and results in the IR.

The passes differ in the number of layers of the hierarchy that they use:

    user priorities  >  operation priorities  >  a list of strategies  >  runs of the driver

where each layer calls the one below once or more.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir_sdy import values as value_shardings
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import Diagnostic, PassError, emit, error, note, warning
from mlir_sdy.discardable import get_discardable, has_discardable, set_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import DimensionSharding, Mesh, TensorSharding, TensorShardingPerValue, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import (
    ASYNC_DONE,
    ASYNC_START,
    COMPUTATIONS,
    DATA_FLOW_OPERATIONS,
    OWN_SHARDING,
    SHARDING,
)
from pyshardy.irtools.analyses import OF_INTERFACE, UNKNOWN, Changes, note_analysis
from pyshardy.irtools.modules import save_module
from pyshardy.irtools.shardings import ResultKind, ResultKinds
from pyshardy.irtools.tensor_types import is_bounded
from pyshardy.propagation.aggressive import propagate_aggressive
from pyshardy.propagation.basic import Strategy, propagate_basic
from pyshardy.propagation.debugging.debug_info import PropagationEdgesRecorder, ShardingOrigins
from pyshardy.propagation.engine import Engine, Run, StepChange
from pyshardy.propagation.groups import synchronize_groups
from pyshardy.propagation.observer import Observer, current_observers
from pyshardy.propagation.op_priority import NUM_PRIORITIES
from pyshardy.propagation.options import PriorityOptions, PropagationSettings, StrategyName
from pyshardy.propagation.program import Program
from pyshardy.propagation.relation import ALL_PRIORITIES, RelationReader
from pyshardy.propagation.rule_attributes import drop_rules, keep_rules
from pyshardy.rules import ShardingRuleLookup

STRATEGIES: dict[StrategyName, tuple[Strategy, ...]] = {
    "aggressive": (propagate_aggressive,),
    "basic": (propagate_basic,),
    "basic-then-aggressive": (propagate_basic, propagate_aggressive),
}
"""The strategies of each choice of `propagation-strategy`, run one after the other."""

_CALL = "func.call"
_READ_IN_IR = frozenset(
    {ASYNC_DONE, ASYNC_START, *COMPUTATIONS, *DATA_FLOW_OPERATIONS, *OWN_SHARDING}
)
"""The operations whose results may have their shardings in other slots, or other attributes."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Sequence of the runs of the driver.

    Attributes:
        strategies: the strategies that run at each operation priority, one after the other.
        by_operation: whether operations have priorities.
        by_user: whether dimensions have the priorities that the user gave them.
    """

    strategies: tuple[Strategy, ...]
    by_operation: bool = False
    by_user: bool = False

    @classmethod
    def of(cls, options: PriorityOptions, *, by_user: bool = False) -> Hierarchy:
        """Return the sequence for a pass with priorities."""
        strategies = STRATEGIES[options.propagation_strategy]
        return cls(strategies, options.run_op_priority_propagation, by_user)

    def run(self, engine: Engine, before_next: Callable[[int], None] | None = None) -> None:
        """Propagate.

        Args:
            engine: the shardings of the program.
            before_next: called before each user priority but the first, with the previous one.
        """

        def run(user_priority: int) -> None:
            for priority in range(0 if self.by_operation else ALL_PRIORITIES, NUM_PRIORITIES):
                for strategy in self.strategies:
                    engine.run(Run(strategy, priority, user_priority))

        if self.by_user:
            run_by_user_priority(engine, run, before_next)
        else:
            run(0)


def propagate(
    module: ir.Module,
    hierarchy: Hierarchy,
    options: PropagationSettings,
    observers: Sequence[Observer] = (),
) -> Changes:
    """Propagate the shardings of a module.

    Args:
        module: the module, which is changed in place.
        hierarchy: the sequence of the runs of the driver.
        options: the options of all passes.
        observers: observers of each step, in addition to those of `observed_by`.

    Returns:
        What has changed, for the analyses of a pipeline.

    Raises:
        PassError: a value has a type that propagation does not support, a rule does not fit its
            operation, or none of several functions is called `main`.
    """
    engine = _engine(module, options)
    cache = AttributeCache(module.context)
    listening = [*observers, *current_observers()]
    if options.debug_sharding_origins:
        listening.append(ShardingOrigins(compatible=options.compatible))
    if options.debug_propagation_edge_sharding:
        listening.append(PropagationEdgesRecorder(cache, compatible=options.compatible))

    def on_change(change: StepChange) -> None:
        for observer in listening:
            observer.on_step(change)

    if listening:
        engine.on_change = on_change

    def write() -> None:
        _write_back(engine, cache)
        if options.keep_sharding_rules:
            keep_rules(engine.live_operations(), engine.relations, cache)

    for observer in listening:
        observer.on_start(engine)
    hierarchy.run(engine, _dump_before(module, write, options))
    for observer in listening:
        observer.on_end(engine)
    write()
    if not options.keep_sharding_rules:
        _drop_given_rules(engine)
    if engine.program.inner_modules:  # whose operations are in no table
        return UNKNOWN
    note_analysis("result-kinds", module.operation, _result_kinds(engine, cache))
    has_rules = options.keep_sharding_rules or bool(engine.program.with_own_rule)
    note_analysis("sharding-rules", module.operation, has_rules)
    constraints = {"sdy.sharding_constraint"} if engine.program.groups else set[str]()  # of members
    return Changes(constraints, OF_INTERFACE)


def _engine(module: ir.Module, options: PropagationSettings) -> Engine:
    lookup = ShardingRuleLookup(
        conservative=options.conservative_propagation, compatible=options.compatible
    )
    program = Program(module, lookup)
    _warn_of_inner_modules(program)
    _check_types(program, lookup)
    if program.groups and synchronize_groups(program):
        program = Program(module, lookup)
    return Engine(program, RelationReader(program, lookup))


def _drop_given_rules(engine: Engine) -> None:
    """Remove the rules that operations came with."""
    with_rule = engine.program.with_own_rule
    if with_rule:
        drop_rules(
            operation for number, operation in engine.live_operations() if number in with_rule
        )


def _warn_of_inner_modules(program: Program) -> None:
    for inner in program.inner_modules:
        if meshes_of(inner):
            message = (
                "'builtin.module' op inside of a module is a program of its own, whose shardings "
                "are not propagated with those around it"
            )
            emit(warning(message, location_of(inner.location)))


def _dump_before(
    module: ir.Module, write: Callable[[], None], options: PropagationSettings
) -> Callable[[int], None] | None:
    """Return a callback that saves the module before the next user priority, or None."""
    if not options.module_dump_directory:
        return None
    numbers = itertools.count(options.module_dump_index)

    def dump(done: int) -> None:
        write()
        save_module(
            module,
            directory=options.module_dump_directory,
            name=f"propagation_after_user_priority_{done}",
            index=next(numbers),
        )

    return dump


# --- Types that are not supported ----------------------------------------------------------------


def _check_types(program: Program, lookup: ShardingRuleLookup) -> None:
    """Check that the results of all operations have static shapes, or bounds, and are not tuples.

    Arguments of functions may have any type.

    Raises:
        PassError: a result has an unsupported type; reports the first such operation.
    """
    doubtful = {
        key
        for key in set(program.types[1:])
        if (tensor := lookup.tensor_type(key)) is None or not tensor.is_static
    }
    if not doubtful:
        return
    types = program.types
    for operation, results in zip(program.operations, program.results, strict=True):
        for value in results:
            if types[value] not in doubtful:
                continue
            value_type = operation.results[value - results.start].type
            if lookup.compatible or not is_bounded(value_type):  # without a rule, if bounded
                _check(operation, value_type)


def _check(operation: ir.Operation, value_type: ir.Type) -> None:
    if isinstance(value_type, ir.TupleType):
        problem = "Shardy propagation doesn't support tuples: "
    elif isinstance(value_type, ir.ShapedType) and not (
        value_type.has_rank and value_type.has_static_shape
    ):
        problem = "Shardy propagation only supports ranked tensors with a static shape. type: "
    else:
        return
    notes: tuple[Diagnostic, ...] = ()
    if isinstance(value_type, ir.RankedTensorType):
        advice = "'sdy.propagate' or --sdy-propagation-pipeline finds one plan for all sizes"
        notes = (note(f"{advice}; --sdy-dynamic-to-static=sizes=NAME:N makes it static"),)
    raise PassError(error(f"{problem}'{value_type}'", location_of(operation.location), notes))


# --- Results -------------------------------------------------------------------------------------


def _write_back(engine: Engine, cache: AttributeCache) -> None:
    """Erase the operations that are dead, and write each sharding that changed."""
    program = engine.program
    for operation in engine.erased[engine.num_erased_in_ir :]:
        program.operations[operation].erase()
    engine.num_erased_in_ir = len(engine.erased)
    gone = {
        inner for operation in engine.erased for inner in (operation, *program.inside(operation))
    }
    results: defaultdict[int, dict[int, TensorSharding]] = defaultdict(dict)
    arguments: defaultdict[int, dict[int, TensorSharding]] = defaultdict(dict)
    function_results: defaultdict[int, dict[int, TensorSharding]] = defaultdict(dict)
    per_value: dict[int, ir.Attribute] = {}
    for slot, (before, number) in enumerate(zip(engine.written_state, engine.state, strict=True)):
        if before == number:
            continue
        sharding = engine.table[number]
        maker = program.makers[slot]
        if sharding is None or maker in gone:
            continue
        if program.is_result_of_function(slot):
            index = program.function_results[maker].index(slot)
            function_results[maker][index] = sharding
            continue
        made = program.results[maker]
        if slot not in made:
            arguments[maker][program.arguments[maker].index(slot)] = sharding
        elif (
            len(made) > 1 or (name := program.names[maker]) in OWN_SHARDING or name in COMPUTATIONS
        ):
            results[maker][made.index(slot)] = sharding
        else:
            attribute = per_value.get(number)
            if attribute is None:
                attribute = per_value[number] = cache[TensorShardingPerValue((sharding,))]
            set_discardable(program.operations[maker], SHARDING, attribute)
    for maker, shardings in results.items():
        value_shardings.set_result_shardings_of(program.operations[maker], shardings, cache)
    for maker, shardings in arguments.items():
        if program.names[maker] == "func.func":
            value_shardings.set_argument_shardings(program.operations[maker], shardings, cache)
        else:
            value_shardings.set_body_argument_shardings(program.operations[maker], shardings, cache)
    for function, shardings in function_results.items():
        value_shardings.set_result_shardings(program.operations[function], shardings, cache)
    engine.written_state = list(engine.state)


def _result_kinds(engine: Engine, cache: AttributeCache) -> ResultKinds:
    """Return the analysis `result-kinds` of the module.

    Args:
        engine: the engine, after its results have been written to the IR.
        cache: makes attributes.
    """
    program = engine.program
    types, state = program.types, engine.state
    read: list[ir.Operation] = []
    simple: dict[tuple[int, int], ir.Operation] = {}
    rows = zip(program.results, program.names, engine.is_erased, program.operations, strict=True)
    for made, name, is_erased, operation in rows:
        if is_erased or name == _CALL:
            continue
        if len(made) == 1 and name not in _READ_IN_IR:
            slot = made.start
            simple.setdefault((state[slot], types[slot]), operation)
        elif has_discardable(operation, SHARDING):
            read.append(operation)
    found = {ResultKind.of(each, get_discardable(each, SHARDING)): None for each in read}
    for (number, _), operation in simple.items():
        sharding = engine.table[number]
        if sharding is not None:
            attribute = cache[TensorShardingPerValue((sharding,))]
            found[ResultKind.of(operation, attribute)] = None
    return ResultKinds(found)


# --- User priorities ------------------------------------------------------------------------------

# 1. Every sharding with priorities is hidden (`hidden`): its dimensions of a priority above 0 have
#    no axes and are closed, and their axes are replicated, so that no other dimension takes them.
# 2. Propagate.
# 3. For each priority that occurs, in order: restore the dimensions of that priority (`restored`)
#    in the propagated shardings, and propagate.
#
# No priorities are left afterwards.


_HIDDEN = DimensionSharding(is_closed=True)


def hidden(sharding: TensorSharding, mesh: Mesh) -> TensorSharding:
    """Return the sharding with only its dimensions of priority 0, without priorities.

    The axes of the other dimensions are added to the replicated ones, in the order of the mesh.

    On a mesh `<["x"=2, "y"=2]>`, `<@m, [{"y"}p1, {"x", ?}p0]>` becomes
    `<@m, [{}, {"x", ?}], replicated={"y"}>`.
    """
    dims = tuple(
        _without_priority(dim) if dim.effective_priority == 0 else _HIDDEN
        for dim in sharding.dim_shardings
    )
    axes = [
        axis for dim in sharding.dim_shardings if dim.effective_priority > 0 for axis in dim.axes
    ]
    replicated = sorted((*sharding.replicated_axes, *axes), key=mesh.sort_key)
    return sharding.with_dims(dims).with_replicated_axes(tuple(replicated))


def restored(current: TensorSharding, original: TensorSharding, priority: int) -> TensorSharding:
    """Restore the dimensions of one priority of the original in a propagated sharding.

    The axes of these dimensions are no longer replicated.

    With an original `<@m, [{"y"}p1, {"x", ?}]>`, at priority 1 `<@m, [{}, {"x", "z", ?}],
    replicated={"y"}>` becomes `<@m, [{"y"}, {"x", "z", ?}]>`.
    """
    dims = list(current.dim_shardings)
    restored_axes = set[object]()
    for index, dim in enumerate(original.dim_shardings):
        if dim.effective_priority == priority:
            dims[index] = _without_priority(dim)
            restored_axes.update(dim.axes)
    replicated = tuple(axis for axis in current.replicated_axes if axis not in restored_axes)
    return current.with_dims(tuple(dims)).with_replicated_axes(replicated)


def run_by_user_priority(
    engine: Engine, run: Callable[[int], None], before_next: Callable[[int], None] | None = None
) -> None:
    """Call `run` for each priority that occurs, with the dimensions up to it visible.

    Args:
        engine: the shardings of the program.
        run: propagates; called with the priority.
        before_next: called before each priority but the first, with the previous one.
    """
    places = _hide(engine)
    run(0)
    done = 0
    for priority in sorted(places):
        if before_next is not None:
            before_next(done)
        for slot, original in places[priority]:
            current = engine.sharding(slot)
            if current is not None:
                engine.set_sharding(slot, restored(current, original, priority))
        run(priority)
        done = priority


def _hide(engine: Engine) -> dict[int, list[tuple[int, TensorSharding]]]:
    """Hide all shardings with priorities; return the slots of each priority."""
    places: defaultdict[int, list[tuple[int, TensorSharding]]] = defaultdict(list)
    meshes = engine.program.meshes
    for slot, sharding in engine.given_shardings():
        if all(dim.priority is None for dim in sharding.dim_shardings):
            continue
        mesh = mesh_of(sharding, meshes)
        if mesh is None:
            continue
        engine.set_sharding(slot, hidden(sharding, mesh))
        for priority in {dim.effective_priority for dim in sharding.dim_shardings} - {0}:
            places[priority].append((slot, sharding))
    return places


def _without_priority(dim: DimensionSharding) -> DimensionSharding:
    return DimensionSharding(dim.axes, dim.is_closed)
