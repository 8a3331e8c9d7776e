# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing the results of propagation from the tables to the IR."""

from __future__ import annotations

from collections import defaultdict

from mlir_sdy import values as value_shardings
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding, TensorShardingPerValue
from mlir_sdy.values import COMPUTATIONS, OWN_SHARDING, SHARDING
from pyshardy.propagation.engine import Engine


def write_back(engine: Engine, cache: AttributeCache) -> None:
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
