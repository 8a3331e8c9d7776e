# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of fragments under each schedule, compared with C++ Shardy."""

import pytest
from case_counts import spread
from mpmd_programs import training

from mlir_sdy.assembly import asm, parse
from mlir_sdy.mpmd.reading import FRAGMENT, body_of, mesh_name_of, operations_of
from pyshardy.pipeline import run_pipeline

SCHEDULES = {
    "GPipe": False,
    "1F1B": False,
    "GPipeBut1F1BForLastMesh": False,
    "ZeroBubbleH1": True,
    "ZeroBubbleH2ZeroTxLatency": True,
    "ZeroBubbleH2FullTxLatency": True,
}
"""The schedules, and whether they are for split backward fragments."""

PIPELINES = [(2, 4), (3, 4), (2, 2), (3, 7), (4, 8), (3, 2), (4, 4), (2, 8)]


def order_of(text, context):
    """The fragments of each mesh: origins, call counter and which half."""
    module = parse(text, context)
    main = next(
        each.operation
        for each in module.body.operations
        if each.attributes["sym_name"].value == "main"
    )
    found = {}
    for operation in operations_of(body_of(main)):
        if operation.name == FRAGMENT:
            marks = [name for name in operation.attributes if name.startswith("split_")]
            counter = operation.attributes.get("call_counter")
            origin = str(operation.attributes["origin"])
            found.setdefault(mesh_name_of(operation), []).append((origin, str(counter), *marks))
    return found


CASES = [(name, *numbers) for name in SCHEDULES for numbers in PIPELINES]


@pytest.mark.parametrize(("name", "meshes", "microbatches"), spread(CASES, 6))
@pytest.mark.shardy_since(0, 12)
def test_orders(name, meshes, microbatches, shardy, context):
    # Ours are complete orders, which have fewer gaps.
    exact = name.startswith("ZeroBubbleH2") or microbatches < meshes
    program = training(meshes, microbatches, split=SCHEDULES[name])
    check(program, name, exact, shardy, context)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("meshes", "microbatches"), [(2, 4), (2, 3)])
@pytest.mark.shardy_since(0, 12)
def test_several_stages_on_a_mesh(meshes, microbatches, exact, shardy, context):
    program = training(2 * meshes, microbatches, meshes=meshes, split=False)
    check(program, "Circular", exact, shardy, context)


def optimized_by(shardy, program, options):
    """Return the text of a program that C++ Shardy has imported and optimized."""
    return shardy.on_meshes(
        program.text,
        "IMPORT|OPTIMIZE",
        topology=program.topology,
        assignment=program.assignment,
        options=program.options | options,
    )


def check(program, name, exact, shardy, context):
    """Compare the fragments of each mesh with those of C++ Shardy, in their order."""
    theirs = optimized_by(shardy, program, {"mpmd_pipeline_schedule": name})
    module = parse(program.with_topology, context)
    scheduler = f"mpmd-pipeline-scheduler{{must-happen-before={name} exact={str(exact).lower()}}}"
    run_pipeline(module, f"{program.pipeline},{scheduler}")
    assert order_of(str(module), context) == order_of(theirs, context)


@pytest.mark.parametrize("name", ["1F1B", "GPipe"])
@pytest.mark.shardy_since(0, 12)
def test_fragments_that_are_computed_again(name, shardy, context):
    program = training(2, 4, split=False)
    options = {"mpmd_pipeline_schedule": name, "mpmd_fragment_remat": True}
    theirs = optimized_by(shardy, program, options)
    module = parse(program.with_topology, context)
    optimizing = f"mpmd-optimize-pipeline{{pipeline-schedule={name} fragment-remat=true}}"
    run_pipeline(module, f"{program.pipeline},{optimizing}")
    assert asm(module) == asm(parse(theirs, context))
