# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The corpus with a symbolic dimension: the plan of the hint, and right numbers at other sizes."""

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import pytest
from case_counts import cases, spread
from corpus_programs import OPTIONS
from dynamic_programs import filled
from symbolic_corpus import SYMBOLIC, assert_close, expected, inputs_of, traced

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError, collect
from mlir_sdy.traversal import SCALAR_BODIES, operations_in
from mlir_sdy.values import result_shardings_of
from pyshardy.sizes.signature import entry_of
from pyshardy.sizes.static_program import static_at

BACKENDS = ("interpreter", "jit", "xla", "iree")


def shardings_of(module):
    """Return the names, types and shardings of operations that are used, and those of reshards.

    Without constants, which propagation merges at its end, and bodies of scalars.
    """
    found = {
        (each.name, tuple(str(result.type) for result in each.results), result_shardings_of(each))
        for each in operations_in(entry_of(module), leaving_out=SCALAR_BODIES)
        if not each.name.endswith("constant") and any(list(result.uses) for result in each.results)
    }
    reshards = {each for each in found if each[0].endswith("reshard")}
    return found - reshards, reshards


@pytest.mark.parametrize("name", spread([*SYMBOLIC], 4))
def test_the_plan_of_the_hint(name):
    for hint in (64, 8, 24)[: cases(1)]:
        module = traced(name)
        same = static_at(module, {"b": hint})
        with collect():
            sdy.propagate(module, hints={"b": hint})
            sdy.propagate(same)
            program = sdy.partition(module)
        (found, reshards), (wanted, more) = map(shardings_of, (program.static(b=hint), same))
        assert found == wanted
        assert reshards <= more  # which has those that propagation inserts, too


@pytest.mark.timeout(1800)  # a training step took 13 minutes on a busy machine
@pytest.mark.parametrize("name", spread([*SYMBOLIC], 3))
def test_numbers_at_other_sizes(name):
    module = traced(name)
    with collect():
        sdy.propagate(module, hints={"b": 16})
        program = sdy.partition(module)
    plan = sdy.asm(module)
    rounding = 0.05 if "bf16" in plan else 1e-4
    for size in (12, 8, 4, 20, 24)[: cases(1)]:
        inputs = inputs_of(name, program.input_specs(b=size), size)
        wanted = expected(name, size, inputs)
        for backend in BACKENDS[: cases(1)]:
            with collect():
                assert_close(program.run(inputs, backend, OPTIONS), wanted, rounding)
    assert sdy.asm(module) == plan  # found once


PADDED = """
stencil convnet_batch convnet_spatial convnet_features unet_step cholesky_solve op_cholesky
shard_map_full shard_map_partial shard_map_partial_with_constraint shard_map_ring_attention
shard_map_all_to_all shard_map_gather_scatter shard_map_nested shard_map_in_scan
""".split()  # noqa: SIM905 (a list would be taller than the screen)
"""Programs with results that depend on padding: kernels, positions, and calls."""


@pytest.mark.parametrize("name", spread([*SYMBOLIC], 2))
def test_programs_for_capacities(name):
    try:
        (size,) = jax.export.symbolic_shape("b", constraints=["b <= 64"])
        module, sizes = traced(name, size), (5, 1, 17, 3, 9)
    except Exception:  # JAX can't tell that sizes are equal, or multiples
        module, sizes = traced(name), (12, 4, 16, 8)
    with collect():
        sdy.propagate(module, hints={"b": 16})
        if name in PADDED:
            with pytest.raises(UsageError, match=r"\d: error: .* op .* 'buckets'"):
                sdy.partition(module, buckets="pow2")
            return
        program = sdy.partition(module, buckets="pow2")
    rounding = 0.05 if "bf16" in sdy.asm(module) else 1e-3
    made = set()
    for number in sizes[: cases(1)]:
        inputs = inputs_of(name, program.input_specs(b=number), number)
        capacity = program.at(b=number)
        made.add(id(capacity))
        with collect():
            found = capacity.run(filled(capacity, inputs, {"b": number}), "jit", OPTIONS)
            wanted = expected(name, number, inputs)
        cut = (
            one[tuple(map(slice, other.shape))] for one, other in zip(found, wanted, strict=True)
        )
        assert_close(cut, wanted, rounding)
    assert len(made) <= 5
