# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions of JAX, with shardings of their arguments and of values inside."""

import random

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
from jax import numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, TensorSharding

MESHES = (
    Mesh.of({"a": 2, "b": 4}),
    Mesh.of({"a": 8}),
    Mesh.of({"a": 2, "b": 2, "c": 2}),
    Mesh.of({"a": 3, "b": 2}),
    Mesh.of({"one": 1, "a": 4}),
)
SIZES = (4, 5, 6, 8, 12)


class RandomFunction:
    """A function of a dictionary and an array, and what it takes to trace it.

    Attributes:
        mesh: the mesh that shardings are on.
        arguments: arrays of whole numbers, so that the order of sums matters little.
        in_shardings: one for each leaf of the arguments, ours or JAX's.
    """

    def __init__(self, seed):
        self._draw = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self.mesh = self._draw.choice(MESHES)
        rows, inner, columns = (self._draw.choice(SIZES) for _ in range(3))
        self.arguments = (
            {"w": self._array(inner, columns), "bias": self._array(columns)},
            self._array(rows, inner),
        )
        self.in_shardings = jax.tree.map(self._sharding, self.arguments)
        self._steps = [self._draw.choice(STEPS) for _ in range(self._draw.randint(1, 4))]
        self._spec = self._spec_of((rows, columns))
        names = [axis.name for axis in self.mesh.axes]
        sizes = [axis.size for axis in self.mesh.axes]
        self._mesh_of_jax = jax.sharding.AbstractMesh(
            tuple(sizes), tuple(names), axis_types=(jax.sharding.AxisType.Auto,) * len(names)
        )

    def __call__(self, parameters, x, *, constrained=True):
        y = x @ parameters["w"] + parameters["bias"]
        if constrained:
            spec = NamedSharding(self._mesh_of_jax, self._spec)
            y = jax.lax.with_sharding_constraint(y, spec)
        for step in self._steps:
            y = step(y)
        return {"y": y, "sum": y.sum()}

    def _array(self, *shape):
        return jnp.asarray(self._numbers.integers(-3, 4, shape), jnp.float32)

    def _axes(self):
        """Axes in a random order, half of them only in part."""
        refs = []
        for axis in self.mesh.axes:
            pre = (
                self._draw.choice([p for p in (1, 2) if axis.size % p == 0 and axis.size > p])
                if axis.size > 1
                else 1
            )
            size = self._draw.choice([s for s in (2, 3, 4) if axis.size % (pre * s) == 0] or [1])
            is_part = 1 < size < axis.size and self._draw.random() < 0.5
            refs.append(AxisRef.sub(axis.name, pre, size) if is_part else AxisRef(axis.name))
        self._draw.shuffle(refs)
        return refs[: self._draw.randint(0, len(refs))]

    def _sharding(self, array):
        if self._draw.random() < 0.4:
            return self._spec_of(array.shape)
        axes = self._axes()
        cuts = sorted(self._draw.randint(0, len(axes)) for _ in range(array.ndim - 1))
        ends = zip([0, *cuts], [*cuts, len(axes)], strict=True)
        is_closed = self._draw.random() < 0.5
        dims = tuple(DimensionSharding(tuple(axes[i:j]), is_closed) for i, j in ends)
        return TensorSharding("mesh", dims)

    def _spec_of(self, shape):
        """A specification of JAX's, which takes axes only that divide a dimension."""
        names = [axis.name for axis in self.mesh.axes]
        self._draw.shuffle(names)
        entries = []
        for size in shape:
            name = names.pop() if names and self._draw.random() < 0.6 else None
            fits = name is not None and size % self.mesh.axis_size(name) == 0
            entries.append(name if fits else None)
        return PartitionSpec(*entries)


def _in_loop(y):
    return jax.lax.fori_loop(0, 3, lambda i, value: jnp.roll(value, i, axis=0) + 1, y)


def _scanned(y):
    return jax.lax.scan(lambda carry, row: (carry + row, carry * 2), y[0], y)[1]


STEPS = (
    jnp.tanh,
    lambda y: y.T,
    lambda y: y - y.max(axis=1, keepdims=True),
    lambda y: jnp.concatenate([y, y[::-1]], axis=0),
    lambda y: jnp.cumsum(y, axis=0),
    lambda y: jnp.pad(y, ((1, 2), (0, 1)), constant_values=3),
    lambda y: jnp.roll(y, 1, axis=1),
    lambda y: y[1:, :-1],
    lambda y: y.reshape(-1, 1) * jnp.arange(3.0),
    lambda y: jnp.where(y > 0, y, jnp.sort(y, axis=0)),
    lambda y: jax.lax.cond(y.sum() > 0, jnp.abs, jnp.negative, y),
    lambda y: y @ y.T,
    lambda y: jnp.take(y, jnp.array([0, 2, 1]), axis=0),
    _in_loop,
    _scanned,
)
