# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Portable artifacts go between this project, JAX and XLA."""

import random
import re
from pathlib import Path

import jax_devices  # noqa: F401 (before JAX looks for devices)
import pytest
from import_programs import random_import_module_with_calls
from jax._src.interpreters.mlir import make_ir_context
from jax._src.lib import _jax
from jaxlib.mlir import ir as ir_of_jax
from manual_programs import random_manual_program
from programs import random_module_with_calls

import pyshardy as sdy
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import compare, random_inputs
from pyshardy.backends.xla.program import XlaProgram
from pyshardy.frontends.files import Kind, dump, load
from pyshardy.local_program.process_groups import Layout
from pyshardy.program import partition

CORPUS = Path(__file__).parents[1] / "corpus" / "mlir"
PROGRAMS = (
    "shard_map_full",
    "shard_map_in_scan",
    "shard_map_nested",
    "shard_map_partial_with_constraint",
    "shard_alike_values",
    "transformer_constraints",
    "uneven_matmul",
)
VERSION = "1.15.0"
_VALUE = re.compile(r"%[\w#]+")


def corpus(name, context):
    return sdy.parse(CORPUS / f"{name}.mlir", context)


def of_sdy(module, context):
    """What is sdy's in a module, as an artifact has it, whatever values are called.

    Artifacts leave out what is the default, and JAX moves constants first.
    """
    text = sdy.asm(load(dump(module, Kind.PORTABLE), context))
    return sorted(_VALUE.sub("%", line) for line in text.splitlines() if "sdy." in line)


def written_by_jax(text, *, with_sdy):
    """What `jax.export` writes for a program: sdy is in strings, or in binary form."""
    with make_ir_context():
        module = ir_of_jax.Module.parse(text)
        return _jax.mlir.serialize_portable_artifact(module, VERSION, with_sdy)


@pytest.mark.parametrize("with_sdy", [False, True], ids=["strings", "binary"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_jax_writes_is_read(name, with_sdy, context):
    module = corpus(name, context)
    again = load(written_by_jax(sdy.asm(module), with_sdy=with_sdy), context)
    assert of_sdy(again, context) == of_sdy(module, context)


@pytest.mark.parametrize("name", PROGRAMS)
def test_xla_finds_the_shardings(name, context):
    """XLA partitions by the strings, and gets what we get, in the shards that we get."""
    module = corpus(name, context)
    artifact = dump(module, Kind.PORTABLE, VERSION)
    propagate(module)
    program = partition(module)
    inputs = random_inputs([port.spec for port in program.inputs], seed=0)
    specs = [[port.local_spec for port in ports] for ports in (program.inputs, program.outputs)]
    layout = Layout(1, program.mesh.total_size)
    theirs = XlaProgram(artifact, *specs, layout, partitioned_by_xla=True)
    expected = program.gather(theirs.run(program.scatter(inputs)))
    for port, ours, wanted in zip(
        program.outputs, program.run(inputs, backend="xla"), expected, strict=True
    ):
        assert compare(ours, wanted, port.spec, 1e-4).is_small, port.name


# Those of users have no reshards.
MANUAL_PROGRAMS = [
    text
    for seed in range(40)
    if "sdy.reshard" not in (text := random_manual_program(random.Random(seed))[0])
]
RANDOM = {
    "calls": random_module_with_calls,
    "shardings": random_import_module_with_calls,
    "manual": lambda seed: MANUAL_PROGRAMS[seed],
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", RANDOM)
def test_random_programs_come_back(kind, seed, context):
    module = sdy.parse(RANDOM[kind](seed), context)
    assert sdy.asm(load(dump(module, Kind.PORTABLE, VERSION), context)) == sdy.asm(module)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.mlir"))[::6], ids=lambda path: path.stem)
def test_a_second_way_changes_nothing(path, context):
    once = load(dump(sdy.parse(path, context), Kind.PORTABLE, VERSION), context)
    twice = load(dump(once, Kind.PORTABLE, VERSION), context)
    assert sdy.asm(twice) == sdy.asm(once)
    original = sdy.asm(sdy.parse(path, context))
    for word in ("sdy.sharding =", "sdy.sharding_constraint", "sdy.manual_computation"):
        assert sdy.asm(once).count(word) == original.count(word)
