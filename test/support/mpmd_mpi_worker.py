# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One process of an MPI job that runs MPMD programs; started by `test_mpmd_mpi.py`.

    mpiexec -n 8 python mpmd_mpi_worker.py FOLDER CHECK=ARGUMENT ...

The folder has the program and its inputs. The first process prints what it has checked. A process
ends with the first error.
"""

import random
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError, error
from pyshardy.backends import CompileOptions
from pyshardy.backends.arrays.comparison import Difference, compare, tolerance_within
from pyshardy.backends.arrays.sharded_arrays import scatter
from pyshardy.backends.mpi_library import MpiGroup, mpi_library
from pyshardy.cost.hardware import Link, load_hardware
from pyshardy.local_program.errors import ExecutionError
from pyshardy.mpmd.execution import FragmentError
from pyshardy.mpmd.ranks import Messaging, RemoteError, execute_on_ranks
from pyshardy.program import PartitionedProgram

SLOW = replace(load_hardware("default"), between_meshes=Link(1e6, 0))
"""Hardware for which values are transferred in parts, which the devices gather."""

QUICK = CompileOptions(optimization=0)
"""The JIT takes longer to optimize a step than to run it."""


def arrays_of(file):
    with np.load(file) as arrays:
        return [arrays[name] for name in sorted(arrays)]


@cache
def prepared(folder, schedule="gpipe"):
    inputs = arrays_of(folder / "inputs.npz")
    module = sdy.parse(folder / "step.mlir", sdy.Context())
    return inputs, module, sdy.mpmd.partition(module, schedule=schedule, hardware=SLOW)


def check(folder, module, program, outputs):
    """Compare with the results of the unpartitioned program, by the rule of `sdy-run`."""
    tolerance = tolerance_within(module)
    files = (arrays_of(folder / f"{name}.npz") for name in ("expected", "moved"))
    for ours, wanted, noisy, port in zip(outputs, *files, program.outputs, strict=True):
        noise = compare(noisy, wanted, port.spec, tolerance).relative
        difference = compare(ours, wanted, port.spec, tolerance)
        assert Difference.with_noise(difference, noise).is_small, (port.name, difference, noise)


def run_schedules(folder, schedules):
    for schedule in schedules.split(","):
        inputs, module, program = prepared(folder, schedule)
        assert "gathered" in {each.way for each in program.transfers}
        check(folder, module, program, program.run(inputs, "mpi", QUICK))
        yield schedule


def run_orders(folder, count):
    """Random orders with few tags, and with messages that are sent when they are received."""
    MpiGroup.largest_tag = 2
    inputs, _, program = prepared(folder)
    programs = {name: each.program for name, each in program.fragments.items()}
    expected = program.run(inputs, "mpi", QUICK)
    for seed in range(int(count)):
        plan = replace(program.plan, steps=random_order(program.plan, random.Random(seed)))
        few = Messaging(most_open=1, prefetched=seed % 3, synchronous=True)
        found = execute_on_ranks(plan, programs, inputs, str(seed), QUICK, messaging=few)
        for one, other in zip(found.outputs, expected, strict=True):
            np.testing.assert_array_equal(one.gather(), other)
        yield f"order {seed}"


def random_order(plan, choices):
    """The steps in another order, in which values are made before they are used."""
    known, left, found = set(plan.inputs), list(plan.steps), []
    while left:
        ready = [each for each in left if known.issuperset(each.operands)]
        step = choices.choice(ready)
        left.remove(step)
        found.append(step)
        known.update(step.results)
    return tuple(found)


def run_loop(folder, steps):
    """Steps whose parameters, all but the last results, stay in the processes."""
    inputs, _, program = prepared(folder)
    count = len(program.outputs) - 1
    kept, whole = inputs[:count], inputs[:count]
    for _ in range(int(steps)):
        kept = program.run_sharded([*kept, *inputs[count:]], "mpi", QUICK)[:count]
        whole = program.run([*whole, *inputs[count:]], "mpi", QUICK)[:count]
    for ours, wanted in zip(kept, whole, strict=True):
        device = ours.parts.device
        if device is not None:
            right = scatter(wanted, ours.sharding, ours.mesh, ours.local_spec.shape)
            np.testing.assert_array_equal(ours.parts[device], right[device])
    yield "loop"


def run_mismatch(folder, rank):
    inputs, _, program = prepared(folder)
    text = str(mpi_library().rank < int(rank))
    with pytest.raises(UsageError, match=f"process {rank} has another program than process 0"):
        execute_on_ranks(program.plan, {}, inputs, text)
    yield "mismatch"


def run_failure(folder, ranks):
    """The forward fragment of microbatch 2 on m1 fails in some processes."""
    inputs, _, program = prepared(folder)
    own = [each for each in program.plan.calls if each.mesh == "m1"]
    place = next(at for at, each in enumerate(own) if (each.kind, each.counter) == ("F", 2))
    failing, calls = [int(each) for each in ranks.split("+")], []
    run_sharded = PartitionedProgram.run_sharded

    def run(self, *arguments):
        calls.append(self)
        if mpi_library().rank in failing and len(calls) == place + 1:
            raise ExecutionError(error("the fuse is blown"))
        return run_sharded(self, *arguments)

    PartitionedProgram.run_sharded = run
    start = time.monotonic()
    text = "of mesh m1 from .*layer.* in microbatch 2 failed: the fuse is blown"
    with pytest.raises(FragmentError, match=text) as failure:
        program.run(inputs, "mpi", QUICK)
    assert time.monotonic() - start < 10
    assert isinstance(failure.value, RemoteError) == (mpi_library().rank != failing[0])
    assert len(program.run(inputs, "mpi", QUICK)) == len(program.outputs)  # the job is usable again
    yield "failure"


ALL = run_schedules, run_orders, run_loop, run_mismatch, run_failure
CHECKS = {each.__name__: each for each in ALL}


def main():
    folder, *checks = sys.argv[1:]
    for each in checks:
        name, _, argument = each.partition("=")
        for right in CHECKS[f"run_{name}"](Path(folder), argument):
            if mpi_library().rank == 0:
                print("right:", right, flush=True)


if __name__ == "__main__":
    main()
