# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transfers between layouts bring each element to each device that needs it, once."""

import random

import numpy as np
import pytest
from case_counts import spread

from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, TensorSharding
from pyshardy.backends.arrays.sharded_arrays import parts_of
from pyshardy.local_program.tensor_spec import TensorSpec
from pyshardy.mpmd.boxes import placed, plan_of, read, write
from pyshardy.program_interface import Port


def layout(choices, spec):
    """A random mesh of up to 12 devices, and a sharding of a tensor along some of its axes."""
    mesh = Mesh.of({name: choices.choice([1, 2, 3, 4]) for name in "xy"[: choices.randint(1, 2)]})
    axes = [axis.name for axis in mesh.axes]
    choices.shuffle(axes)
    dims = [[] for _ in spec.shape]
    for axis in axes:
        if choices.random() < 0.7:
            choices.choice(dims).append(AxisRef(axis))
    sharding = TensorSharding("mesh", tuple(DimensionSharding(tuple(each)) for each in dims))
    local = spec.with_shape(sharding.local_shape(spec.shape, mesh))
    return Port("value", spec, sharding if choices.random() < 0.9 else None, local, mesh)


def resized(port):
    return port if port.sharding else Port("value", port.spec, None, port.spec, port.mesh)


@pytest.mark.parametrize("seed", spread(range(20), 2))
def test_random_layouts(seed):
    choices = random.Random(seed)
    for _ in range(25):
        shape = tuple(choices.randint(1, 9) for _ in range(choices.randint(1, 3)))
        spec = TensorSpec(shape, "f32")
        source, target = (resized(layout(choices, spec)) for _ in range(2))
        array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        value = write(read(placed(array, source), plan_of(source, target)), target)
        np.testing.assert_array_equal(value.gather(), array)
        boxes = parts_of(shape, target.sharding, target.mesh)
        messages = plan_of(source, target)
        for device, box in enumerate(boxes):
            counts = np.zeros(shape, int)
            for each in messages:
                if each.target == device:
                    counts[tuple(slice(*ends) for ends in each.box)] += 1
            assert counts.sum() == counts[tuple(slice(*ends) for ends in box)].size
            assert counts.max(initial=0) <= 1
        equal = plan_of(source, source)
        filled = [
            number
            for number, box in enumerate(parts_of(shape, source.sharding, source.mesh))
            if all(start < stop for start, stop in box)
        ]
        assert [(each.source, each.target) for each in equal] == [(one, one) for one in filled]
