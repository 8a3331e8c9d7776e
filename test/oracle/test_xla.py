# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA compiles partitioned programs, and gets the numbers of the unpartitioned ones."""

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from partition_cases import CONTROL_FLOW, PRELUDE, localised
from programs import ProgramWriter, random_module_with_calls

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.model import Mesh, MeshAxis, device_slices
from pyshardy.api import propagate
from pyshardy.backends.comparison import compare
from pyshardy.backends.random_inputs import random_inputs
from pyshardy.backends.xla_text import text_for_xla
from pyshardy.program import PartitionedProgram, Port, partition, run_unpartitioned

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.mlir"))
WORKER = Path(__file__).with_name("xla_worker.py")


class Writer(ProgramWriter):
    """Writes operations that are exact on whole numbers."""

    sizes = (8, 16)
    unary_operations = ("negate", "abs", "floor")
    binary_operations = ("add", "multiply", "maximum", "subtract")


MESHES = (
    Mesh((MeshAxis("a", 2), MeshAxis("b", 4))),
    Mesh((MeshAxis("a", 2), MeshAxis("b", 2)), (2, 0, 3, 1)),
)
PROGRAMS = {
    **{path.stem: path.read_text() for path in EXAMPLES},
    **{
        f"random {seed}": random_module_with_calls(seed, meshes=MESHES, writer_class=Writer)
        for seed in (11, 13, 16, 18, 20, 21, 26)
    },
    **{name: PRELUDE + text for name, text in CONTROL_FLOW.items()},
}
AS_REPLICAS = (*(path.stem for path in EXAMPLES), "while", "reshards of users", "sub-axes")
CASES = [
    *((name, False) for name in PROGRAMS),
    *((name, True) for name in AS_REPLICAS),
]


@dataclass
class Case:
    """A partitioned program, what XLA made of it, and what the program should compute.

    Attributes:
        program: the partitioned program.
        expected: its global results.
        found: the results, each by device.
    """

    program: PartitionedProgram
    expected: list[np.ndarray]
    found: list[list[np.ndarray]]


def parts_of(array: np.ndarray, port: Port) -> list[np.ndarray]:
    """What each device holds of an argument or a result, by the definition of shardings."""
    devices = range(port.mesh.total_size)
    if port.sharding is None:
        return [array for _ in devices]
    slices = device_slices(port.sharding, port.mesh, array.shape)
    return [array[slices[device]] for device in devices]


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, bool], Case]:
    """All programs after one run of the child process."""
    context = Context()
    programs: list[PartitionedProgram] = []
    expected: list[list[np.ndarray]] = []
    requests: list[dict[str, object]] = []
    for name, replicas in CASES:
        module = parse(PROGRAMS[name], context)
        propagate(module)
        program = partition(module)
        inputs = random_inputs([port.spec for port in program.inputs], seed=0)
        if name.startswith("random"):
            inputs = [np.trunc(3 * array) for array in inputs]
        count = program.mesh.total_size
        if replicas:
            text = asm(localised(module, f"replica-count={count}"))
        else:
            text = text_for_xla(program.module)
        programs.append(program)
        expected.append(run_unpartitioned(module, inputs))
        requests.append(
            {
                "text": text,
                "arguments": list(map(parts_of, inputs, program.inputs)),
                "count": count,
                "replicas": replicas,
            }
        )
    child = subprocess.run(
        [sys.executable, str(WORKER)],
        env=os.environ
        | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"},
        input=pickle.dumps(requests),
        stdout=subprocess.PIPE,
        check=True,
    )
    answers = pickle.loads(child.stdout)
    cases = map(Case, programs, expected, answers)
    return dict(zip(CASES, cases, strict=True))


@pytest.mark.parametrize(
    "key", CASES, ids=lambda key: f"{key[0]} by {'replicas' if key[1] else 'partitions'}"
)
def test_xla(outcomes, key):
    case = outcomes[key]
    for port, wanted, found in zip(case.program.outputs, case.expected, case.found, strict=True):
        for device, part in enumerate(parts_of(wanted, port)):
            assert found[device].shape == part.shape
            assert compare(found[device], part, port.spec).is_small, (port.name, device)
