# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What both dialects can say survives the way from sdy to shard and back."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import ProgramWriter, random_module_with_calls, random_sharding, tensor

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.api import propagate
from pyshardy.pipeline import PipelineError, run_pipeline

CONTEXT = Context()
MESHES = (
    Mesh((MeshAxis("a", 2), MeshAxis("b", 2), MeshAxis("c", 4))),
    Mesh((MeshAxis("p", 8), MeshAxis("q", 3), MeshAxis("r", 2))),
    Mesh((MeshAxis("z", 4),)),
)
UNEVEN = re.compile("does not divide .* evenly, and is along several axes of the grid")


def there_and_back(text):
    """The text before and after; None if a dimension is cut as no grid can."""
    module = parse(text, CONTEXT)
    before = asm(module)
    try:
        run_pipeline(module, "convert-sdy-to-shard")
    except PipelineError as failure:
        if not UNEVEN.search(str(failure)):
            raise
        return None
    between = asm(module)
    assert "sdy.mesh" not in between
    assert "sdy.sharding =" not in between
    again = parse(between, CONTEXT)
    run_pipeline(again, "convert-shard-to-sdy")
    return before, asm(again)


def sharded(rng, shape, mesh):
    """A closed sharding without replicated axes: what an annotation can say."""
    sharding = random_sharding(rng, len(shape), mesh, "mesh")
    return sharding.closed_like().with_replicated_axes(())


def annotated_program(rng):
    """One value, on which everything is that a sharding can be on."""
    mesh = rng.choice(MESHES)
    shape = tuple(rng.choice((1, 6, 7, 16, 48)) for _ in range(rng.randint(0, 3)))
    kind = tensor(shape)
    lines = []
    value, number = "%a", 0
    for _ in range(rng.randint(1, 6)):
        name = f"%{number}"
        number += 1
        match rng.choice(("operation", "constraint", "reshard", "unused constraint")):
            case "operation":
                held = f"#sdy.sharding_per_value<[{sharded(rng, shape, mesh)}]>"
                attribute = f" {{sdy.sharding = {held}}}" if rng.random() < 0.7 else ""
                lines.append(f"{name} = stablehlo.add {value}, %a{attribute} : {kind}")
                value = name
            case "unused constraint":
                # It is about what makes its operand, so that is where it goes.
                lines.append(f"{name} = stablehlo.abs {value} : {kind}")
                constraint = sharded(rng, shape, mesh)
                lines.append(f"%{number} = sdy.sharding_constraint {name} {constraint} : {kind}")
                value, number = name, number + 1
            case operation:
                full_name = "sharding_constraint" if operation == "constraint" else operation
                lines.append(
                    f"{name} = sdy.{full_name} {value} {sharded(rng, shape, mesh)} : {kind}"
                )
                value = name
    argument = f" {{sdy.sharding = #sdy.sharding{sharded(rng, shape, mesh)}}}"
    result = f" {{sdy.sharding = #sdy.sharding{sharded(rng, shape, mesh)}}}"
    body = "\n  ".join(lines)
    return f"""
sdy.mesh @mesh = {mesh}
func.func @main(%a: {kind}{argument if rng.random() < 0.7 else ""})
    -> ({kind}{result if rng.random() < 0.7 else ""}) {{
  {body}
  return {value} : {kind}
}}
"""


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_annotations(rng):
    found = there_and_back(annotated_program(rng))
    if found is not None:
        before, after = found
        assert after == before


class Writer(ProgramWriter):
    """Writes programs whose dimensions divide."""

    sizes = (16, 32, 96)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 6, 7, 8, 10])
def test_propagated_programs(seed):
    module = parse(random_module_with_calls(seed, meshes=MESHES, writer_class=Writer), CONTEXT)
    propagate(module)
    cleaned = (
        "sdy-lift-inlined-meshes,sdy-close-shardings,func.func(sdy-remove-propagation-barriers)"
    )
    run_pipeline(module, cleaned)
    text = asm(module).replace("sdy.constant", "stablehlo.constant")
    before, after = there_and_back(text)
    assert after == before


def test_the_cases_are_not_mostly_refused():
    cases = [there_and_back(annotated_program(random.Random(seed))) for seed in range(60)]
    assert sum(case is not None for case in cases) > 20
